package faults

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

// memory records the deployments that a layer has seen. It is empty when a server starts.
type memory struct {
	mu      sync.Mutex
	owners  map[string]http.Header // by deployment: the credentials that created it, or first accessed it
	creator http.Header            // the credentials of the first creation
	marks   map[string]any         // by a key that the layer chooses
	counts  map[string]int
}

// remembering returns a layer with a memory.
func remembering(middleware func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		m := &memory{owners: map[string]http.Header{}, marks: map[string]any{}, counts: map[string]int{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) { middleware(m, w, r, m.watching(next)) })
	})
}

// fresh returns a layer that is created for each server: for layers with state.
func fresh(made func() Layer) Layer {
	return func(o *reference.Options) { made()(o) }
}

// watching records who owns which deployment.
func (m *memory) watching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !createDeployment.is(r) && !isDeployment(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if a.Status < 300 {
			m.learn(r, a)
		}
		a.Send(w)
	})
}

func (m *memory) learn(r *http.Request, a *deviate.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := deploymentOf(r)
	if createDeployment.is(r) {
		id = text(a.Object(), "id")
		if m.creator == nil {
			m.creator = credentialsOf(r)
		}
	}
	if m.owners[id] == nil {
		m.owners[id] = credentialsOf(r)
	}
}

// credentialHeaders carry the three schemes (interface, section 5).
var credentialHeaders = []string{"X-Api-Key", "X-Tenant-Id", "Authorization"}

func credentialsOf(r *http.Request) http.Header {
	h := http.Header{}
	for _, name := range credentialHeaders {
		if values, sent := r.Header[name]; sent {
			h[name] = values
		}
	}
	return h
}

// asOwner gives a request the credentials of the deployment's owner, or of the first creation if it is a creation.
func (m *memory) asOwner(r *http.Request) {
	m.mu.Lock()
	owner := m.owners[deploymentOf(r)]
	if createDeployment.is(r) {
		owner = m.creator
	}
	m.mu.Unlock()
	if owner == nil {
		return
	}
	for _, name := range credentialHeaders {
		delete(r.Header, name)
	}
	maps.Copy(r.Header, owner)
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

// Kinds of callers without valid credentials.

func anonymous(r *http.Request) bool { return len(credentialsOf(r)) == 0 }

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
