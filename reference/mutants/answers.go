package mutants

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
)

// change changes a member of an answer, and tells whether it did.
type change func(s slot) bool

// changes are the rules for members of answers. Each makes its state for one server.
var changes = []struct {
	name, does string
	make       func() change
}{
	{"dropped", "is not there", func() change { return slot.remove }},
	{"null", "is null", func() change {
		return func(s slot) bool {
			was := s.value()
			s.set(nil)
			return was != nil
		}
	}},
	{"another", "is another value of its type", func() change { return replace(another) }},
	{"sometimes", "is another value of its type in every fourth answer", func() change {
		var n atomic.Int64
		return func(s slot) bool { return n.Add(1)%4 == 0 && replace(another)(s) }
	}},
	{"foreign", "is that of another object", func() change {
		m := newMemory()
		return func(s slot) bool {
			value := s.value()
			m.saw(s.owner, value)
			other, found := m.ofAnother(s.owner, value)
			if found {
				s.set(other)
			}
			return found
		}
	}},
	{"stale", "is the value before the last change", func() change {
		m := newMemory()
		return func(s slot) bool {
			before, changed := m.saw(s.owner, s.value())
			if changed {
				s.set(before)
			}
			return changed
		}
	}},
	{"late", "is the value before, in the first answer after a change", func() change {
		m := newMemory()
		return func(s slot) bool {
			before, changed := m.saw(s.owner, s.value())
			if changed = changed && m.once(s.owner); changed {
				s.set(before)
			}
			return changed
		}
	}},
}

func replace(with func(any) any) change {
	return func(s slot) bool {
		was := s.value()
		s.set(with(was))
		text, _ := json.Marshal(was)
		now, _ := json.Marshal(s.value())
		return string(text) != string(now)
	}
}

// answers derives the mutants of each member of the operation's answers.
func (c *contract) answers(op operation) (all []Mutant) {
	for _, success := range []bool{true, false} {
		kind := "answer"
		if !success {
			kind = "refusal"
		}
		for _, at := range op.answerPlaces(success) {
			for _, rule := range changes {
				all = append(all, Mutant{
					Name: op.ID + "/" + kind + "/" + at.String() + "/" + rule.name, Group: Answers,
					Does:   at.String() + " in the " + kind + " of " + op.ID + " " + rule.does,
					change: func() middleware { return c.changing(op, success, at, rule.make()) },
				})
			}
		}
	}
	return all
}

// changing applies the change to the members at a place of answers that succeed, or to those that refuse.
func (c *contract) changing(op operation, success bool, at place, apply change) middleware {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) (changed bool) {
		if !c.is(op, r) {
			next.ServeHTTP(w, r)
			return false
		}
		a := capture(next, r)
		if body, ok := decoded(a.Body.Bytes()); ok && success == (a.Code < 300) {
			owner := r.URL.RequestURI()
			if slices.Contains(at, "*") { // an item has an id of its own, and is the same in each page
				owner = r.URL.Path
			}
			for _, s := range slots(body, at, owner) {
				changed = apply(s) || changed
			}
			if changed {
				text, _ := json.Marshal(body) // it was decoded from JSON
				a.Body.Reset()
				a.Body.Write(text)
			}
		}
		send(w, a)
		return changed
	}
}

// capture returns the answer of the reference without sending it.
func capture(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	a := httptest.NewRecorder()
	next.ServeHTTP(a, r)
	return a
}

func send(w http.ResponseWriter, a *httptest.ResponseRecorder) {
	maps.Copy(w.Header(), a.Header())
	if a.Code != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()))
	}
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes()) // the client may be gone
}
