package hostile

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference"
)

// Server is a hostile target on loopback.
type Server struct {
	Config map[string]any // of a run against it, by the keys of the configuration file

	listener  *tracked
	front     sync.WaitGroup
	reference *reference.Server
}

// Start serves a mode until Close.
func Start(ctx context.Context, m Mode) (*Server, error) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: track(plain)}
	scheme := "http://"
	if m.TLS {
		scheme = "https://"
	}
	var handler http.Handler
	s.reference, err = reference.Start(ctx, reference.Options{
		PublicURL: scheme + plain.Addr().String(),
		WrapHTTP: func(next http.Handler) http.Handler {
			handler = next
			if m.Layer != nil {
				handler = m.Layer(next)
			}
			return handler
		},
	})
	if err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	s.Config = configured(s.reference)
	if m.Config != nil {
		m.Config(s.Config)
	}
	front := m.Front
	if front == nil {
		front = plainHTTP
	}
	s.front.Go(func() { front(s.listener, handler) })
	return s, nil
}

// Close ends the server with all its connections.
func (s *Server) Close() error {
	err := s.listener.Close()
	s.front.Wait()
	return errors.Join(err, s.reference.Close())
}

// plainHTTP serves HTTP/1.1.
func plainHTTP(l net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	_ = server.Serve(l) // ends when the listener is closed
}

// tracked is a listener that closes its connections when it is closed.
type tracked struct {
	net.Listener

	done context.Context // ends with Close
	end  context.CancelFunc

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

func track(l net.Listener) *tracked {
	t := &tracked{Listener: l, open: map[net.Conn]bool{}}
	t.done, t.end = context.WithCancel(context.Background())
	return t
}

// Accept waits for the next connection.
func (t *tracked) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	t.open[c] = true
	return &trackedConn{Conn: c, of: t}, nil
}

// Close closes the listener and what it has accepted.
func (t *tracked) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.end()
	for c := range t.open {
		_ = c.Close()
	}
	if err := t.Listener.Close(); !errors.Is(err, net.ErrClosed) { // a front may have closed it
		return err
	}
	return nil
}

type trackedConn struct {
	net.Conn
	of *tracked
}

// Close closes the connection, and forgets it.
func (c *trackedConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// configured are the keys of the configuration with which a run judges the reference.
func configured(r *reference.Server) map[string]any {
	set := r.Fixtures()
	type keys = map[string]any
	var users []any
	for _, u := range set.Users {
		users = append(users, keys{"name": u.Name, "token": u.Token, "identity": u.Identity, "fields": u.CustomFields()})
	}
	return keys{
		"target":               r.ControlPlaneURL(),
		"credentials":          keys{"api_key": set.Owner.APIKey, "tenant_id": set.Owner.TenantID, "bearer": set.Owner.Bearer},
		"other_tenant":         keys{"api_key": set.OtherTenant.APIKey, "tenant_id": set.OtherTenant.TenantID, "bearer": set.OtherTenant.Bearer},
		"tenant_id_alone":      true,
		"separate_credentials": true,
		"edition":              string(set.Edition),
		"create":               keys{"body": set.Create, "refused": set.RefusedCreate},
		"alternatives": keys{"repo_ref": set.SecondRef, "tag_ref": set.TagRef, "graph_config_path": set.AlternativeGraphConfigPath,
			"broken_ref": set.BrokenRef, "commits": set.CommitIDs},
		"assistant_id": set.AssistantID,
		"agent":        keys{"studio_headers": set.StudioHeaders, "rejected_detail": "Invalid credentials"},
		"users":        users,
		"timeouts":     keys{"request": "2s", "poll": "5s", "run": "3s"},
	}
}
