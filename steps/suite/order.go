package suite

import (
	"context"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/slots"
)

// begin has what the scenarios share made at once, those things first on which most time depends: what the selection needs
// is known from the definitions.
func (r *run) begin(ctx context.Context, scenarios []*features.Scenario) {
	if ctx.Err() != nil || r.unreachable != "" {
		return
	}
	r.ready = map[string]<-chan struct{}{}
	r.maker.Chains = r.forecast.Chains(scenarios)
	for _, f := range r.plane.Fixtures.All() {
		if _, needed := r.maker.Chains[f.Name]; needed {
			r.ready[f.Name] = r.plane.Begin(f)
		}
	}
}

// turn is when a scenario may begin: when what it needs is made, or has failed, and the scenario has ended that changes the same
// deployment before it; in the order of the ranks.
type turn struct {
	rank   slots.Rank
	needs  []<-chan struct{}
	ended  chan struct{} // closed when the scenario has ended
	ticket *slots.Ticket // nil where it needs something
}

// turns gives each scenario its turn: those that take longest come first, and the seed shuffles equals.
func (r *run) turns(scenarios []*features.Scenario) map[*features.Scenario]*turn {
	all := map[*features.Scenario]*turn{}
	before := map[int]*turn{} // by number of the deployment that scenarios change in turn
	for i, s := range r.forecast.Order(scenarios, r.Seed) {
		t := &turn{rank: slots.Rank(i), ended: make(chan struct{})}
		for _, name := range r.forecast.Needs(s) {
			if ready := r.ready[name]; ready != nil {
				t.needs = append(t.needs, ready)
			}
		}
		if n, leases := r.forecast.Leases(s); leases {
			if last := before[n]; last != nil {
				t.needs = append(t.needs, last.ended)
			}
			before[n] = t
		}
		all[s] = t
	}
	return all
}

// reserve takes a place for each scenario that needs nothing, so that the order does not depend on which goroutine comes first.
func (r *run) reserve(turns map[*features.Scenario]*turn) {
	for _, t := range turns {
		if len(t.needs) == 0 {
			t.ticket = r.slots.Reserve(t.rank)
		}
	}
}

// await waits until the scenario may begin. The context that it returns holds a slot until end is called; where the run was
// stopped meanwhile it holds none.
func (t *turn) await(ctx context.Context, s *slots.Slots) (within context.Context, end func()) {
	within, leave := t.enter(ctx, s)
	return within, func() {
		leave()
		close(t.ended)
	}
}

func (t *turn) enter(ctx context.Context, s *slots.Slots) (within context.Context, leave func()) {
	for _, ready := range t.needs {
		select {
		case <-ready:
		case <-ctx.Done():
			return ctx, func() {}
		}
	}
	if t.ticket == nil {
		t.ticket = s.Reserve(t.rank)
	}
	within, leave, _ = t.ticket.Enter(ctx) // the scenario looks at the context itself
	return within, leave
}
