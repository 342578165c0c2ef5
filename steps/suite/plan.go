package suite

import "github.com/agentconform/agentconform/features"

// Plan is what scenarios create at most.
type Plan struct{ Deployments, Revisions int }

// Plan says what the scenarios create at most, whatever the budget, by what the definitions of their sentences say. For a
// scenario that ends early by the configuration only the sentences before are counted; what depends on answers is not
// known yet.
func (f *Forecast) Plan(scenarios []*features.Scenario) Plan {
	var p Plan
	paid := map[string]bool{} // fixtures
	for _, s := range scenarios {
		if f.applies(s) != nil {
			continue
		}
		for _, step := range s.Steps {
			if len(f.lackedBy(step.Text)) > 0 {
				break
			}
			d := f.sentences.Find(step.Text)
			if d == nil {
				continue
			}
			for _, c := range d.Costs {
				if c.Fixture != "" && paid[c.Fixture] {
					continue
				}
				paid[c.Fixture] = c.Fixture != ""
				p.Deployments += c.Deployments
				p.Revisions += c.Deployments + c.Revisions
			}
		}
	}
	return p
}

// planned says how many deployments the scenarios create at most.
func (r *run) planned(scenarios []*features.Scenario) int {
	total := r.forecast.Plan(scenarios).Deployments
	if most := r.target.Config.MaxDeployments; most > 0 {
		total = min(total, most)
	}
	return total
}
