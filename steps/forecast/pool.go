package forecast

import (
	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Share spreads the scenarios that change one deployment in turn over a few deployments, as far as max_deployments allows: who comes
// after one that has made a revision has to wait until that is built. It comes after [Forecast.Spend].
func (f *Forecast) Share(scenarios []*features.Scenario) {
	var making, others []*features.Scenario
	for _, s := range scenarios {
		leases, makes := f.leases(s)
		switch {
		case !leases || f.Applies(s) != nil:
		case makes:
			making = append(making, s)
		default:
			others = append(others, s)
		}
	}
	size := min(plane.PoolSize, len(making))
	if most := f.config.MaxDeployments; most > 0 {
		size = min(size, 1+most-f.Plan(scenarios).Deployments)
	}
	if size < 2 {
		return
	}
	f.member = map[string]int{}
	for i, s := range append(making, others...) {
		f.member[s.Key()] = i % size
	}
}

// Leases tells whether the scenario changes a deployment that others change before or after it, and which one of the pool, from 0.
func (f *Forecast) Leases(s *features.Scenario) (member int, leases bool) {
	if f.Applies(s) != nil {
		return 0, false
	}
	leases, _ = f.leases(s)
	return f.member[s.Key()], leases
}

// leases tells whether a scenario changes a deployment that others change before and after it, and whether it makes a revision there.
func (f *Forecast) leases(s *features.Scenario) (leases, makes bool) {
	f.upToGap(s, func(d *common.Definition) {
		for _, c := range d.Costs {
			leases = leases || f.plane.Fixtures.Leases(c.Fixture)
			makes = makes || leases && c.Fixture == "" && c.Revisions > 0
		}
	})
	return leases, makes
}
