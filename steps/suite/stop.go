package suite

import (
	"context"
	"errors"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Stopped is the cause of a context that ends a run early. The result says what it was.
type Stopped struct {
	By string // for people: "--timeout 1s", "Ctrl-C"
}

func (s *Stopped) Error() string { return "stopped by " + s.By }

// stoppedBy says what ended the run before all was judged, "" if every scenario was judged.
func (r *run) stoppedBy(ctx context.Context) string {
	if ctx.Err() == nil || r.notJudged() == 0 {
		return ""
	}
	var s *Stopped
	if cause := context.Cause(ctx); !errors.As(cause, &s) {
		return cause.Error()
	}
	return s.By
}

// notJudged counts the scenarios that were not judged because the run ended early.
func (r *run) notJudged() (n int) {
	for _, v := range r.verdicts {
		if v.outcome != nil && v.outcome.IsBy(reports.ByRun) {
			n++
		}
	}
	return n
}

// phases separates the scenarios: those that send requests, in the order in which they are run, and those that only judge the
// record of the run. These come last, so that nothing is recorded after they were judged.
func (r *run) phases(all []*features.Scenario) (asking [][]*features.Scenario, record []*features.Scenario) {
	var first, last []*features.Scenario
	for _, s := range all {
		switch {
		case s.Terms.Record:
			record = append(record, s)
		case s.Is(features.TagLast):
			last = append(last, s)
		default:
			first = append(first, s)
		}
	}
	return [][]*features.Scenario{first, last}, record
}

// notAllSeen is the outcome of a scenario that found no violation in the record of a run that was stopped.
func (r *run) notAllSeen() *outcome.Outcome {
	return outcome.Inconclusive("no violation was recorded before the run was stopped").By(reports.ByRun, "ended")
}
