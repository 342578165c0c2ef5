package main

import (
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
)

// loadBaseline reads the known failures before anything is run: a mistake in the file must not cost a run.
func (f *runFlags) loadBaseline() (*baseline.Baseline, error) {
	if f.baseline == "" {
		return nil, nil
	}
	return baseline.Load(f.baseline)
}

// concluded returns the exit code of a run, where known failures do not count and entries that do not fit do.
func concluded(result *reports.Result, known *baseline.Baseline) int {
	if known == nil {
		return exitCode(result)
	}
	assessment := baseline.Apply(result, known, time.Now())
	if assessment.OK() {
		return exitConformant
	}
	if assessment.Conclusion == reports.Incomplete && len(assessment.Stale)+len(assessment.Unmatched)+len(assessment.Expired) == 0 {
		return exitIncomplete
	}
	return exitNonConformant
}
