package reference

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// gate counts the connections on which a request is being answered, so that what the answers stand on is not closed
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

// close lets nobody in any more, and waits for those inside, for as long as ctx allows.
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
