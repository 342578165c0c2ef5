package mutants

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/spec"
)

// Group is a rule by which mutants are derived.
type Group string

// The groups. Each has control mutants.
const (
	Answers    Group = "answers"    // a member of an answer
	Parameters Group = "parameters" // a parameter in query or path
	Bodies     Group = "bodies"     // a member of a request
	Access     Group = "access"     // a check of credentials
)

// Groups lists the groups in their order.
func Groups() []Group { return []Group{Answers, Parameters, Bodies, Access} }

// Mutant is the reference with one derived change.
type Mutant struct {
	Name  string // "get-deployment/id/dropped"
	Group Group
	Does  string // what it changes, in a sentence
	// Control marks a mutant that the suite must kill. If one survives, nothing that the self-test says counts.
	Control bool
	// Allowed says why a client may be answered like this; empty where the suite must kill the mutant.
	Allowed string

	change func() middleware
}

// middleware answers in place of the reference, and tells whether it changed anything of the exchange.
type middleware func(w http.ResponseWriter, r *http.Request, next http.Handler) (changed bool)

// Count is how many exchanges a mutant has changed.
type Count struct{ n atomic.Int64 }

// Exchanges is the number of exchanges up to now.
func (c *Count) Exchanges() int64 { return c.n.Load() }

// Apply puts the mutant around everything that the options serve.
func (m Mutant) Apply(o *reference.Options) *Count {
	count, change, inner := &Count{}, m.change(), o.WrapHTTP
	o.WrapHTTP = func(next http.Handler) http.Handler {
		if inner != nil {
			next = inner(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if change(w, r, next) {
				count.n.Add(1)
			}
		})
	}
	return count
}

// All derives all mutants, in a fixed order. The error is that of a document which cannot be read.
func All() ([]Mutant, error) {
	oracle, err := spec.New()
	if err != nil {
		return nil, err
	}
	c, err := read(oracle)
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, op := range c.operations {
		all = append(all, c.answers(op)...)
		all = append(all, c.parameters(op)...)
		all = append(all, c.bodies(op)...)
		all = append(all, c.access(op)...)
	}
	seen := map[string]bool{}
	for i := range all {
		m := &all[i]
		if seen[m.Name] {
			return nil, fmt.Errorf("two mutants are named %s", m.Name)
		}
		seen[m.Name] = true
		m.Control, m.Allowed = controls[m.Name], allowed(m.Name)
	}
	return all, nil
}

// Find returns the mutant with the name.
func Find(name string) (Mutant, error) {
	all, err := All()
	if err != nil {
		return Mutant{}, err
	}
	for _, m := range all {
		if m.Name == name {
			return m, nil
		}
	}
	return Mutant{}, fmt.Errorf("unknown generated mutant %q; agentconform prove --list shows all names", name)
}
