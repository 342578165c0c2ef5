package mutants

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/spec"
)

// parameterChanges are the rules for parameters of the query: what the reference gets in place of the value.
var parameterChanges = []struct {
	name, does string
	fits       func(spec.Parameter) bool
	with       func(q url.Values, name string)
}{
	{"ignored", "is ignored", func(spec.Parameter) bool { return true }, url.Values.Del},
	{"one-more", "counts one more", isInteger, func(q url.Values, name string) { plus(q, name, 1) }},
	{"one-less", "counts one less", isInteger, func(q url.Values, name string) { plus(q, name, -1) }},
	{"zero-is-absent", "is ignored if it is 0", isInteger, func(q url.Values, name string) {
		if q.Get(name) == "0" {
			q.Del(name)
		}
	}},
	{"invalid-is-ignored", "is ignored if it is invalid", isInteger, func(q url.Values, name string) {
		if _, err := strconv.Atoi(q.Get(name)); err != nil {
			q.Del(name)
		}
	}},
	{"first-only", "is read up to its first comma", isList, func(q url.Values, name string) {
		first, _, _ := strings.Cut(q.Get(name), ",")
		q.Set(name, first)
	}},
	{"last-only", "is read from its last comma on", isList, func(q url.Values, name string) {
		value := q.Get(name)
		q.Set(name, value[strings.LastIndex(value, ",")+1:])
	}},
	{"unknown-words-are-ignored", "is read without words that are not in its list", isList, func(q url.Values, name string) {
		words := strings.Split(q.Get(name), ",")
		known := slices.DeleteFunc(words, func(w string) bool { return w != strings.ToUpper(w) || w == "" })
		q.Set(name, strings.Join(known, ","))
	}},
	{"true-is-false", "is turned into false where it is true", isBoolean, func(q url.Values, name string) { swap(q, name, "true", "false") }},
	{"false-is-true", "is turned into true where it is false", isBoolean, func(q url.Values, name string) { swap(q, name, "false", "true") }},
	{"false-is-absent", "is ignored where it is false", isBoolean, func(q url.Values, name string) {
		if q.Get(name) == "false" {
			q.Del(name)
		}
	}},
}

func isInteger(p spec.Parameter) bool { return p.Type == "integer" }
func isBoolean(p spec.Parameter) bool { return p.Type == "boolean" }
func isList(p spec.Parameter) bool    { return p.List }

func plus(q url.Values, name string, n int) {
	if value, err := strconv.Atoi(q.Get(name)); err == nil {
		q.Set(name, strconv.Itoa(value+n))
	}
}

func swap(q url.Values, name, from, to string) {
	if q.Get(name) == from {
		q.Set(name, to)
	}
}

// parameters derives the mutants of the operation's parameters in query and path.
func (c *contract) parameters(op operation) (all []Mutant) {
	for _, p := range op.Parameters {
		if p.In == "path" {
			all = append(all, Mutant{
				Name: op.ID + "/path/" + p.Name + "/foreign", Group: Parameters,
				Does:   op.ID + " takes the " + p.Name + " of another request in place of its own",
				change: func() middleware { return c.swappingIDs(op, p.Name) },
			})
			continue
		}
		for _, rule := range parameterChanges {
			if rule.fits(p) {
				all = append(all, Mutant{
					Name: op.ID + "/query/" + p.Name + "/" + rule.name, Group: Parameters,
					Does: "the parameter " + p.Name + " of " + op.ID + " " + rule.does,
					change: func() middleware {
						return c.before(op, func(r *http.Request) bool {
							q := r.URL.Query()
							if !q.Has(p.Name) {
								return false
							}
							rule.with(q, p.Name)
							was := r.URL.Query().Encode()
							r.URL.RawQuery = q.Encode()
							return was != r.URL.RawQuery
						})
					},
				})
			}
		}
	}
	return all
}

// before changes the operation's requests before the reference gets them.
func (c *contract) before(op operation, change func(r *http.Request) bool) middleware {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) (changed bool) {
		if c.is(op, r) {
			changed = change(r)
		}
		next.ServeHTTP(w, r)
		return changed
	}
}

// swappingIDs serves the object of an earlier request of the operation that was answered with success, with that request's credentials.
func (c *contract) swappingIDs(op operation, name string) middleware {
	at := slices.Index(strings.Split(op.Path, "/"), "{"+name+"}")
	var mu sync.Mutex
	var known []*http.Request
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if !c.is(op, r) {
			next.ServeHTTP(w, r)
			return false
		}
		id := segment(r, at)
		mu.Lock()
		var other string
		for _, k := range known {
			if k.URL.Path[:len(k.URL.Path)-len(rest(k, at))] == r.URL.Path[:len(r.URL.Path)-len(rest(r, at))] && segment(k, at) != id && sameCredentials(k, r) {
				other = segment(k, at)
			}
		}
		mu.Unlock()
		kept := r.Clone(r.Context())
		if other == "" {
			a := capture(next, r)
			send(w, a)
			if a.Code < 300 {
				mu.Lock()
				known = append(known, kept)
				mu.Unlock()
			}
			return false
		}
		r.URL.Path = strings.Replace(r.URL.Path, "/"+id, "/"+other, 1)
		r.URL.RawPath = ""
		next.ServeHTTP(w, r)
		return true
	}
}

// segment is a part of the path of a request, as the template of its operation counts them.
func segment(r *http.Request, at int) string {
	_, path := half(r)
	return strings.Split(path, "/")[at]
}

// rest is the path of a request from a part on.
func rest(r *http.Request, at int) string {
	_, path := half(r)
	return strings.Join(strings.Split(path, "/")[at:], "/")
}

// bodyChanges are the rules for members of requests.
var bodyChanges = []struct {
	name, does string
	make       func() change
}{
	{"ignored", "is ignored", func() change { return slot.remove }},
	{"null", "is taken for null", func() change {
		return func(s slot) bool {
			was := s.value()
			s.set(nil)
			return was != nil
		}
	}},
	{"another", "is taken for another value of its type", func() change { return replace(another) }},
	{"foreign", "is taken from an earlier request", func() change {
		m := newMemory()
		return func(s slot) bool {
			text, _ := json.Marshal(s.value())
			m.saw(string(text), s.value())
			other, found := m.ofAnother(string(text), s.value())
			if found {
				s.set(other)
			}
			return found
		}
	}},
}

// bodies derives the mutants of each member of the operation's requests.
func (c *contract) bodies(op operation) (all []Mutant) {
	for _, at := range op.bodyPlaces() {
		for _, rule := range bodyChanges {
			all = append(all, Mutant{
				Name: op.ID + "/request/" + at.String() + "/" + rule.name, Group: Bodies,
				Does: at.String() + " in the request of " + op.ID + " " + rule.does,
				change: func() middleware {
					apply := rule.make()
					return c.before(op, func(r *http.Request) bool { return editBody(r, at, apply) })
				},
			})
		}
	}
	return all
}

func editBody(r *http.Request, at place, apply change) (changed bool) {
	text, _ := io.ReadAll(r.Body)
	if body, ok := decoded(text); ok {
		for _, s := range slots(body, at, "") {
			changed = apply(s) || changed
		}
		if changed {
			text, _ = json.Marshal(body) // it was decoded from JSON
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return changed
}
