package forecast

import (
	"cmp"
	"math/rand/v2"
	"slices"

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

// Needed returns the names of all that the scenarios share and need.
func (f *Forecast) Needed(scenarios []*features.Scenario) (names []string) {
	for _, s := range scenarios {
		for _, name := range f.Needs(s) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
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
	takes := map[*features.Scenario]int{}
	for _, s := range order {
		takes[s] = f.takes(s)
	}
	slices.SortStableFunc(order, func(a, b *features.Scenario) int { return -cmp.Compare(takes[a], takes[b]) })
	return order
}

// takes is how long a scenario takes beside others, in tenths of a second at a target that answers in that time and builds a
// revision in a minute.
func (f *Forecast) takes(s *features.Scenario) int {
	const aRevision = 600
	asks, least := f.asks(s)
	asks += int(least.Milliseconds() / 100)
	own := 0
	f.costs(s, func(c plane.Cost) {
		switch {
		case c.Fixture != "":
		case c.Deployments > 0, own > 0:
			own += c.Deployments + c.Revisions
		}
		if c.Fixture == "" {
			asks += c.Threads*ofThread + c.Runs*ofRun
		}
	})
	if leases, makes := f.leases(s); leases && makes {
		asks += inTurn
	} else if leases {
		asks += 2 * inTurn
	}
	return asks + own*aRevision
}

// inTurn is for scenarios that change one deployment in turn: they begin early, and last those that make a revision there, since
// the next has to wait for it.
const inTurn = 100
