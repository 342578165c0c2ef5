package reports_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

func TestCauses(t *testing.T) {
	r := &reports.Result{Requirements: []reports.Requirement{
		{ID: "A"}, {ID: "B", ExplainedBy: []string{"A"}}, {ID: "C", ExplainedBy: []string{"B", "D"}}, {ID: "D"},
		{ID: "E", ExplainedBy: []string{"lost"}}, {ID: "F", ExplainedBy: []string{"G"}}, {ID: "G", ExplainedBy: []string{"F"}},
	}}
	causes := map[string][]string{}
	for i := range r.Requirements {
		for _, q := range reports.Causes(r, &r.Requirements[i]) {
			causes[r.Requirements[i].ID] = append(causes[r.Requirements[i].ID], q.ID)
		}
	}
	assert.Equal(t, map[string][]string{"A": {"A"}, "B": {"A"}, "C": {"A", "D"}, "D": {"D"}, "E": {"E"}}, causes, "a circle, of another suite, has none")
}

func TestSameCause(t *testing.T) {
	skipped := func(s *reports.Skip) *reports.Requirement {
		return &reports.Requirement{Verdict: reports.Skipped, Reason: "the same text", Skip: s}
	}
	blocked := func(v reports.Verdict, by ...reports.Blocker) *reports.Requirement {
		return &reports.Requirement{Verdict: v, Reason: "the same text", BlockedBy: by}
	}
	users, threads := &reports.Skip{Kind: reports.NotConfigured, Key: "users"}, &reports.Skip{Kind: reports.NotConfigured, Key: "threads"}
	fixture, key := reports.Blocker{Kind: reports.ByFixture, Name: "x"}, reports.Blocker{Kind: reports.ByKey, Name: "x"}
	tests := []struct {
		name string
		a, b *reports.Requirement
		want bool
	}{
		{"the same skip", skipped(users), skipped(&reports.Skip{Kind: reports.NotConfigured, Key: "users"}), true},
		{"another key", skipped(users), skipped(threads), false},
		{"no skip is known", skipped(nil), skipped(nil), false},
		{"one skip is known", skipped(users), skipped(nil), false},
		{"the same blocker", blocked(reports.Blocked, fixture), blocked(reports.Blocked, fixture), true},
		{"another kind", blocked(reports.Blocked, fixture), blocked(reports.Blocked, key), false},
		{"one more", blocked(reports.Blocked, fixture), blocked(reports.Blocked, fixture, key), false},
		{"another verdict", blocked(reports.Blocked, fixture), blocked(reports.Inconclusive, fixture), false},
		{"no blocker is known", blocked(reports.Blocked), blocked(reports.Blocked), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, reports.SameCause(tt.a, tt.b))
			assert.Equal(t, tt.want, reports.SameCause(tt.b, tt.a))
		})
	}
}

func TestLeftOut(t *testing.T) {
	skipped := func(l reports.Level, s *reports.Skip) reports.Requirement {
		return reports.Requirement{Level: l, Verdict: reports.Skipped, Skip: s}
	}
	passed := reports.Requirement{Level: reports.Must, Verdict: reports.Passed}
	of := func(kind reports.SkipKind) *reports.Skip { return &reports.Skip{Kind: kind} }
	all := []reports.Requirement{passed, skipped(reports.Must, of(reports.NotApplicable))}
	assert.True(t, reports.Whole(&reports.Result{Requirements: all}))
	for _, kind := range reports.SkipKinds {
		r := &reports.Result{Requirements: append(all[:2:2], skipped(reports.Must, of(kind)))}
		reports.SetScope(r, nil)
		assert.Equal(t, kind == reports.NotApplicable, reports.Whole(r), kind)
	}
	should := &reports.Result{Requirements: append(all[:2:2], skipped(reports.Should, of(reports.NotConfigured)))}
	reports.SetScope(should, nil)
	assert.False(t, reports.Whole(should), "a SHOULD that was left out makes a part, too")
	assert.Equal(t, 1, should.LeftOut())
}

func TestScope(t *testing.T) {
	skipped := func(id string, s reports.Skip) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Skipped, Skip: &s}
	}
	passed := reports.Requirement{ID: "A-1", Level: reports.Must, Verdict: reports.Passed}
	r := &reports.Result{Requirements: []reports.Requirement{passed, skipped("A-2", reports.Skip{Kind: reports.NotApplicable})}}
	reports.SetScope(r, nil)
	assert.Equal(t, reports.ScopeWhole, r.Scope)
	assert.Equal(t, []reports.NotJudged{{ID: "A-2", Kind: reports.NotApplicable}}, r.NotJudged, "listed, and no part")
	r.Run.Whole = true
	assert.Equal(t, reports.Conformant, reports.ConcludeRun(r))

	reports.SetScope(r, []reports.NotJudged{{ID: "A-3", Kind: reports.NotSelected, Key: "--only"}})
	assert.Equal(t, reports.ScopePart, r.Scope)
	assert.Equal(t, reports.Incomplete, reports.ConcludeRun(r))
	r.Run.Whole = false
	assert.Equal(t, reports.Conformant, reports.ConcludeRun(r))
	r.Run.Whole = true
	r.Requirements = append(r.Requirements, reports.Requirement{ID: "A-4", Level: reports.Must, Verdict: reports.Failed})
	assert.Equal(t, reports.NonConformant, reports.ConcludeRun(r), "a failure is one in a part too")
}

func TestBrokenClaims(t *testing.T) {
	skipped := func(kind reports.SkipKind) reports.Requirement {
		return reports.Requirement{ID: string(kind), Level: reports.Must, Verdict: reports.Skipped, Claimed: "tags", Skip: &reports.Skip{Kind: kind}}
	}
	r := &reports.Result{Requirements: []reports.Requirement{
		{ID: "passed", Verdict: reports.Passed, Claimed: "tags"}, {ID: "failed", Verdict: reports.Failed, Claimed: "tags"},
		{ID: "blocked", Verdict: reports.Blocked, Claimed: "tags"}, {ID: "inconclusive", Verdict: reports.Inconclusive, Claimed: "tags"},
		{ID: "unclaimed", Verdict: reports.Blocked},
	}}
	for _, kind := range reports.SkipKinds {
		r.Requirements = append(r.Requirements, skipped(kind))
	}
	var ids []string
	for _, q := range reports.BrokenClaims(r) {
		ids = append(ids, q.ID)
	}
	assert.ElementsMatch(t, []string{"blocked", "inconclusive", string(reports.NotConfigured), string(reports.OverBudget)}, ids)

	r = &reports.Result{Requirements: []reports.Requirement{skipped(reports.NotApplicable)}}
	assert.Empty(t, reports.BrokenClaims(r), "claimed with a profile")
	r.Target.Supports = []string{"tags"}
	assert.Len(t, reports.BrokenClaims(r), 1, "named, and nothing of it applies")
	r.Requirements = append(r.Requirements, reports.Requirement{ID: "passed", Verdict: reports.Passed, Claimed: "tags"})
	assert.Empty(t, reports.BrokenClaims(r), "some of it applies")
}

func TestWhatMakesARunIncomplete(t *testing.T) {
	passed := reports.Requirement{ID: "A-1", Level: reports.Must, Verdict: reports.Passed}
	known := reports.Requirement{ID: "A-2", Level: reports.Must, Verdict: reports.Failed, Known: &reports.Known{Reason: "old"}}
	for name, change := range map[string]func(*reports.Result){
		"stopped": func(r *reports.Result) { r.Run.Stopped = "Ctrl-C" },
		"unseen":  func(r *reports.Result) { r.Unseen = []string{"agent-server"} },
		"claimed, blocked": func(r *reports.Result) {
			r.Requirements = append(r.Requirements, reports.Requirement{ID: "A-4", Level: reports.Should, Verdict: reports.Blocked, Claimed: "tags"})
		},
		"claimed, not configured": func(r *reports.Result) {
			r.Requirements = append(r.Requirements, reports.Requirement{ID: "A-4", Level: reports.May, Verdict: reports.Skipped, Claimed: "tags", Skip: &reports.Skip{Kind: reports.NotConfigured, Key: "x"}})
		},
		"not nearly": func(r *reports.Result) {
			r.Run.Whole, r.Scope, r.NotJudged = true, reports.ScopePart, []reports.NotJudged{{ID: "A-3", Kind: reports.NotSelected}}
		},
	} {
		r := &reports.Result{Requirements: []reports.Requirement{passed}, Scope: reports.ScopeWhole}
		assert.Equal(t, reports.Conformant, reports.ConcludeRun(r), name)
		change(r)
		assert.Equal(t, reports.Incomplete, reports.ConcludeRun(r), name)
		r.Requirements = append(r.Requirements, known)
		assert.Equal(t, reports.NonConformant, reports.ConcludeRun(r), name)
		r.Verdict = reports.NonConformant
		assert.Equal(t, reports.Incomplete, reports.ConcludeKnown(r), "%s: a baseline does not make up for it", name)
	}
}
