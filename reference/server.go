package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
)

// Server is a reference that is being served.
type Server struct {
	opts    Options
	url     string
	set     fixtures.Set
	sources controlplane.Sources
	closers []func() error // in the order of opening
	once    sync.Once
	closed  error
}

// ControlPlaneURL is the address of the control plane.
func (s *Server) ControlPlaneURL() string { return s.url }

// AgentURL is the address of the built-in agent server, which runs the conformance graph from the start.
func (s *Server) AgentURL() string { return s.agentURL(builtinAgent) }

func (s *Server) agentURL(id string) string { return s.url + agentsPath + id }

// Fixtures returns what a harness needs to try the reference out.
func (s *Server) Fixtures() fixtures.Set { return s.set }

// Close stops serving and ends all work; with a data folder, what was in progress is taken up again by the next
// Start. It may be called more than once.
func (s *Server) Close() error {
	s.once.Do(func() {
		for _, closer := range slices.Backward(s.closers) {
			s.closed = errors.Join(s.closed, closer())
		}
	})
	return s.closed
}

func (s *Server) atClose(closer func() error) { s.closers = append(s.closers, closer) }

// Start puts a reference together and serves it until Close. ctx bounds the start only. What was in service in the
// data folder is in service again when Start returns.
func Start(ctx context.Context, opts Options) (*Server, error) {
	opts.setDefaults()
	s := &Server{opts: opts}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the reference: %w", err), s.Close())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	folder, err := s.openFolder()
	if err != nil {
		return err
	}
	db, err := store.Open(filepath.Join(folder, "reference.db"), s.opts.DataDir == "")
	if err != nil {
		return err
	}
	s.atClose(db.Close)
	db.Most = cmp.Or(s.opts.MostKept, db.Most)
	secrets, err := s.layOut(folder)
	if err != nil {
		return err
	}
	listener, err := s.opts.listen(s.opts.Listen)
	if err != nil {
		return err
	}
	s.atClose(func() error { _ = listener.Close(); return nil }) // it is closed, where it was served
	s.url = cmp.Or(strings.TrimSuffix(s.opts.PublicURL, "/"), "http://"+reachable(listener.Addr()))
	handler, err := s.assemble(ctx, db, secrets)
	if err != nil {
		return err
	}
	s.serve(listener, handler)
	return nil
}

// openFolder makes the folder that holds the data.
func (s *Server) openFolder() (string, error) {
	if s.opts.DataDir == "" {
		folder, err := os.MkdirTemp(s.opts.TempDir, "agentconform-")
		if err != nil {
			return "", fmt.Errorf("make a temporary data folder: %w", err)
		}
		s.atClose(func() error { return os.RemoveAll(folder) })
		return folder, nil
	}
	folder, err := filepath.Abs(s.opts.DataDir)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("make the data folder: %w", err)
	}
	return folder, nil
}

// layOut makes the fixtures ready: the repository and the images, which are served, and the credentials.
func (s *Server) layOut(folder string) (fixtures.Secrets, error) {
	secrets, err := fixtures.LoadSecrets(filepath.Join(folder, "fixtures.json"))
	if err != nil {
		return secrets, err
	}
	material, err := conformanceMaterial()
	if err != nil {
		return secrets, err
	}
	host, err := s.serveMaterial(material, secrets.Registry)
	if err != nil {
		return secrets, err
	}
	s.atClose(host.Close)
	if err := s.openSources(material, host.Place()); err != nil {
		return secrets, err
	}
	secrets.Registry = host.Listening()
	if s.opts.DataDir != "" {
		if err := secrets.Save(filepath.Join(folder, "fixtures.json")); err != nil {
			return secrets, err
		}
	}
	s.set = material.NewSet(controlplane.Edition(s.opts.Edition), host.Place(), secrets)
	for _, change := range s.opts.WrapFixtures {
		change(&s.set)
	}
	return secrets, nil
}

// serveMaterial serves the fixtures where they were served before, if it can: revisions name them by that address.
func (s *Server) serveMaterial(m *fixtures.Material, before string) (*fixtures.Host, error) {
	if before != "" {
		if listener, err := s.opts.listen(before); err == nil {
			return m.ServeAt(listener, ""), nil
		}
	}
	listener, err := s.opts.listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the fixtures: %w", err)
	}
	return m.ServeAt(listener, ""), nil
}

// openSources selects the sources for builds: any repository and registry that the process reaches, or only the fixtures
// if Options.Network is set.
func (s *Server) openSources(m *fixtures.Material, at fixtures.Place) error {
	if s.opts.Network != nil {
		s.sources = m.Sources(at, s.opts.BuildTime/4)
		return nil
	}
	fetcher, err := source.New()
	if err != nil {
		return err
	}
	s.sources = fetcher
	s.atClose(func() error { fetcher.Close(); return nil })
	return nil
}

// closeTimeout bounds the wait for each kind of work in progress at Close.
const closeTimeout = 5 * time.Second

// agentsPath is the path under which agent servers are served, each below its deployment's id.
const agentsPath = "/agents/"

// builtinAgent is the name under which the built-in agent server is served, instead of a deployment id.
const builtinAgent = "conformance"

// assemble makes the parts and joins them, and returns what is to be served.
func (s *Server) assemble(ctx context.Context, db *store.Store, secrets fixtures.Secrets) (http.Handler, error) {
	tenants := []controlplane.Tenant{tenant("owner", secrets.Owner), tenant("other", secrets.OtherTenant)}
	servers := &agents{
		store: db, log: s.opts.Log, tenants: tenants, configure: s.opts.WrapAgent, buildTime: s.opts.BuildTime,
		serving: map[string]*agentserver.Server{},
	}
	s.atClose(servers.close)
	controlPlane, err := controlplane.New(controlplane.Options{
		Edition: controlplane.Edition(s.opts.Edition), Tenants: tenants, Store: db, Sources: s.sources, Runtime: servers,
		AgentURL: s.agentURL, Pace: s.opts.Pace, Log: s.opts.Log,
	})
	if err != nil {
		return nil, err
	}
	s.atClose(func() error { controlPlane.Close(); return nil })
	if err := s.deployBuiltin(ctx, servers, tenants[0].Name, secrets); err != nil {
		return nil, fmt.Errorf("put the built-in agent server in service: %w", err)
	}
	if err := controlPlane.Recover(ctx); err != nil {
		return nil, err
	}
	handler := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, agentsPath) {
			servers.ServeHTTP(w, r)
			return
		}
		controlPlane.ServeHTTP(w, r)
	}))
	for _, wrap := range s.opts.WrapHTTP {
		handler = wrap(handler)
	}
	return handler, nil
}

func tenant(name string, c fixtures.Credentials) controlplane.Tenant {
	return controlplane.Tenant{Name: name, APIKey: c.APIKey, TenantID: c.TenantID, Bearer: c.Bearer}
}

// conformanceMaterial makes the fixtures' material once: it takes a while, and never changes.
var conformanceMaterial = sync.OnceValues(func() (*fixtures.Material, error) {
	return fixtures.Build(graphs.FS, fixtures.GraphConfigPath)
})

// deployBuiltin puts the built-in agent server in service. It belongs to no deployment. Its graph may be changed.
func (s *Server) deployBuiltin(ctx context.Context, servers *agents, tenant string, secrets fixtures.Secrets) error {
	files, err := graphs.Conformance(s.opts.WrapGraph...)
	if err != nil {
		return err
	}
	app, err := servers.Build(ctx, files, fixtures.GraphConfigPath)
	if err != nil {
		return err
	}
	return servers.Deploy(ctx, tenant, builtinAgent, app, secrets.Env())
}

// serve answers requests until Close. At Close the requests in progress see their context end, and are waited for:
// what they use is closed after them.
func (s *Server) serve(listener net.Listener, handler http.Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) }) // ends with Close, and always with an error
	s.atClose(func() error {
		cancel()
		// Shutdown takes a connection without a request for a request until it is 5 s old.
		limit, done := context.WithTimeout(context.Background(), closeTimeout+time.Second)
		defer done()
		err := server.Shutdown(limit)
		if err != nil {
			err = fmt.Errorf("some requests did not end within %s: %w", closeTimeout, err)
		}
		err = errors.Join(err, server.Close())
		wg.Wait()
		return err
	})
}

// reachable is the address at which a client on this machine reaches the listener.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr.String()
}
