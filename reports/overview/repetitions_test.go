package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestRepetitions(t *testing.T) {
	same := reports.Requirement{ID: "A-1", Verdict: reports.Passed, Repetitions: reports.Repetitions{reports.Passed: 10}}
	covered := reports.Requirement{ID: "A-2", Verdict: reports.Passed, Repetitions: reports.Repetitions{reports.Passed: 9, reports.Skipped: 1}}
	skipped := reports.Requirement{ID: "A-3", Verdict: reports.Skipped, Repetitions: reports.Repetitions{reports.Skipped: 10}}
	flaky := reports.Requirement{ID: "A-4", Verdict: reports.Failed, Repetitions: reports.Repetitions{reports.Passed: 7, reports.Failed: 2, reports.Blocked: 1}}
	other := reports.Requirement{ID: "A-5", Verdict: reports.Blocked, Repetitions: reports.Repetitions{reports.Passed: 9, reports.Blocked: 1}}
	for name, c := range map[string]struct {
		run   reports.Run
		all   []reports.Requirement
		text  string
		rates []string
	}{
		"one test run": {run: reports.Run{}, all: []reports.Requirement{{ID: "A-1", Verdict: reports.Passed}}},
		"all the same": {run: reports.Run{Repeat: 10, Repeated: 10}, all: []reports.Requirement{same, covered, skipped},
			text: "10 times; 2 requirements had the same result each time"},
		"one differs": {run: reports.Run{Repeat: 10, Repeated: 10}, all: []reports.Requirement{same, flaky},
			text: "10 times; the results of 1 of 2 requirements differ", rates: []string{"A-4 passed 7 of 10, could not tell 1"}},
		"stopped": {run: reports.Run{Repeat: 20, Repeated: 10}, all: []reports.Requirement{flaky, other},
			text:  "10 of 20 times; the results of 2 of 2 requirements differ",
			rates: []string{"A-4 passed 7 of 10, could not tell 1", "A-5 passed 9 of 10, could not tell 1"}},
	} {
		o := overview.Of(&reports.Result{Run: c.run, Requirements: c.all})
		assert.Equal(t, c.text, o.Repetitions(), name)
		assert.Equal(t, c.rates, o.Rates(), name)
	}
}
