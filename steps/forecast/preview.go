package forecast

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
	Time                    Least         // that the run takes at a target of the pace
	Pace                    Pace          // what is known of the target
	Gaps                    []*Gap        // what would be left out, and why
}

// PreviewOf returns what a run of the selection would do with so many scenarios in flight, at a target of the pace. It sends nothing.
func PreviewOf(c *config.Config, catalogue *features.Catalogue, s Selection, concurrency int, target Pace) (*Preview, error) {
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
	atOnce := ConcurrencyWithin(max(concurrency, 1), c.Every())
	p.Pace, p.Time = target, f.Least(selected, target, atOnce)
	p.Least = max(p.Longest, p.Waits/time.Duration(atOnce), time.Duration(max(p.Requests-1, 0))*c.Every())
	return p, nil
}

// ConcurrencyWithin is how many scenarios may be in flight with the time between two requests: a scenario that waits long for each of
// its requests loses its races with the runs that it has started.
func ConcurrencyWithin(most int, every time.Duration) int {
	if every == 0 {
		return most
	}
	return max(min(most, int(time.Second/(2*every))), 1)
}
