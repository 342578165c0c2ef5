package reference

import (
	"context"
	"net/http"
	"sync"
)

// gate counts the requests that are being answered, so that what they stand on is not closed under them.
type gate struct {
	inner http.Handler

	mu     sync.Mutex
	open   int
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

func newGate(inner http.Handler) *gate { return &gate{inner: inner, empty: make(chan struct{})} }

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.enter() {
		w.Header().Set("Connection", "close")
		writeDetail(w, http.StatusServiceUnavailable, "The server is shutting down.")
		return
	}
	defer g.leave()
	g.inner.ServeHTTP(w, r)
}

func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.open++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	g.settle()
}

func (g *gate) settle() {
	if g.closed && g.open == 0 {
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
