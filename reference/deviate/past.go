package deviate

import (
	"reflect"
	"sync"
)

// past holds the values that a place had, by owner. It is for concurrent use.
type past struct {
	mu     sync.Mutex
	values map[string][]any // of each owner, the last two that differ
	order  []string         // owners, as they came
	late   map[string]int   // how many answers have shown the old value since it changed
	calls  int
}

// recalls are the verbs that show a value of before, or of somebody else.
var recalls = map[string]func(p *past, s slot){
	"stale": func(p *past, s slot) {
		if before, changed := p.saw(s.owner, s.value()); changed {
			s.set(copied(before))
		}
	},
	"late": func(p *past, s slot) {
		if before, changed := p.saw(s.owner, s.value()); changed && p.once(s.owner) {
			s.set(copied(before))
		}
	},
	"foreign": func(p *past, s slot) {
		p.saw(s.owner, s.value())
		if other, found := p.ofAnother(s.owner, s.value()); found {
			s.set(copied(other))
		}
	},
	"sometimes": func(p *past, s slot) {
		p.mu.Lock()
		p.calls++
		due := p.calls%4 == 0
		p.mu.Unlock()
		if due {
			s.set(another(s.value()))
		}
	},
}

// saw enters a value. It returns the one before it, and whether there is one.
func (p *past) saw(owner string, value any) (before any, changed bool) {
	value = copied(value)
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.values[owner]
	if len(known) == 0 {
		p.order = append(p.order, owner)
	}
	if len(known) == 0 || !reflect.DeepEqual(known[len(known)-1], value) {
		known = append(known, value)
		p.late[owner] = 0
	}
	known = known[max(0, len(known)-2):]
	p.values[owner] = known
	if len(known) < 2 {
		return nil, false
	}
	return known[0], true
}

// once tells whether the owner's value is shown for the first time since it changed.
func (p *past) once(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late[owner]++
	return p.late[owner] == 1
}

// ofAnother returns the newest value of somebody else which differs.
func (p *past) ofAnother(owner string, value any) (other any, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.order) - 1; i >= 0; i-- {
		if p.order[i] == owner {
			continue
		}
		known := p.values[p.order[i]]
		if last := known[len(known)-1]; !reflect.DeepEqual(last, value) {
			return last, true
		}
	}
	return nil, false
}
