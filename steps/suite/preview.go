package suite

import (
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/config"
)

// Preview is what a run would do, as far as that is known without a request: what answers would change is not in it.
type Preview struct {
	Plan
	Scenarios, Requirements int           // that are selected
	Judged                  int           // of these requirements, those that would be judged
	Least                   time.Duration // that the run takes, without the time that the target needs for deployments and answers
	Gaps                    []*Gap        // what would be left out, and why
}

// PreviewOf returns what a run of the selection would do with so many scenarios in flight. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection, concurrency int) (*Preview, error) {
	selected, err := s.apply(catalogue)
	if err != nil {
		return nil, err
	}
	f := Foresee(c, catalogue, s)
	f.plane.AssumeExisting()
	f.spend(selected)
	p := &Preview{Plan: f.Plan(selected), Scenarios: len(selected)}
	p.Gaps, p.Judged = f.Gaps(selected)
	seen := map[*features.Requirement]bool{}
	for _, scenario := range selected {
		seen[scenario.Requirement] = true
	}
	p.Requirements = len(seen)
	p.Least = max(p.Longest, p.Waits/time.Duration(max(concurrency, 1)))
	return p, nil
}
