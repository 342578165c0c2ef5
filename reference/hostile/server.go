package hostile

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference"
)

// Server is a hostile target on loopback.
type Server struct {
	Config map[string]any // the configuration file of a test run

	end       context.CancelFunc
	front     sync.WaitGroup
	reference *reference.Server
}

// Start serves a mode until Close is called.
func Start(ctx context.Context, m Mode) (*Server, error) {
	takes := fronts()[m.Front]
	if m.Stops > 0 {
		takes = stopping(m.Stops)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	scheme := "http://"
	if m.TLS {
		scheme = "https://"
	}
	var handler http.Handler
	s := &Server{}
	s.reference, err = reference.Start(ctx, reference.Options{
		PublicURL: scheme + l.Addr().String(),
		WrapHTTP: []func(http.Handler) http.Handler{func(next http.Handler) http.Handler {
			handler = m.around(next)
			return next
		}},
	})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s.Config = configured(s.reference)
	maps.Copy(s.Config, m.Config)
	ctx, s.end = context.WithCancel(ctx)
	s.front.Go(func() { takes(ctx, l, handler) })
	return s, nil
}

// Close stops the server and closes its connections.
func (s *Server) Close() error {
	s.end()
	s.front.Wait()
	return s.reference.Close()
}

// configured returns the configuration of a test run against the reference.
func configured(r *reference.Server) map[string]any {
	const refused = "Invalid credentials"
	set := r.Fixtures()
	type keys = map[string]any
	var users []any
	for i, u := range set.Users {
		users = append(users, keys{"name": u.Name, "token": u.Token, "identity": u.Identity, "fields": u.CustomFields(),
			"same_identity": i > 0 && u.Identity == set.Users[0].Identity})
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
		"agent": keys{"studio_headers": set.StudioHeaders, "blocked_token": set.BlockedToken,
			"rejected_status": keys{"missing": 401, "invalid": 401, "blocked": 403},
			"rejected_detail": keys{"missing": refused, "invalid": refused, "blocked": "This account is blocked"}},
		"users":    users,
		"timeouts": keys{"request": "2s", "poll": "5s", "run": "3s"},
	}
}
