package forecast

import (
	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Share spreads the scenarios that change a shared deployment over a few, as far as max_deployments allows: each holds
// it alone, and who comes after one that has created a revision waits until that is built. It comes after
// [Forecast.Spend].
func (f *Forecast) Share(scenarios []*features.Scenario) {
	var creating, others []*features.Scenario
	for _, s := range scenarios {
		changes, creates := f.changes(s)
		switch {
		case !changes || f.Applies(s) != nil:
		case creates:
			creating = append(creating, s)
		default:
			others = append(others, s)
		}
	}
	size := min(plane.PoolSize, len(creating))
	if most := f.config.MaxDeployments; most > 0 {
		size = min(size, 1+most-f.Plan(scenarios).Deployments)
	}
	if size < 2 {
		return
	}
	f.member = map[string]int{}
	for i, s := range append(creating, others...) {
		f.member[s.Key()] = i % size
	}
}

// Member is which of the shared deployments that scenarios change this one changes, from 0.
func (f *Forecast) Member(s *features.Scenario) int { return f.member[s.Key()] }

// changes tells whether a scenario changes a shared deployment, and whether it creates a revision there.
func (f *Forecast) changes(s *features.Scenario) (changes, creates bool) {
	f.upToGap(s, func(d *common.Definition) {
		for _, c := range d.Costs {
			changes = changes || f.plane.Fixtures.Leases(c.Fixture)
			creates = creates || changes && c.Fixture == "" && c.Revisions > 0
		}
	})
	return changes, creates
}
