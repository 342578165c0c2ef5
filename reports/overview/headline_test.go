package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestFirstLine(t *testing.T) {
	q := func(id string, l reports.Level, v reports.Verdict, reason string) reports.Requirement {
		return reports.Requirement{ID: id, Level: l, Verdict: v, Title: "Rule " + id, Reason: reason}
	}
	about := func(subject string, q reports.Requirement) reports.Requirement { q.Subject = subject; return q }
	by := func(q reports.Requirement, kind reports.BlockerKind, name string) reports.Requirement {
		q.BlockedBy = []reports.Blocker{{Kind: kind, Name: name}}
		return q
	}
	skip := func(id string, kind reports.SkipKind, key string) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Skipped, Skip: &reports.Skip{Kind: kind, Key: key}}
	}
	at := func(q reports.Requirement, l reports.Level) reports.Requirement { q.Level = l; return q }
	in := func(profile string, q reports.Requirement) reports.Requirement { q.Profile = profile; return q }
	claimed := func(q reports.Requirement, name string) reports.Requirement { q.Claimed = name; return q }
	must, should := reports.Must, reports.Should
	ok := q("A-1", must, reports.Passed, "")
	both := reports.Target{ControlPlane: "http://cp", AgentServer: "http://as"}
	tests := []struct {
		name         string
		requirements []reports.Requirement
		change       func(*reports.Result)
		want         string
	}{
		{"conformant", []reports.Requirement{ok, q("A-2", must, reports.Passed, ""), skip("A-3", reports.NotApplicable, "x")}, nil, "conformant: 2 of 3 MUSTs passed, 1 not applicable"},
		{"a SHOULD failed", []reports.Requirement{ok, q("A-2", should, reports.Failed, "expected 404, got 200"), q("A-3", should, reports.Passed, "")}, nil,
			"conformant: 1 of 1 MUST passed; 1 SHOULD failed, first A-2: expected 404, got 200"},
		{"the gravest failure first", []reports.Requirement{about("form", q("A-1", must, reports.Failed, "x")), q("B-1", must, reports.Failed, "lost"), about("rollback", q("C-1", must, reports.Failed, "lingers")),
			about("security", q("D-1", must, reports.Failed, "seen by others")), q("E-1", should, reports.Failed, "x")}, nil,
			"non-conformant: 4 of 4 MUSTs failed; first D-1: seen by others; 1 SHOULD failed"},
		{"order of the features", []reports.Requirement{ok, q("A-2", must, reports.Failed, ""), q("A-3", must, reports.Failed, "y")}, nil, "non-conformant: 2 of 3 MUSTs failed; first A-2: Rule A-2"},
		{"part", []reports.Requirement{ok, skip("A-2", reports.NotConfigured, "create.body"), skip("A-3", reports.NotConfigured, "create.body"), skip("A-4", reports.NotConfigured, "users")}, nil,
			"conformant (partial run): 1 of 4 requirements judged, no MUST failed; set create.body to judge 2 more"},
		{"a failure in a part", []reports.Requirement{ok, q("A-2", must, reports.Failed, "y"), skip("A-3", reports.OverBudget, "max_deployments")}, nil, "non-conformant (partial run): 1 of 2 MUSTs failed; first A-2: y"},
		{"agent server", []reports.Requirement{ok, skip("A-2", reports.NotConfigured, "target")}, func(r *reports.Result) { r.Target = reports.Target{AgentServer: "http://as"} }, "conformant (agent server): 1 of 1 MUST passed"},
		{"agent server in place of the whole", []reports.Requirement{ok, skip("A-2", reports.NotConfigured, "target")}, func(r *reports.Result) { r.Target, r.Run.Whole = reports.Target{AgentServer: "http://as"}, true },
			"incomplete (agent server): 1 of 1 MUST passed; --require-whole: 1 requirement not judged"},
		{"not claimed", []reports.Requirement{ok, skip("A-2", reports.NotClaimed, "tags"), skip("A-3", reports.NotClaimed, "tags"), at(skip("A-4", reports.NotClaimed, "tenants"), should)}, nil,
			"conformant (partial run): 1 of 4 requirements judged, no MUST failed; 2 MUSTs and 1 SHOULD not claimed"},
		{"claimed, not judged", []reports.Requirement{ok, claimed(skip("A-2", reports.NotConfigured, "alternatives.tag_ref"), "tags"), claimed(at(q("A-3", must, reports.Blocked, "x"), should), "commits")}, nil,
			"incomplete (partial run): 1 of 3 requirements judged, no MUST failed; A-3: x; claimed and not judged: tags (set alternatives.tag_ref), commits (A-3 blocked); set alternatives.tag_ref to judge 1 more"},
		{"agent server claimed", []reports.Requirement{in("agent-server", ok), in("control-plane", skip("A-2", reports.NotClaimed, "control-plane")), skip("E-1", reports.NotClaimed, "end-to-end"), at(skip("A-3", reports.NotConfigured, "agent.studio_headers"), reports.May)}, nil,
			"conformant (agent server): 1 of 1 MUST passed"},
		{"agent server in part", []reports.Requirement{in("agent-server", ok), in("control-plane", skip("A-2", reports.NotClaimed, "control-plane")), skip("A-3", reports.NotClaimed, "rollback")}, nil,
			"conformant (partial run): 1 of 3 requirements judged, no MUST failed; 2 MUSTs not claimed"},
		{"both halves, not end to end", []reports.Requirement{in("agent-server", ok), in("control-plane", q("A-2", must, reports.Passed, "")), skip("E-1", reports.NotClaimed, "end-to-end")}, nil,
			"conformant (partial run): 2 of 3 requirements judged, no MUST failed; 1 MUST not claimed"},
		{"blocked", []reports.Requirement{ok, q("A-2", must, reports.Blocked, "x"), by(q("A-3", must, reports.Blocked, "no connection."), reports.ByTarget, "http://cp"), by(q("A-4", must, reports.Blocked, "no connection."), reports.ByTarget, "http://cp")}, nil,
			"incomplete: 1 of 4 MUSTs passed, 3 could not be judged; A-3 and 1 more: no connection"},
		{"unreachable", []reports.Requirement{q("A-1", must, reports.Blocked, "x")}, func(r *reports.Result) { r.Headline = "http://cp does not answer: connection refused" }, "incomplete: no requirement was judged; http://cp does not answer: connection refused"},
		{"nothing but refusals", []reports.Requirement{ok, skip("A-2", reports.NotConfigured, "create.body")}, func(r *reports.Result) {
			r.Unseen, r.Headline = []string{"control-plane"}, "no successful answer of the control plane was seen: set create.body"
		}, "incomplete (partial run): 1 of 2 requirements judged, no MUST failed; no successful answer of the control plane was seen: set create.body"},
		{"stopped", []reports.Requirement{ok, by(q("A-2", must, reports.Inconclusive, "not run"), reports.ByRun, "ended")}, func(r *reports.Result) { r.Run.Stopped = "--timeout 1s" }, "incomplete: stopped by --timeout 1s; 1 of 2 MUSTs passed, 1 could not be judged"},
		{"in the baseline", []reports.Requirement{ok, {ID: "A-2", Level: must, Verdict: reports.Failed, Known: &reports.Known{}}}, func(r *reports.Result) { r.Baseline = &reports.Baseline{Known: 1} },
			"non-conformant (all failures are in the baseline, exit 0): 1 of 2 MUSTs failed (1 in the baseline)"},
		{"only a SHOULD", []reports.Requirement{q("A-1", should, reports.Passed, "")}, nil, "incomplete: no MUST was judged, only 1 requirement of another level"},
		{"nothing", nil, nil, "incomplete: no requirement was judged"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &reports.Result{Target: both, Requirements: tt.requirements}
			reports.SetScope(r, nil)
			if tt.change != nil {
				tt.change(r)
			}
			r.Verdict = reports.ConcludeRun(r)
			assert.Equal(t, tt.want, overview.Of(r).FirstLine())
		})
	}
}
