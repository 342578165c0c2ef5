package overview_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestHeadline(t *testing.T) {
	claimed := reporttest.Conformant()
	claimed.Requirement("CP-AUTH-6").Claimed = "tenants"
	must := func(v reports.Verdict) reports.Requirement {
		return reports.Requirement{Level: reports.Must, Verdict: v}
	}
	known, warned, open := must(reports.Failed), must(reports.Failed), must(reports.Blocked)
	known.ID, known.Known, warned.Level, open.ID, open.Reason = "A-1", &reports.Known{}, reports.Should, "A-2", "no thread."
	for want, r := range map[string]*reports.Result{
		"no requirement was tested": {},
		"2 problems, 2 of 2 MUSTs failed, 1 in the baseline (0 of 2 requirements passed)": {Requirements: []reports.Requirement{known, must(reports.Failed)}},
		"1 problem, 1 of 1 MUST passed, 1 SHOULD failed (1 of 2 requirements passed)":     {Requirements: []reports.Requirement{must(reports.Passed), warned}},
		"1 of 2 MUSTs passed, 1 could not tell (1 of 2 requirements passed); A-2: no thread": {
			Requirements: []reports.Requirement{must(reports.Passed), open}},
		"10 of 12 requirements tested, no MUST failed; claimed and not tested: tenants (set other_tenant)": claimed,
	} {
		reports.SetProblems(r)
		assert.Equal(t, want, overview.Of(r).Headline())
	}
}

// TestReasons checks that requirements are grouped by their typed causes, and also if their reasons have the same text.
func TestReasons(t *testing.T) {
	fixture := func(name string) reports.Blocker { return reports.Blocker{Kind: reports.ByFixture, Name: name} }
	by := func(id string) reports.Blocker { return reports.Blocker{Kind: reports.ByRequirement, Name: id} }
	target := reports.Blocker{Kind: reports.ByTarget, Name: "http://host"}
	for name, c := range map[string]struct {
		requirements string // "A-1 failed, A-2 reason"
		blockers     map[string][]reports.Blocker
		want         []string
	}{
		"blocked by a failure": {"B-1 x, A-1 failed", map[string][]reports.Blocker{"B-1": {by("A-1")}}, []string{"B-1 (depends on problem 1)"}},
		"blocked by two failures": {"A-1 failed, A-2 failed, B-1 x, B-2 y",
			map[string][]reports.Blocker{"B-1": {by("A-1"), by("A-2")}, "B-2": {by("A-1"), by("A-2")}}, []string{"B-1, B-2 (x)"}},
		"one fixture": {"A-1 x, A-2 no deployment, A-3 another", map[string][]reports.Blocker{"A-2": {fixture("f")}, "A-3": {fixture("f")}},
			[]string{"A-2, A-3 (no deployment)", "A-1 (x)"}},
		"a key":                      {"A-1 refused", map[string][]reports.Blocker{"A-1": {{Kind: reports.ByKey, Name: "users.0.token"}}}, []string{"A-1 (refused)"}},
		"the blocker has the reason": {"A-1 after it, B-1 y.", map[string][]reports.Blocker{"A-1": {by("B-1")}, "B-1": {fixture("g")}}, []string{"A-1, B-1 (y)"}},
		"one address":                {"A-1 GET: refused, A-2 POST: refused", map[string][]reports.Blocker{"A-1": {target}, "A-2": {target}}, []string{"A-1, A-2 (GET: refused)"}},
		"only texts":                 {"A-1 refused, A-2 refused", nil, []string{"A-1, A-2 (refused)"}},
		"a reason that was cut":      {"A-1 status 401 with ...", nil, []string{"A-1 (status 401 with ...)"}},
		"no reason":                  {"A-1 ", nil, []string{"A-1 (no reason was recorded)"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reports.Result{}
			for each := range strings.SplitSeq(c.requirements, ", ") {
				id, reason, _ := strings.Cut(each, " ")
				q := reports.Requirement{ID: id, Verdict: reports.Blocked, Reason: reason, BlockedBy: c.blockers[id]}
				if reason == "failed" {
					q.Verdict = reports.Failed
				}
				r.Requirements = append(r.Requirements, q)
			}
			reports.SetProblems(r)
			var got []string
			for _, reason := range overview.Of(r).CouldNotTell() {
				got = append(got, reason.String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestNotTested(t *testing.T) {
	skip := func(id string, kind reports.SkipKind, key string) reports.NotJudged {
		return reports.NotJudged{ID: id, Skip: reports.Skip{Kind: kind, Key: key}}
	}
	o := overview.Of(&reports.Result{NotJudged: []reports.NotJudged{
		skip("A-1", reports.NotConfigured, "k"), skip("A-2", reports.OverBudget, "max"), skip("A-3", reports.OverBudget, "max"),
		skip("A-4", reports.NotApplicable, "n"), {ID: "A-5"}, skip("A-6", reports.NotApplicable, ""), skip("A-7", reports.NotApplicable, ""),
	}, Requirements: []reports.Requirement{
		{ID: "A-6", Verdict: reports.Skipped, Skip: &reports.Skip{Kind: reports.NotApplicable}, Reason: "not applicable: no tags"},
		{ID: "A-7", Verdict: reports.Skipped, Skip: &reports.Skip{Kind: reports.NotApplicable}, Reason: "not applicable: no commits"},
	}})
	var got []string
	for _, reason := range o.NotTested() {
		got = append(got, reason.String())
	}
	assert.Equal(t, []string{"A-2, A-3 (over budget: raise max)", "A-1 (not configured: set k)",
		"A-4 (does not apply to this target: n)", "A-5 (no reason was recorded)", "A-6 (no tags)",
		"A-7 (no commits)"}, got)
}
