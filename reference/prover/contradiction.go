package prover

import (
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// contradiction describes a scenario that is blocked only by requirements that have passed, or returns "".
func contradiction(result *reports.Result) string {
	for _, q := range result.Requirements {
		for _, s := range q.Scenarios {
			hasPassed := func(b reports.Blocker) bool {
				owner := result.Requirement(b.Name)
				return b.Kind == reports.ByRequirement && owner != nil && owner.Verdict == reports.Passed
			}
			isOther := func(b reports.Blocker) bool { return !hasPassed(b) }
			isBlocked := s.Verdict == reports.Blocked && len(s.BlockedBy) > 0
			if isBlocked && !slices.ContainsFunc(s.BlockedBy, isOther) {
				return fmt.Sprintf("%s is blocked by %s, which has passed: %s", q.ID, s.BlockedBy[0].Name, s.Reason)
			}
		}
	}
	return ""
}

// unclear describes a finding whose expected and actual value look equal in a report, or returns "".
func unclear(result *reports.Result) string {
	for f := range reports.Each(result.Findings) {
		if f.Expected != "" && f.ExpectedLine() == f.ActualLine() {
			return fmt.Sprintf("finding %s of %s shows the same expected and actual value: %s", f.ID, f.Requirement, f.ExpectedLine())
		}
	}
	return ""
}
