//go:build browser || nightly

package html_test

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// sixResults are the kinds of results that a page has to show well. Those with few exchanges are judged soon.
func sixResults() map[string]*reports.Result {
	all := map[string]*reports.Result{
		"conformant": reporttest.Conformant(), "failed": reporttest.Sample(), "blocked": reporttest.Sample(), "unreachable": reporttest.Unreachable(),
		"stopped": reporttest.Conformant(), "partial": reporttest.Sample(),
	}
	for name, r := range all {
		r.Exchanges = r.Exchanges[:min(len(r.Exchanges), 12)]
		for i := range r.Requirements {
			switch q := &r.Requirements[i]; {
			case name == "blocked":
				reporttest.Settle(q, reports.Blocked, "fixture: a deployment: expected 201, got 500", nil, reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"})
			case name == "stopped" && i > 2:
				reporttest.Settle(q, reports.Inconclusive, "not run: --timeout 1s reached", nil, reports.Blocker{Kind: reports.ByRun, Name: "ended"})
			case name == "partial" && q.Verdict == reports.Failed:
				reporttest.Settle(q, reports.Passed, "", nil)
			}
		}
		if name != "failed" {
			r.Findings = nil
		}
		if name == "stopped" {
			r.Run.Stopped = "--timeout 1s"
		}
		for q := range reports.Each(r.Requirements) {
			for s := range reports.Each(q.Scenarios) {
				s.Exchanges = nil
			}
		}
		reports.Tally(r)
		r.Verdict = reports.ConcludeRun(r)
	}
	return all
}
