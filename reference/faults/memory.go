package faults

import (
	"net/http"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// memory is what a layer keeps of one server.
type memory struct {
	mu     sync.Mutex
	marks  map[string]any // by a key that the layer chooses
	counts map[string]int
}

// remembering returns a layer with a memory.
func remembering(middleware func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		m := &memory{marks: map[string]any{}, counts: map[string]int{}}
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

// count returns how often it was called with the key, this call included.
func (m *memory) count(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key]++
	return m.counts[key]
}

// Parts of the control plane's paths: /v2/deployments/{deployment}/revisions/{revision}.

func isDeployment(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/deployments/") }

func deploymentOf(r *http.Request) string { return segment(r, 3) }

func revisionOf(r *http.Request) string { return segment(r, 5) }

func segment(r *http.Request, n int) string {
	if parts := strings.Split(r.URL.Path, "/"); n < len(parts) {
		return parts[n]
	}
	return ""
}

// withPath returns the request with another path.
func withPath(r *http.Request, path string) *http.Request {
	other := r.Clone(r.Context())
	other.URL.Path, other.URL.RawPath = path, ""
	return other
}

// look reads a resource from the reference on behalf of the caller.
func look(next http.Handler, r *http.Request, path, query string) map[string]any {
	other := withPath(r, path)
	other.Method, other.URL.RawQuery, other.Body, other.ContentLength = http.MethodGet, query, http.NoBody, 0
	return deviate.Capture(next, other).Object()
}

// lookAtDeployment reads the deployment of the request.
func lookAtDeployment(next http.Handler, r *http.Request) map[string]any {
	return look(next, r, "/v2/deployments/"+deploymentOf(r), "")
}
