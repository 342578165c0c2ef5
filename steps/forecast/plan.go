package forecast

import (
	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Plan is what scenarios create at most.
type Plan struct{ Deployments, Revisions int }

// Plan says what the scenarios create, whatever the budget, by what the definitions of their sentences say. For a
// scenario that ends early by the configuration only the sentences before are counted; what depends on answers is not
// known yet.
func (f *Forecast) Plan(scenarios []*features.Scenario) Plan {
	var p Plan
	paid := map[string]bool{}
	for _, s := range scenarios {
		if f.Applies(s) != nil {
			continue
		}
		c := f.cost(s, paid)
		p.Deployments += c.Deployments
		p.Revisions += c.Deployments + c.Revisions
	}
	return p
}

// cost is what a scenario creates at most, beside the fixtures that are paid already. It notes those that it pays.
func (f *Forecast) cost(s *features.Scenario, paid map[string]bool) (sum plane.Cost) {
	f.upToGap(s, func(d *common.Definition) {
		for _, c := range d.Costs {
			name := f.plane.Fixtures.Member(c.Fixture, f.Member(s))
			if name != "" && paid[name] {
				continue
			}
			paid[name] = name != ""
			sum.Deployments += c.Deployments
			sum.Revisions += c.Revisions
		}
	})
	return sum
}

// upToGap visits the sentences of a scenario, up to the first for which the configuration lacks something.
func (f *Forecast) upToGap(s *features.Scenario, visit func(*common.Definition)) {
	for _, step := range s.Steps {
		if len(f.lackedBy(step.Text)) > 0 {
			return
		}
		if d := f.Sentences.Find(step.Text); d != nil {
			visit(d)
		}
	}
}
