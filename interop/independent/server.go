package independent

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is the running pair of control plane and agent servers. Close ends it.
type Server struct {
	Facts
	opts Options

	ctx    context.Context // ends with Close; every build and every run hangs on it
	cancel context.CancelFunc
	work   sync.WaitGroup // builds and runs
	https  []*httptest.Server
	served atomic.Int64 // counts requests, for Options.BusyEvery

	agentBase string
	turns     chan struct{} // bounds the builds that fetch at a time
	mu        sync.Mutex    // guards the fields below
	agents    map[string]*agent
	byID      map[string]*deployment
	order     []*deployment
}

// Start listens on free loopback ports and serves until Close.
func Start(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("starting the independent server: %w", err)
	}
	s := &Server{opts: opts, agents: map[string]*agent{}, byID: map[string]*deployment{}, turns: make(chan struct{}, mostFetches)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	plane, agents := http.HandlerFunc(s.controlPlane), http.HandlerFunc(s.agentServers)
	var planeURL string
	if opts.Prefix == "" {
		planeURL, s.agentBase = s.serve(plane), s.serve(agents)
	} else {
		host := s.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch path := r.URL.EscapedPath(); {
			case strings.HasPrefix(path, opts.Prefix+"/plane/"):
				http.StripPrefix(opts.Prefix+"/plane", plane).ServeHTTP(w, r)
			case strings.HasPrefix(path, opts.Prefix+"/agents/"):
				http.StripPrefix(opts.Prefix+"/agents", agents).ServeHTTP(w, r)
			default:
				http.NotFound(w, r)
			}
		}))
		planeURL, s.agentBase = host+opts.Prefix+"/plane", host+opts.Prefix+"/agents"
	}
	s.Facts = newFacts(opts, planeURL, s.agentBase+"/existing")
	s.agents["existing"] = newAgent(s, s.constant(voices[mainRef]))
	for _, srv := range s.https {
		srv.Start()
	}
	return s, nil
}

// serve returns the address at which the handler is going to be served.
func (s *Server) serve(h http.Handler) string {
	srv := httptest.NewUnstartedServer(s.weather(h))
	srv.Config.ReadHeaderTimeout = 10 * time.Second
	srv.Config.BaseContext = func(net.Listener) context.Context { return s.ctx }
	s.https = append(s.https, srv)
	return "http://" + srv.Listener.Addr().String()
}

// Close ends builds, runs and joins, and returns when nothing of the server is left.
func (s *Server) Close() {
	s.cancel()
	for _, srv := range s.https {
		srv.CloseClientConnections()
		srv.Close()
	}
	s.work.Wait()
}

// pause waits for d, or less when ctx ends, and tells whether the whole time has passed.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
