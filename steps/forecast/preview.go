package forecast

import (
	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/config"
)

// Preview is what a run would do, as far as that is known without a request: what answers would change is not in it.
type Preview struct {
	Plan
	Scenarios, Requirements int    // that are selected
	Judged                  int    // of these requirements, those that would be judged
	Gaps                    []*Gap // what would be left out, and why
}

// PreviewOf returns what a run of the selection would do. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection) (*Preview, error) {
	selected, err := s.Apply(catalogue)
	if err != nil {
		return nil, err
	}
	f := Foresee(c, catalogue, s)
	f.plane.AssumeExisting()
	f.Spend(selected)
	f.Share(selected)
	p := &Preview{Plan: f.Plan(selected), Scenarios: len(selected)}
	p.Gaps, p.Judged = f.Gaps(selected)
	seen := map[*features.Requirement]bool{}
	for _, scenario := range selected {
		seen[scenario.Requirement] = true
	}
	p.Requirements = len(seen)
	return p, nil
}
