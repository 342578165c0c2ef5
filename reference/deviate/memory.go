package deviate

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/spec"
)

// memory contains what a row has learned about one server. It is safe for concurrent use.
type memory struct {
	mu     sync.Mutex
	first  map[spec.Side]http.Header // the credentials of the first creation
	owners map[string]http.Header    // the credentials of the first successful request, by object
	done   map[string]time.Time      // the time of the last success, by operation and object
	ids    map[string]bool           // all IDs in paths and of created objects
	homes  map[string]string         // threads by run, deployments by revision
	counts map[string]int            // by condition and object
	kept   map[string]map[string]any // values that the row stores, by object; "" stands for all objects
	past   map[string]*past          // earlier values, by change
}

func newMemory() *memory {
	return &memory{
		first: map[spec.Side]http.Header{}, owners: map[string]http.Header{}, done: map[string]time.Time{},
		ids: map[string]bool{}, homes: map[string]string{}, counts: map[string]int{},
		kept: map[string]map[string]any{}, past: map[string]*past{},
	}
}

// lookup returns an entry of one of the maps of the memory.
func lookup[K comparable, V any](m *memory, part map[K]V, key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return part[key]
}

// learn records a successful exchange.
func (m *memory) learn(x *exchange) {
	who, object := credentialsOf(x.r), x.object()
	var made map[string]any
	if x.r.Method == http.MethodPost {
		body, _ := decoded(x.response.Body)
		made, _ = body.(map[string]any)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners[object] == nil {
		m.owners[object] = who
	}
	// The suite lists deployments before it creates the first, with the same credentials.
	owns := object != x.basePath() || x.op.ID == "list-deployments"
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
	for _, id := range x.ids() {
		m.ids[id] = true
	}
}

// owner returns the credentials of the owner of the object, or those of the first creation if the path contains no
// object.
func (m *memory) owner(x *exchange) http.Header {
	if len(x.ids()) == 0 {
		return lookup(m, m.first, x.op.Side)
	}
	return lookup(m, m.owners, x.target())
}

// lastSuccess returns the time of the last success of an operation with the object, or with the deployment of the agent
// server. It is zero if there was none.
func (m *memory) lastSuccess(x *exchange, operation string) time.Time {
	if at := lookup(m, m.done, operation+" "+x.object()); !at.IsZero() {
		return at
	}
	return lookup(m, m.done, operation+" "+strings.TrimPrefix(x.basePath(), "/agents/"))
}

// count increments a counter and returns it.
func (m *memory) count(key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[key]++
	return m.counts[key]
}

// keptFor returns a copy of the values that the row has stored for an object.
func (m *memory) keptFor(object string) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, _ := copied(m.kept[object]).(map[string]any)
	if all == nil {
		return map[string]any{}
	}
	return all
}

// keep stores a value for an object. If replace is false, an existing value remains.
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

// past contains the values that a place had, by owner. An owner is an object, or a value if the place is in a request.
type past struct {
	values map[string][]any // the last two different values of each owner
	order  []string         // owners in the order of their first value
	late   map[string]int   // the number of responses with the old value since the last change
}

// recalls contains the verbs that show an earlier value, or that of another owner.
var recalls = map[string]func(p *past, owner string, value any) (other any, found bool){
	"stale": (*past).previous,
	"late": func(p *past, owner string, value any) (any, bool) {
		previous, changed := p.previous(owner, value)
		if changed {
			p.late[owner]++
		}
		return previous, changed && p.late[owner] == 1
	},
	"foreign": (*past).another,
}

// recall records the current value of a place. It returns the value that the verb shows instead, if there is one.
func (m *memory) recall(verb, key, owner string, value any) (other any, found bool) {
	value = copied(value)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.past[key]
	if p == nil {
		p = &past{values: map[string][]any{}, late: map[string]int{}}
		m.past[key] = p
	}
	known := p.values[owner]
	if len(known) == 0 {
		p.order = append(p.order, owner)
	}
	if len(known) == 0 || !reflect.DeepEqual(known[len(known)-1], value) {
		known = append(known, value)
		p.late[owner] = 0
	}
	p.values[owner] = known[max(0, len(known)-2):]
	other, found = recalls[verb](p, owner, value)
	return copied(other), found
}

// previous returns the owner's value before the last one.
func (p *past) previous(owner string, _ any) (other any, found bool) {
	known := p.values[owner]
	return known[0], len(known) == 2
}

// another returns the last value of another owner, if it is different. It prefers the most recent owner.
func (p *past) another(owner string, value any) (other any, found bool) {
	for _, name := range slices.Backward(p.order) {
		known := p.values[name]
		if last := known[len(known)-1]; name != owner && !reflect.DeepEqual(last, value) {
			return last, true
		}
	}
	return nil, false
}
