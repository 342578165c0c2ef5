package reference

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// agentsPath is the path under which agent servers are served, each below its deployment's id.
const agentsPath = "/agents/"

// router sends requests to the agent server that their path names, and all others to the control plane.
func router(controlPlane http.Handler, agents controlplane.Runtime) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, isAgent := strings.CutPrefix(r.URL.Path, agentsPath)
		if !isAgent {
			controlPlane.ServeHTTP(w, r)
			return
		}
		id, _, _ := strings.Cut(rest, "/")
		agent := agents.Handler(id)
		if agent == nil {
			writeDetail(w, http.StatusNotFound, "No agent server is in service at this address.")
			return
		}
		http.StripPrefix(agentsPath+id, agent).ServeHTTP(w, r)
	})
}

// recovered answers a request whose handler panicked, so that one bad request is not the end of the others.
func recovered(inner http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				log.Error("panic", "method", r.Method, "path", r.URL.Path, "cause", cause, "stack", string(debug.Stack()))
				writeDetail(w, http.StatusInternalServerError, "Internal Server Error")
			}
		}()
		inner.ServeHTTP(w, r)
	})
}

func writeDetail(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": detail}) // the client may be gone
}

// gate counts the connections on which a request is being answered, so that what the answers use is not closed
// under them, nor the connections before the answers have left.
type gate struct {
	inner http.Handler

	mu     sync.Mutex
	busy   map[net.Conn]bool
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

func newGate(inner http.Handler) *gate {
	return &gate{inner: inner, busy: map[net.Conn]bool{}, empty: make(chan struct{})}
}

type connection struct{}

// watch lets the gate see the connections of a server: that a handler has returned does not tell that its answer has
// been sent.
func (g *gate) watch(server *http.Server) {
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connection{}, c)
	}
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateIdle || state == http.StateClosed {
			g.leave(c)
		}
	}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(connection{}).(net.Conn)
	if !g.enter(c) {
		w.Header().Set("Connection", "close")
		writeDetail(w, http.StatusServiceUnavailable, "The server is shutting down.")
		return
	}
	g.inner.ServeHTTP(w, r)
}

func (g *gate) enter(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.busy[c] = true
	return true
}

func (g *gate) leave(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy[c] {
		delete(g.busy, c)
		g.settle()
	}
}

func (g *gate) settle() {
	if g.closed && len(g.busy) == 0 {
		close(g.empty)
	}
}

// close refuses new connections, and waits for the open ones, for as long as ctx allows.
func (g *gate) close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.settle()
	g.mu.Unlock()
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
