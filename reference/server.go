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

// Server is a running reference.
type Server struct {
	opts     Options
	url      string
	set      fixtures.Set
	sources  controlplane.Sources
	closers  []func() error // in the order of opening
	once     sync.Once
	closeErr error
}

// ControlPlaneURL returns the address of the control plane.
func (s *Server) ControlPlaneURL() string { return s.url }

// AgentURL returns the address of the built-in agent server, which runs the conformance graph.
func (s *Server) AgentURL() string { return s.agentURL(builtinAgent) }

// agentURL returns the address of the agent server of a deployment.
func (s *Server) agentURL(id string) string { return s.url + agentsPath + id }

// Fixtures returns the sources and credentials for a test run against the reference.
func (s *Server) Fixtures() fixtures.Set { return s.set }

// Close stops the server and all work in progress. If there is a data folder, the next Start continues the work. Close may be
// called more than once.
func (s *Server) Close() error {
	s.once.Do(func() {
		for _, closer := range slices.Backward(s.closers) {
			s.closeErr = errors.Join(s.closeErr, closer())
		}
	})
	return s.closeErr
}

// atClose adds a function that Close calls. The functions are called in reverse order.
func (s *Server) atClose(closer func() error) { s.closers = append(s.closers, closer) }

// Start starts a reference and serves it until Close is called. ctx limits only the start. When Start returns, the agent
// servers of the data folder are in service again.
func Start(ctx context.Context, opts Options) (*Server, error) {
	opts.setDefaults()
	s := &Server{opts: opts}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the reference: %w", err), s.Close())
	}
	return s, nil
}

// start opens all parts and serves them.
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
	secrets, err := s.prepareFixtures(folder)
	if err != nil {
		return err
	}
	listener, err := s.opts.listen(s.opts.Listen)
	if err != nil {
		return err
	}
	s.atClose(func() error {
		_ = listener.Close() // an error means that the HTTP server has already closed it
		return nil
	})
	s.url = cmp.Or(strings.TrimSuffix(s.opts.PublicURL, "/"), "http://"+reachable(listener.Addr()))
	handler, err := s.connect(ctx, db, secrets)
	if err != nil {
		return err
	}
	s.serve(listener, handler)
	return nil
}

// openFolder creates the data folder if needed, and returns its path.
func (s *Server) openFolder() (string, error) {
	if s.opts.DataDir == "" {
		folder, err := os.MkdirTemp(s.opts.TempDir, "agentconform-")
		if err != nil {
			return "", fmt.Errorf("creating a temporary data folder: %w", err)
		}
		s.atClose(func() error { return os.RemoveAll(folder) })
		return folder, nil
	}
	folder, err := filepath.Abs(s.opts.DataDir)
	if err != nil {
		return "", fmt.Errorf("creating the data folder: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("creating the data folder: %w", err)
	}
	return folder, nil
}

// prepareFixtures serves the repository and the images, and loads or creates the credentials.
func (s *Server) prepareFixtures(folder string) (fixtures.Secrets, error) {
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

// serveMaterial serves the fixtures. It uses the previous address if possible, because stored revisions contain it.
func (s *Server) serveMaterial(m *fixtures.Material, previous string) (*fixtures.Host, error) {
	if previous != "" {
		if listener, err := s.opts.listen(previous); err == nil {
			return m.ServeAt(listener, ""), nil
		}
	}
	listener, err := s.opts.listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serving the fixtures: %w", err)
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
	s.atClose(func() error {
		fetcher.Close()
		return nil
	})
	return nil
}

// closeTimeout is the time that Close waits for each kind of work in progress.
const closeTimeout = 5 * time.Second

// agentsPath is the path of all agent servers. The ID of the deployment follows it.
const agentsPath = "/agents/"

// builtinAgent replaces the ID of a deployment in the path of the built-in agent server.
const builtinAgent = "conformance"

// connect creates the control plane and the agent servers, and returns the handler of both.
func (s *Server) connect(ctx context.Context, db *store.Store, secrets fixtures.Secrets) (http.Handler, error) {
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
	s.atClose(func() error {
		controlPlane.Close()
		return nil
	})
	if err := s.deployBuiltin(ctx, servers, tenants[0].Name, secrets); err != nil {
		return nil, fmt.Errorf("starting the built-in agent server: %w", err)
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

// conformanceMaterial builds the material of the fixtures once, because this is slow and the result never changes.
var conformanceMaterial = sync.OnceValues(func() (*fixtures.Material, error) {
	return fixtures.Build(graphs.FS, fixtures.GraphConfigPath)
})

// deployBuiltin starts the built-in agent server, with the changes of its graph.
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

// serve serves requests until Close is called. Close cancels the context of requests in progress and waits for them, before
// it closes the other parts.
func (s *Server) serve(listener net.Listener, handler http.Handler) {
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog:    slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = server.Serve(listener) }) // always returns an error, after Close
	s.atClose(func() error {
		cancel()
		// Shutdown also waits for connections without a request, until they are 5 s old.
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

// reachable returns the address of a listener for clients on this machine.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	ip := net.ParseIP(host)
	if ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr.String()
}
