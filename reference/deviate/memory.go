package deviate

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/spec"
)

// memory is what a row knows of one server. It is for concurrent use.
type memory struct {
	mu     sync.Mutex
	first  map[spec.Side]http.Header // the credentials of the first creation
	owners map[string]http.Header    // by object: the credentials that created it, or had access to it first
	done   map[string]time.Time      // last, by operation and object
	ids    map[string]bool           // that were in a path, or made
	homes  map[string]string         // threads by run, deployments by revision
	counts map[string]int
	kept   map[string]map[string]any // by object; "" is for all
	past   map[string]*past          // by change, of stateful verbs
	served map[string][]string       // ids, by operation, parameter, path before it and credentials
}

func newMemory() *memory {
	return &memory{
		first: map[spec.Side]http.Header{}, owners: map[string]http.Header{}, done: map[string]time.Time{},
		ids: map[string]bool{}, homes: map[string]string{}, counts: map[string]int{},
		kept: map[string]map[string]any{}, past: map[string]*past{}, served: map[string][]string{},
	}
}

// learn enters an exchange that succeeded.
func (m *memory) learn(x *exchange) {
	who, object := credentialsOf(x.r), x.object()
	body, _ := decoded(x.answer.Body)
	made, _ := body.(map[string]any)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners[object] == nil {
		m.owners[object] = who
	}
	owns := object != x.prefix() || x.op.ID == "list-deployments" // who lists them is who creates them, and does so before
	if owns && len(x.ids()) == 0 && m.first[x.op.Side] == nil {
		m.first[x.op.Side] = who
	}
	m.done[x.op.ID+" "+object] = time.Now()
	if x.op.ID == "get-revision" {
		m.homes[x.ids()["revision_id"]] = x.ids()["deployment_id"]
	}
	if x.r.Method == http.MethodPost {
		m.ids[textOf(made["id"])+textOf(made["thread_id"])] = true
		if x.op.ID == "create-run" {
			m.homes[textOf(made["run_id"])] = x.ids()["thread_id"]
		}
	}
	for name, id := range x.ids() {
		m.ids[id] = true
		key := x.requestOf(name)
		if !slices.Contains(m.served[key], id) {
			m.served[key] = append(m.served[key], id)
		}
	}
}

// otherID is the id in another request of the operation that succeeded, with the same credentials and path before it.
func (m *memory) otherID(x *exchange, parameter string) string {
	key, id := x.requestOf(parameter), x.ids()[parameter]
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range slices.Backward(m.served[key]) {
		if other != id {
			return other
		}
	}
	return ""
}

// known tells whether a request with the id has succeeded.
func (m *memory) known(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ids[id]
}

// homeOf is the thread in which a run was created, or the deployment of a revision that was retrieved; else "".
func (m *memory) homeOf(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.homes[id]
}

func (m *memory) firstOf(side spec.Side) http.Header {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first[side]
}

// owner is who owns the object of an exchange, or made the first one where it names none.
func (m *memory) owner(x *exchange) http.Header {
	object := x.target()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(x.ids()) == 0 {
		return m.first[x.op.Side]
	}
	return m.owners[object]
}

// ownerOf is who owns an object.
func (m *memory) ownerOf(object string) http.Header {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owners[object]
}

// doneAt is when an operation of the object, or of the deployment whose agent server it is, has succeeded last.
func (m *memory) doneAt(x *exchange, operation string) time.Time {
	object := x.object()
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, done := m.done[operation+" "+object]; done {
		return at
	}
	return m.done[operation+" "+strings.TrimPrefix(x.prefix(), "/agents/")]
}

func (m *memory) count(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key]++
	return m.counts[key]
}

func (m *memory) keptFor(object string) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, _ := copied(m.kept[object]).(map[string]any)
	if all == nil {
		return map[string]any{}
	}
	return all
}

// keep enters a value, where there is none or it may be replaced.
func (m *memory) keep(object, name string, value any, replace bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept[object] == nil {
		m.kept[object] = map[string]any{}
	}
	if _, has := m.kept[object][name]; !has || replace {
		m.kept[object][name] = value
	}
}

// pastOf returns what a change has seen.
func (m *memory) pastOf(key string) *past {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.past[key] == nil {
		m.past[key] = &past{values: map[string][]any{}, late: map[string]int{}}
	}
	return m.past[key]
}
