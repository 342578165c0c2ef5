package evidence

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/spec"
)

// Violation is what the contract says against the answers of one operation: the first one seen, and how often.
type Violation struct {
	spec.Violation
	Count    int
	Exchange int
}

// maxViolations bounds how many violations of one operation are told apart: names of fields may be the target's.
const maxViolations = 256

func (c *Collector) noteViolation(id int, v spec.Violation) {
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
func (c *Collector) Violations(operation string) []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Violation
	for _, key := range c.order {
		if v := c.violations[key]; v.Operation == operation {
			found = append(found, *v)
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.Key(), b.Key()) })
	return found
}
