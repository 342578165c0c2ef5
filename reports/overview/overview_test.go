package overview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
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
			"conformant (partial run): 1 of 4 requirements judged, no MUST failed; 2 MUSTs, 1 SHOULD not claimed"},
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

// TestRemaining holds the line to the results of runs, and to what the target claims.
func TestRemaining(t *testing.T) {
	claimed := reporttest.Conformant()
	claimed.Requirement("CP-AUTH-6").Claimed = "tenants"
	must := func(v reports.Verdict) reports.Requirement {
		return reports.Requirement{Level: reports.Must, Verdict: v}
	}
	known, warned := must(reports.Failed), must(reports.Failed)
	known.ID, known.Known, warned.Level = "A-1", &reports.Known{}, reports.Should
	for want, r := range map[string]*reports.Result{
		"10 MUSTs with 7 causes; 116 of 131 requirements not judged": reporttest.Faulty(),
		"none; 1 of 16 requirements not judged":                      reporttest.Conformant(),
		"no MUST was judged":                                         {},
		"2 MUSTs (1 in the baseline)":                                {Requirements: []reports.Requirement{known, must(reports.Failed)}},
		"all MUSTs pass, 1 SHOULD not met":                           {Requirements: []reports.Requirement{must(reports.Passed), warned}},
		"claimed and not judged: tenants (set other_tenant.api_key); 1 of 16 requirements not judged": claimed,
	} {
		assert.Equal(t, want, overview.Of(r).Remaining())
	}
}

// TestCauses groups failures, and what could not be judged, by typed causes only: texts make no group.
func TestCauses(t *testing.T) {
	fixture := func(name string) reports.Blocker { return reports.Blocker{Kind: reports.ByFixture, Name: name} }
	by := func(id string) reports.Blocker { return reports.Blocker{Kind: reports.ByRequirement, Name: id} }
	target := reports.Blocker{Kind: reports.ByTarget, Name: "http://host"}
	for name, c := range map[string]struct {
		requirements string // "A-1 failed 3 /values" with exchange and pointer, "A-2 reason"
		blockers     map[string][]reports.Blocker
		want         []string
	}{
		"failures":                         {"A-1 failed 1 /messages, A-2 failed 1 /messages", nil, []string{"A-1: A-1", "A-2: A-2"}},
		"one explains the other":           {"A-1 failed 1 /x after A-2, A-2 failed 2 /y", nil, []string{"A-1, A-2: A-2"}},
		"one explains another through one": {"A-1 failed 1 /x, A-2 failed 2 /y after A-1, A-3 failed 3 /z after A-2", nil, []string{"A-1, A-2, A-3: A-1"}},
		"no exchange":                      {"A-1 failed 0 , A-2 failed 0 ", nil, []string{"A-1: A-1", "A-2: A-2"}},
		"blocked by a failure":             {"B-1 x, A-1 failed 1 /a", map[string][]reports.Blocker{"B-1": {by("A-1")}}, []string{"A-1, B-1: A-1"}},
		"blocked by two failures": {"A-1 failed 1 /a, A-2 failed 2 /a, B-1 x, B-2 y",
			map[string][]reports.Blocker{"B-1": {by("A-1"), by("A-2")}, "B-2": {by("A-1"), by("A-2")}}, []string{"A-1: A-1", "A-2: A-2", "B-1, B-2: x"}},
		"one fixture": {"A-1 x, A-2 no deployment, A-3 another", map[string][]reports.Blocker{"A-2": {fixture("f")}, "A-3": {fixture("f")}},
			[]string{"A-2, A-3: no deployment", "A-1: x"}},
		"what blocks tells the reason": {"A-1 after it, B-1 y.", map[string][]reports.Blocker{"A-1": {by("B-1")}, "B-1": {fixture("g")}}, []string{"A-1, B-1: y"}},
		"one address":                  {"A-1 GET: refused, A-2 POST: refused", map[string][]reports.Blocker{"A-1": {target}, "A-2": {target}}, []string{"A-1, A-2: GET: refused"}},
		"only texts":                   {"A-1 refused, A-2 refused", nil, []string{"A-1: refused", "A-2: refused"}},
		"no reason":                    {"A-1 ", nil, []string{"A-1: no reason was given"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reports.Result{}
			for each := range strings.SplitSeq(c.requirements, ", ") {
				id, reason, _ := strings.Cut(each, " ")
				q := reports.Requirement{ID: id, Verdict: reports.Blocked, Reason: reason, BlockedBy: c.blockers[id]}
				if rest, failed := strings.CutPrefix(reason, "failed "); failed {
					q.Verdict = reports.Failed
					f := reports.Finding{Requirement: id, Summary: id}
					_, _ = fmt.Sscan(rest, &f.Exchange, &f.Pointer)
					if _, after, has := strings.Cut(rest, " after "); has {
						q.ExplainedBy = []string{after}
					}
					r.Findings = append(r.Findings, f)
				}
				r.Requirements = append(r.Requirements, q)
			}
			var all []*reports.Requirement
			for i := range r.Requirements {
				all = append(all, &r.Requirements[i])
			}
			var got []string
			for _, cause := range overview.Of(r).Causes(all) {
				got = append(got, overview.Names(cause.Requirements)+": "+cause.What)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestLeftOut(t *testing.T) {
	o := overview.Of(&reports.Result{NotJudged: []reports.NotJudged{
		{ID: "A-1", Kind: reports.NotConfigured, Key: "k"}, {ID: "A-2", Kind: reports.OverBudget, Key: "max"}, {ID: "A-3", Kind: reports.OverBudget, Key: "max"},
		{ID: "A-4", Kind: reports.NotApplicable, Key: "n"}, {ID: "A-5"},
	}})
	var said []string
	for _, c := range append(o.LeftOut(true), o.LeftOut(false)...) {
		said = append(said, c.What+": "+overview.Names(c.Requirements))
	}
	assert.Equal(t, []string{"over budget: raise max: A-2, A-3", "not configured: set k: A-1", "no cause recorded: A-5", "not applicable: n: A-4"}, said)
}

func TestReplayCommand(t *testing.T) {
	for arguments, want := range map[string]string{ // separated by "|"
		"run|--only|CP-*|--config=v.yaml|--out|o": "agentconform replay 3f2a --config v.yaml --result o/result.json",
		"run|--target|http://h:1/p|--strict":      "agentconform replay 3f2a --target http://h:1/p",
		"run|--config":                            "agentconform replay 3f2a --config FILE",
		"run|--config=a;reboot|--out|$(o)":        "agentconform replay 3f2a --config 'a;reboot' --result '$(o)/result.json'",
		"run|--config|a\x1b[31m":                  "agentconform replay 3f2a --config FILE",
	} {
		r := &reports.Result{Run: reports.Run{Command: "agentconform run --config other.yaml", Arguments: strings.Split(arguments, "|")}}
		assert.Equal(t, want, overview.Of(r).ReplayCommand(&reports.Finding{ID: "3f2a"}), arguments)
	}
	assert.Equal(t, "agentconform replay '$(reboot)' --config FILE", overview.Of(&reports.Result{}).ReplayCommand(&reports.Finding{ID: "$(reboot)"}))
}
