package evidence

import (
	"slices"
	"sync"

	"github.com/agentconform/agentconform/spec"
)

// Violation is what the contract says against the answers of one operation: the first one seen, and how often.
type Violation struct {
	spec.Violation
	Count    int
	Exchange int
}

// contract is what the contract says against answers.
type contract struct {
	mu         sync.Mutex
	violations map[string]*Violation
	order      []string       // keys of violations, first seen first
	known      map[string]int // of these, by operation
}

// maxViolations bounds how many violations of one operation are told apart: names of fields may be the target's.
const maxViolations = 256

func newContract() contract {
	return contract{violations: map[string]*Violation{}, known: map[string]int{}}
}

func (c *contract) note(id int, v spec.Violation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := v.Key()
	if known := c.violations[key]; known != nil {
		known.Count++
		return
	}
	if c.known[v.Operation]++; c.known[v.Operation] > maxViolations {
		return
	}
	c.violations[key] = &Violation{Violation: v, Count: 1, Exchange: id}
	c.order = append(c.order, key)
}

// Violations returns what the contract says against an operation's answers, in a stable order.
func (c *contract) Violations(operation string) []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Violation
	for _, key := range c.order {
		if v := c.violations[key]; v.Operation == operation {
			found = append(found, *v)
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return compareText(a.Key(), b.Key()) })
	return found
}
