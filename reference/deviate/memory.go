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
	past   map[string]*past          // by change, of verbs that recall
}

func newMemory() *memory {
	return &memory{
		first: map[spec.Side]http.Header{}, owners: map[string]http.Header{}, done: map[string]time.Time{},
		ids: map[string]bool{}, homes: map[string]string{}, counts: map[string]int{},
		kept: map[string]map[string]any{}, past: map[string]*past{},
	}
}

// of is an entry of a part of the memory.
func of[K comparable, V any](m *memory, part map[K]V, key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return part[key]
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
	for _, id := range x.ids() {
		m.ids[id] = true
	}
}

// owner is who owns the object of an exchange, or made the first one where it names none.
func (m *memory) owner(x *exchange) http.Header {
	if len(x.ids()) == 0 {
		return of(m, m.first, x.op.Side)
	}
	return of(m, m.owners, x.target())
}

// doneAt is when an operation of the object, or of the deployment whose agent server it is, has succeeded last.
func (m *memory) doneAt(x *exchange, operation string) time.Time {
	if at := of(m, m.done, operation+" "+x.object()); !at.IsZero() {
		return at
	}
	return of(m, m.done, operation+" "+strings.TrimPrefix(x.prefix(), "/agents/"))
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

// past holds the values that a place had, by owner.
type past struct {
	values map[string][]any // of each owner, the last two that differ
	order  []string         // owners, as they came
	late   map[string]int   // how many answers have shown the old value since it changed
}

// recalls are the verbs that show a value of before, or of somebody else.
var recalls = map[string]func(p *past, owner string, value any) (other any, found bool){
	"stale": (*past).before,
	"late": func(p *past, owner string, value any) (any, bool) {
		before, changed := p.before(owner, value)
		if changed {
			p.late[owner]++
		}
		return before, changed && p.late[owner] == 1
	},
	"foreign": (*past).another,
}

// recall enters the value at a place in the past of a change. It returns what a verb shows instead, if anything.
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

// before is the owner's value before the one that was entered last.
func (p *past) before(owner string, _ any) (other any, found bool) {
	known := p.values[owner]
	return known[0], len(known) == 2
}

// another is the newest value of somebody else which differs.
func (p *past) another(owner string, value any) (other any, found bool) {
	for _, name := range slices.Backward(p.order) {
		known := p.values[name]
		if last := known[len(known)-1]; name != owner && !reflect.DeepEqual(last, value) {
			return last, true
		}
	}
	return nil, false
}
