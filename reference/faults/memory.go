package faults

import (
	"maps"
	"net/http"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference"
)

// memory is what a layer knows of the deployments that it has seen. It begins empty with every server.
type memory struct {
	mu      sync.Mutex
	owners  map[string]http.Header // by deployment: the credentials that created it, or first opened it
	creator http.Header            // the credentials of the first creation
	marks   map[string]any         // by a key of the layer's own
	counts  map[string]int
}

// remembering makes a layer that has a memory.
func remembering(middleware func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		m := &memory{owners: map[string]http.Header{}, marks: map[string]any{}, counts: map[string]int{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) { middleware(m, w, r, m.watching(next)) })
	})
}

// fresh makes a layer anew for each server, where it holds something.
func fresh(made func() Layer) Layer {
	return func(o *reference.Options) { made()(o) }
}

// watching learns from the answers who owns which deployment.
func (m *memory) watching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !createDeployment.is(r) && !isDeployment(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status < 300 {
			m.learn(r, a)
		}
		a.send(w)
	})
}

func (m *memory) learn(r *http.Request, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := deploymentOf(r)
	if createDeployment.is(r) {
		id = text(a.object(), "id")
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

// asOwner gives a request the credentials of the deployment's owner. A creation gets those of whoever created first.
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

// creatorsKey returns the API key of whoever created first, "" where nobody did.
func (m *memory) creatorsKey() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.creator.Get("X-Api-Key")
}

// known says that a deployment was seen.
func (m *memory) known(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owners[id] != nil
}

// mark remembers a value, marked returns it, nil when there is none.
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

// count says how often it was called with the key, this call included.
func (m *memory) count(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key]++
	return m.counts[key]
}

// The kinds of callers without valid credentials.

func anonymous(r *http.Request) bool { return len(credentialsOf(r)) == 0 }

func withEmptyKey(r *http.Request) bool {
	values, sent := r.Header["X-Api-Key"]
	return sent && values[0] == ""
}

// withUnknownKey is meant for requests that were refused: a key that is none opens nothing.
func withUnknownKey(r *http.Request) bool { return strings.TrimSpace(r.Header.Get("X-Api-Key")) != "" }

// withScheme says that the request carries the header and no other credential.
func withScheme(name string) func(r *http.Request) bool {
	return func(r *http.Request) bool { return len(credentialsOf(r)) == 1 && r.Header.Get(name) != "" }
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

// withPath returns the request with another path, so that a layer can ask for one thing in place of another.
func withPath(r *http.Request, path string) *http.Request {
	other := r.Clone(r.Context())
	other.URL.Path, other.URL.RawPath = path, ""
	return other
}

// captureBeside has the reference do a changed request beside the one that the client sent.
func captureBeside(next http.Handler, r *http.Request, change func(*http.Request)) *answer {
	other := r.Clone(r.Context())
	setBody(other, readBody(r))
	change(other)
	return capture(next, other)
}

// look reads something from the reference on behalf of the caller.
func look(next http.Handler, r *http.Request, path, query string) map[string]any {
	other := withPath(r, path)
	other.Method, other.URL.RawQuery, other.Body, other.ContentLength = http.MethodGet, query, http.NoBody, 0
	return capture(next, other).object()
}

// lookAtDeployment reads the deployment that the request is about.
func lookAtDeployment(next http.Handler, r *http.Request) map[string]any {
	return look(next, r, "/v2/deployments/"+deploymentOf(r), "")
}

// onlyOne says that the deployment which the request is about has one revision.
func onlyOne(next http.Handler, r *http.Request) bool {
	list := look(next, r, "/v2/deployments/"+deploymentOf(r)+"/revisions", "limit=2")
	return len(items(list["resources"])) == 1
}
