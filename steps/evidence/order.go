package evidence

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
)

func compareText(a, b string) int { return strings.Compare(a, b) }

// places are where the exchanges belong.
type places struct {
	mu       sync.Mutex
	all      []place // by exchange, in the order of their ids
	sequence map[string]int
}

type place struct {
	scenario string
	order    int // of the scenario; fixtures come first
	sequence int // within the scenario
	sent     time.Time
	part     reports.Part // "" where no step of a scenario sent it
	wrong    bool         // the request breaks the contract on purpose
}

// note remembers where the exchange belongs. The journal numbers from one, in the order of its calls.
func (p *places) note(id int, o *observed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := o.Exchange.Scenario
	p.sequence[name]++
	for len(p.all) < id {
		p.all = append(p.all, place{})
	}
	if id > 0 {
		p.all[id-1] = place{scenario: name, order: o.Order, sequence: p.sequence[name], sent: o.Sent, part: o.Part, wrong: o.Wrong}
	}
}

// Order returns the ids of all exchanges in the order in which reports show them: fixtures first, then by scenario,
// then as they were made. It does not depend on how the scenarios were interleaved.
func (p *places) Order() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]int, len(p.all))
	for i := range ids {
		ids[i] = i + 1
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		x, y := p.all[a-1], p.all[b-1]
		return cmp.Or(cmp.Compare(x.order, y.order), compareText(x.scenario, y.scenario), cmp.Compare(x.sequence, y.sequence))
	})
	return ids
}

// Of returns the ids of the exchanges that were made for the scenario, in their order.
func (p *places) Of(scenario string) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var ids []int
	for i, at := range p.all {
		if at.scenario == scenario {
			ids = append(ids, i+1)
		}
	}
	return ids
}
