package forecast

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Needs returns the names of what a scenario shares with others and needs: fixtures, and runs of the graph.
func (f *Forecast) Needs(s *features.Scenario) (names []string) {
	if f.Applies(s) != nil {
		return nil
	}
	f.costs(s, func(c plane.Cost) {
		if c.Fixture != "" && !slices.Contains(names, c.Fixture) {
			names = append(names, c.Fixture)
		}
	})
	return names
}

// costs visits what the sentences of a scenario create.
func (f *Forecast) costs(s *features.Scenario, visit func(plane.Cost)) {
	f.upToGap(s, func(d *common.Definition) {
		for _, c := range d.Costs {
			c.Fixture = f.plane.Fixtures.Member(c.Fixture, f.member[s.Key()])
			visit(c)
		}
	})
}

// Order returns the scenarios in the order in which they begin: those that take longest first, so that the others fill the time.
// The seed shuffles those that take equally long.
func (f *Forecast) Order(scenarios []*features.Scenario, seed int64) []*features.Scenario {
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // only an order
	order := slices.Clone(scenarios)
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	takes := map[*features.Scenario]time.Duration{}
	for _, s := range order {
		takes[s] = f.takes(s)
	}
	slices.SortStableFunc(order, func(a, b *features.Scenario) int { return -cmp.Compare(takes[a], takes[b]) })
	return order
}

// takes is how long a scenario takes beside others, for the order, at a target that answers in a tenth of a second and builds a
// revision in a minute.
func (f *Forecast) takes(s *features.Scenario) time.Duration {
	own := f.own(s).at(usual).Time
	leases, makes := f.leases(s)
	switch {
	case makes:
		own += inTurn
	case leases && len(f.chainOf(s, usual)) > 0 && f.chainOf(s, usual)[0].Revisions > 0:
		own += 2 * inTurn
	case leases:
		own += 3 * inTurn
	}
	return own
}

// usual is the pace of targets of which nothing is known yet.
var usual = Pace{Answer: 100 * time.Millisecond, Revision: time.Minute}

// inTurn is for scenarios that change one deployment in turn: they begin early, those first that do not wait until it is DEPLOYED, and
// last those that make a revision there, since the next has to wait for it.
const inTurn = 10 * time.Second

// Chains are how long is waited for what is made from each thing that scenarios share, by its name, in seconds at a usual target.
func (f *Forecast) Chains(scenarios []*features.Scenario) map[string]int {
	chains := map[string]int{}
	for _, s := range scenarios {
		for _, name := range f.Needs(s) {
			whole := f.own(s).at(usual).Time
			if fixture := f.plane.Fixtures.Named(name); fixture != nil {
				whole += f.making(fixture).at(usual).Time
			}
			chains[name] = max(chains[name], int(whole.Seconds()))
		}
	}
	return chains
}
