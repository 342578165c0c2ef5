package evidence

import (
	"cmp"
	"slices"
	"strings"
)

func compareText(a, b string) int { return strings.Compare(a, b) }

// Order returns the ids of all exchanges in the order in which reports show them: fixtures first, then by scenario,
// then as they were made. It does not depend on how the scenarios were interleaved.
func (c *Collector) Order() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int, len(c.places))
	for i := range ids {
		ids[i] = i + 1
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		p, q := c.places[a-1], c.places[b-1]
		return cmp.Or(cmp.Compare(p.order, q.order), compareText(p.scenario, q.scenario), cmp.Compare(p.sequence, q.sequence))
	})
	return ids
}

// Of returns the ids of the exchanges that were made for the scenario, in their order.
func (c *Collector) Of(scenario string) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []int
	for i, p := range c.places {
		if p.scenario == scenario {
			ids = append(ids, i+1)
		}
	}
	return ids
}
