package forecast

import (
	"maps"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Spend gives out the deployments of max_deployments before the run, in the order of the features: a scenario that
// needs more than are left is left out. Neither the seed nor the pace of the target decides.
func (f *Forecast) Spend(scenarios []*features.Scenario) {
	most := f.config.MaxDeployments
	if most == 0 {
		return
	}
	f.over = map[string]*outcome.Outcome{}
	paid, left := map[string]bool{}, most
	for _, s := range scenarios {
		if f.Applies(s) != nil {
			continue
		}
		with := maps.Clone(paid)
		if cost := f.cost(s, with).Deployments; cost > left {
			f.over[s.Key()] = outcome.OverBudget("max_deployments", "the budget is used up: raise max_deployments (now %d)", most)
		} else {
			paid, left = with, left-cost
		}
	}
}
