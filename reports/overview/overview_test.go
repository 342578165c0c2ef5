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

func TestRemaining(t *testing.T) {
	claimed := reporttest.Conformant()
	claimed.Requirement("CP-AUTH-6").Claimed = "tenants"
	must := func(v reports.Verdict) reports.Requirement {
		return reports.Requirement{Level: reports.Must, Verdict: v}
	}
	known, warned := must(reports.Failed), must(reports.Failed)
	known.ID, known.Known, warned.Level = "A-1", &reports.Known{}, reports.Should
	for want, r := range map[string]*reports.Result{
		"10 MUSTs with 7 causes; 116 of 131 requirements not judged":                          reporttest.Faulty(),
		"none; 1 of 12 requirements not judged":                                               reporttest.Conformant(),
		"no MUST was judged":                                                                  {},
		"2 MUSTs (1 in the baseline)":                                                         {Requirements: []reports.Requirement{known, must(reports.Failed)}},
		"all MUSTs pass, 1 SHOULD not met":                                                    {Requirements: []reports.Requirement{must(reports.Passed), warned}},
		"claimed and not judged: tenants (set other_tenant); 1 of 12 requirements not judged": claimed,
	} {
		assert.Equal(t, want, overview.Of(r).Remaining())
	}
}

// TestCauses checks that requirements are grouped by typed causes only, and not by texts.
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
		"the blocker has the reason": {"A-1 after it, B-1 y.", map[string][]reports.Blocker{"A-1": {by("B-1")}, "B-1": {fixture("g")}}, []string{"A-1, B-1: y"}},
		"one address":                {"A-1 GET: refused, A-2 POST: refused", map[string][]reports.Blocker{"A-1": {target}, "A-2": {target}}, []string{"A-1, A-2: GET: refused"}},
		"only texts":                 {"A-1 refused, A-2 refused", nil, []string{"A-1: refused", "A-2: refused"}},
		"no reason":                  {"A-1 ", nil, []string{"A-1: no reason was recorded"}},
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
				got = append(got, overview.Names(cause.Requirements)+": "+cause.Reason)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestSkipCauses(t *testing.T) {
	skip := func(id string, kind reports.SkipKind, key string) reports.NotJudged {
		return reports.NotJudged{ID: id, Skip: reports.Skip{Kind: kind, Key: key}}
	}
	o := overview.Of(&reports.Result{NotJudged: []reports.NotJudged{
		skip("A-1", reports.NotConfigured, "k"), skip("A-2", reports.OverBudget, "max"), skip("A-3", reports.OverBudget, "max"),
		skip("A-4", reports.NotApplicable, "n"), {ID: "A-5"},
	}})
	var got [][]string
	for _, c := range append(o.NotJudgedCauses(), o.NotApplicableCauses()...) {
		got = append(got, []string{c.Requirements[0].Skip.Key, overview.Names(c.Requirements)})
	}
	assert.Equal(t, [][]string{{"max", "A-2, A-3"}, {"k", "A-1"}, {"", "A-5"}, {"n", "A-4"}}, got)
}
