package evidence

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

type place struct {
	scenario string
	order    int // of the scenario; fixtures come first
	sequence int // within the scenario
	sent     time.Time
	part     reports.Part // "" where no step of a scenario sent it
	wrong    bool         // the request breaks the contract on purpose
}

// notePlace remembers where the exchange belongs. The journal numbers from one, in the order of its calls. The caller holds
// the lock, here and wherever something of an exchange is noted.
func (c *Collector) notePlace(id int, o *observed) {
	name := o.Exchange.Scenario
	c.sequence[name]++
	for len(c.all) < id {
		c.all = append(c.all, place{})
	}
	if id > 0 {
		c.all[id-1] = place{scenario: name, order: o.Order, sequence: c.sequence[name], sent: o.Sent, part: o.Part, wrong: o.Wrong}
	}
}

// Order returns the ids of all exchanges in the order in which reports show them: fixtures first, then by scenario,
// then as they were made. It does not depend on how the scenarios were interleaved.
func (c *Collector) Order() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int, len(c.all))
	for i := range ids {
		ids[i] = i + 1
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		x, y := c.all[a-1], c.all[b-1]
		return cmp.Or(cmp.Compare(x.order, y.order), strings.Compare(x.scenario, y.scenario), cmp.Compare(x.sequence, y.sequence))
	})
	return ids
}

// Of returns the ids of the exchanges that were made for the scenario, in their order.
func (c *Collector) Of(scenario string) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []int
	for i, at := range c.all {
		if at.scenario == scenario {
			ids = append(ids, i+1)
		}
	}
	return ids
}
