package independent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
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
	gate   gate
	https  []*http.Server
	served atomic.Int64 // counts requests, for Options.BusyEvery

	agentBase string
	mu        sync.Mutex // guards the fields below
	agents    map[string]*agent
	byID      map[string]*deployment
	order     []*deployment
}

// gate counts the goroutines that the server owns, so that Close can wait for all of them.
type gate struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.wg.Add(1)
	}
	return !g.closed
}

func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
}

// Start listens on free loopback ports and serves until Close.
func Start(opts Options) (*Server, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("starting the independent server: %w", err)
	}
	s := &Server{opts: opts, agents: map[string]*agent{}, byID: map[string]*deployment{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	plane, err := s.listen()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	agents := plane
	if opts.Prefix == "" {
		if agents, err = s.listen(); err != nil {
			return nil, errors.Join(err, plane.Close(), s.Close())
		}
	}
	planeURL := "http://" + plane.Addr().String()
	s.agentBase = "http://" + agents.Addr().String()
	if opts.Prefix != "" {
		planeURL += opts.Prefix + "/plane"
		s.agentBase += opts.Prefix + "/agents"
	}
	s.Facts = newFacts(opts, planeURL, s.agentBase+"/standing")
	s.agents["standing"] = newAgent(s, voices[mainRef])
	if opts.Prefix == "" {
		s.serve(plane, http.HandlerFunc(s.controlPlane))
		s.serve(agents, http.HandlerFunc(s.agentServers))
	} else {
		s.serve(plane, s.oneHost())
	}
	return s, nil
}

func (s *Server) listen() (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(s.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on a free loopback port: %w", err)
	}
	return l, nil
}

func (s *Server) oneHost() http.Handler {
	mine := func(path, prefix string) bool { return strings.HasPrefix(path, prefix+"/") }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.EscapedPath(); {
		case mine(path, s.opts.Prefix+"/plane"):
			http.StripPrefix(s.opts.Prefix+"/plane", http.HandlerFunc(s.controlPlane)).ServeHTTP(w, r)
		case mine(path, s.opts.Prefix+"/agents"):
			http.StripPrefix(s.opts.Prefix+"/agents", http.HandlerFunc(s.agentServers)).ServeHTTP(w, r)
		default:
			http.NotFound(w, r)
		}
	})
}

func (s *Server) serve(l net.Listener, h http.Handler) {
	srv := &http.Server{
		Handler:           s.guarded(s.weather(h)),
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
	s.https = append(s.https, srv)
	s.spawn(func() { _ = srv.Serve(l) }) // always ends with ErrServerClosed, or with the listener, which Close ends
}

// guarded lets Close wait for the requests that are still being answered.
func (s *Server) guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.gate.enter() {
			panic(http.ErrAbortHandler)
		}
		defer s.gate.wg.Done()
		h.ServeHTTP(w, r)
	})
}

// spawn runs f in a goroutine that Close waits for.
func (s *Server) spawn(f func()) {
	if !s.gate.enter() {
		return
	}
	go func() {
		defer s.gate.wg.Done()
		f()
	}()
}

// Close ends builds, runs and joins, and returns when nothing of the server is left.
func (s *Server) Close() error {
	s.gate.close()
	s.cancel()
	var errs []error
	for _, srv := range s.https {
		errs = append(errs, srv.Close())
	}
	s.gate.wg.Wait()
	return errors.Join(errs...)
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
