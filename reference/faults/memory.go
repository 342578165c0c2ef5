package faults

import (
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference"
)

// memory is what a layer keeps of one server.
type memory struct {
	mu    sync.Mutex
	marks map[string]any // by a key that the layer chooses
}

// remembering returns a layer with a memory.
func remembering(middleware func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		m := &memory{marks: map[string]any{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) { middleware(m, w, r, next) })
	})
}

// fresh returns a layer that is created for each server: for layers with state.
func fresh(made func() Layer) Layer {
	return func(o *reference.Options) { made()(o) }
}

// mark stores a value, marked returns it, nil if there is none.
func (m *memory) mark(key string, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks[key] = value
}

func (m *memory) marked(key string) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.marks[key]
}

// withPath returns the request with another path.
func withPath(r *http.Request, path string) *http.Request {
	other := r.Clone(r.Context())
	other.URL.Path, other.URL.RawPath = path, ""
	return other
}
