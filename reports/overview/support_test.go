package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// TestSupport checks the class of a capability for the verdicts of its requirements.
func TestSupport(t *testing.T) {
	must := func(v reports.Verdict) reports.Requirement {
		return reports.Requirement{Level: reports.Must, Verdict: v}
	}
	should := func(v reports.Verdict) reports.Requirement {
		return reports.Requirement{Level: reports.Should, Verdict: v}
	}
	inapplicable := must(reports.Skipped)
	inapplicable.Skip = &reports.Skip{Kind: reports.NotApplicable}
	binding := should(reports.Failed)
	binding.Binding = true
	absent := reports.Requirement{}
	for _, c := range []struct {
		name         string
		requirements []reports.Requirement
		class        overview.Class
		counts       string
	}{
		{"all passed", []reports.Requirement{must(reports.Passed), should(reports.Passed)}, overview.Passed, "2 passed"},
		{"a MUST failed", []reports.Requirement{must(reports.Failed), must(reports.Blocked)}, overview.Failed, "1 failed, 1 could not tell"},
		{"a SHOULD failed", []reports.Requirement{must(reports.Passed), should(reports.Failed)}, overview.Passed, "1 passed, 1 failed"},
		{"a SHOULD that counts failed", []reports.Requirement{must(reports.Passed), binding}, overview.Failed, "1 passed, 1 failed"},
		{"the only SHOULD failed", []reports.Requirement{should(reports.Failed)}, overview.Failed, "1 failed"},
		{"the only SHOULD passed", []reports.Requirement{should(reports.Passed)}, overview.Passed, "1 passed"},
		{"a MUST is inconclusive", []reports.Requirement{must(reports.Passed), must(reports.Inconclusive)}, overview.CouldNotTell, "1 passed, 1 could not tell"},
		{"a MUST was skipped", []reports.Requirement{must(reports.Passed), must(reports.Skipped)}, overview.NotTested, "1 passed, 1 not tested"},
		{"a MUST does not apply", []reports.Requirement{must(reports.Passed), inapplicable}, overview.Passed, "1 passed, 1 not tested"},
		{"nothing applies", []reports.Requirement{inapplicable}, overview.NotTested, "1 not tested"},
		{"one was not selected", []reports.Requirement{must(reports.Passed), absent}, overview.NotTested, "1 passed, 1 not tested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reports.Result{Capabilities: []reports.Capability{{Name: "paging"}}}
			for i, q := range c.requirements {
				q.ID = string(rune('A' + i))
				r.Capabilities[0].Requirements = append(r.Capabilities[0].Requirements, q.ID)
				if q.Level != "" {
					r.Requirements = append(r.Requirements, q)
				}
			}
			support := overview.Of(r).Support()[0]
			assert.Equal(t, c.class, support.Class)
			assert.Equal(t, c.counts, support.Counts().String())
			rows, untested := overview.Of(r).SupportTable()
			assert.Equal(t, 1, len(rows)+len(untested))
		})
	}
}
