package compare_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// shards deals the requirements of the faulty run out to n results. The contract's go to each of them, because
// each has seen some of the answers.
func shards(n int) []*reports.Result {
	var all []*reports.Result
	for i := range n {
		s := recorded.Faulty()
		s.Run.Shard, s.Run.ID = fmt.Sprintf("%d/%d", i+1, n), fmt.Sprintf("run-%d", i+1)
		s.Run.StartedAt = s.Run.StartedAt.Add(time.Duration(i) * time.Second)
		var mine []reports.Requirement
		for k, q := range recorded.Faulty().Requirements {
			if contract := q.ID == "CP-CONTRACT-list-revisions"; k%n == i || contract {
				if contract && i > 0 { // it saw no fault
					recorded.Pass(&q)
				}
				mine = append(mine, q)
			}
		}
		s.Requirements = mine
		s.Verdict, s.Counts.Cases = reports.Conclude(mine, false), 0
		reports.Tally(s)
		all = append(all, s)
	}
	return all
}

func TestMerge(t *testing.T) {
	parts := shards(3)
	m, err := compare.Merge(parts[2], parts[0], parts[1])
	require.NoError(t, err)
	want := recorded.Faulty()
	assert.Len(t, m.Requirements, len(want.Requirements))
	assert.Equal(t, want.Verdict, m.Verdict)
	assert.Equal(t, want.Counts.Requirements, m.Counts.Requirements, "the worst of its scenarios, wherever they ran")
	for _, q := range m.Requirements {
		assert.NotEmpty(t, q.Scenarios)
		if q.Verdict != reports.Passed {
			assert.NotEmpty(t, q.Reason, q.ID)
			assert.Equal(t, recorded.Requirement(want, q.ID).Skip, q.Skip, q.ID)
			assert.Equal(t, recorded.Requirement(want, q.ID).BlockedBy, q.BlockedBy, q.ID)
		}
	}
	assert.Equal(t, want.Counts.Cases, m.Counts.Cases, "a scenario that several shards run is one case")
	assert.Equal(t, int64(3141+2000), m.Run.DurationMS)
	assert.Empty(t, m.Run.Shard)
	n := want.Exchanges.Len()
	assert.Equal(t, 3*n, m.Exchanges.Len())
	x, err := m.Exchanges.Get(n + 1)
	require.NoError(t, err)
	first, err := parts[1].Exchanges.Get(1)
	require.NoError(t, err)
	assert.Equal(t, first.URL, x.URL)
	assert.Equal(t, n+1, x.ID)
	assert.Equal(t, first.AtMS+1000, x.AtMS)
	_, err = m.Exchanges.Get(3*n + 1)
	assert.ErrorContains(t, err, fmt.Sprint("no exchange ", 3*n+1))
	assert.Len(t, m.Findings, len(want.Findings), "the same finding is one")
	for _, f := range m.Findings {
		if f.ID == want.Findings[0].ID {
			assert.Equal(t, 3*want.Findings[0].Count, f.Count)
		}
	}

	var b bytes.Buffer
	require.NoError(t, m.WriteJSON(&b))
	reporttest.Schema(t, reporttest.StrictResultSchema(t), b.Bytes())
}

func TestMergeKeepsTheCauseOfTheWorstScenario(t *testing.T) {
	a, b := recorded.Conformant(), recorded.Conformant()
	a.Run.Shard, b.Run.Shard = "1/2", "2/2"
	skip, by := reports.Skip{Kind: reports.NotConfigured, Key: "users"}, reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"}
	recorded.Skip(recorded.Requirement(a, "CP-LIST-6"), skip, "not configured")
	recorded.Block(recorded.Requirement(b, "CP-LIST-6"), by, "no deployment")
	recorded.Requirement(a, "AS-THREAD-1").Scenarios, recorded.Requirement(b, "AS-THREAD-1").Scenarios = nil, nil
	recorded.Block(recorded.Requirement(b, "AS-THREAD-1"), by, "no deployment")
	m, err := compare.Merge(a, b)
	require.NoError(t, err)
	for _, id := range []string{"CP-LIST-6", "AS-THREAD-1"} {
		q := recorded.Requirement(m, id)
		assert.Equal(t, reports.Blocked, q.Verdict)
		assert.Equal(t, "no deployment", q.Reason)
		assert.Nil(t, q.Skip)
		assert.Equal(t, []reports.Blocker{by}, q.BlockedBy)
		for _, s := range q.Scenarios {
			assert.Nil(t, s.Skip)
			assert.Equal(t, []reports.Blocker{by}, s.BlockedBy)
		}
	}
	assert.Equal(t, reports.NotApplicable, recorded.Requirement(m, "CP-UPDATE-3").Skip.Kind)
}

func TestMergeSetsTheScope(t *testing.T) {
	scoped := func(absent ...reports.NotJudged) []*reports.Result {
		all := []*reports.Result{recorded.Conformant(), recorded.Conformant()}
		for i, s := range all {
			s.Run.Shard = fmt.Sprintf("%d/2", i+1)
			reports.SetScope(s, absent)
			s.NotJudged = slices.DeleteFunc(s.NotJudged, func(n reports.NotJudged) bool { return n.ID == "CP-AUTH-6" })
			s.Requirements = slices.DeleteFunc(s.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-AUTH-6" })
		}
		return all
	}
	elsewhere := reports.NotJudged{ID: "CP-LIST-3", Kind: reports.NotSelected, Key: "--shard"}
	m, err := compare.Merge(scoped(elsewhere)...)
	require.NoError(t, err)
	assert.Equal(t, reports.ScopeWhole, m.Scope, "another shard ran what this one left out")
	assert.Equal(t, []reports.NotJudged{{ID: "CP-UPDATE-3", Kind: reports.NotApplicable, Key: "image_uri"}}, m.NotJudged)
	filtered := reports.NotJudged{ID: "CP-GET-1", Kind: reports.NotSelected, Key: "--only"}
	m, err = compare.Merge(scoped(elsewhere, filtered)...)
	require.NoError(t, err)
	assert.Equal(t, reports.ScopePart, m.Scope)
	assert.Contains(t, m.NotJudged, filtered)
	old := scoped(filtered)
	old[1].Scope = ""
	m, err = compare.Merge(old...)
	require.NoError(t, err)
	assert.Empty(t, m.Scope, "a shard of an older version")
}

// TestMergeTellsTheWords: what one shard saw renamed is renamed, and unused is what none saw used.
func TestMergeTellsTheWords(t *testing.T) {
	parts := shards(2)
	source, status := reports.Renamed{Kind: reports.RenamedField, Name: "source", As: "origin"}, reports.Renamed{Kind: reports.RenamedField, Name: "status", As: "state"}
	parts[0].Renamed, parts[1].Renamed = []reports.Renamed{status}, []reports.Renamed{source, status}
	parts[0].UnusedWords = []reports.UnusedWord{{Name: "git_host", As: "kilnhub"}, {Name: "source", As: "origin"}}
	parts[1].UnusedWords = []reports.UnusedWord{{Name: "git_host", As: "kilnhub", Unchanged: true}}
	m, err := compare.Merge(parts...)
	require.NoError(t, err)
	assert.Equal(t, []reports.Renamed{source, status}, m.Renamed)
	assert.Equal(t, []reports.UnusedWord{{Name: "git_host", As: "kilnhub", Unchanged: true}}, m.UnusedWords)
}

func TestMergeOfWhatNoShardSawIsInconclusive(t *testing.T) {
	a, b := recorded.Conformant(), recorded.Conformant()
	a.Run.Shard, b.Run.Shard = "1/2", "2/2"
	skip := reports.Skip{Kind: reports.NotSelected, Key: "shard"}
	for _, r := range []*reports.Result{a, b} {
		recorded.Skip(recorded.Requirement(r, "AS-CONTRACT-list-threads"), skip, "list-threads was not answered (in this shard)")
	}
	recorded.Skip(recorded.Requirement(a, "CP-CONTRACT-list-revisions"), skip, "not answered (in this shard)")
	m, err := compare.Merge(a, b)
	require.NoError(t, err)
	unseen := recorded.Requirement(m, "AS-CONTRACT-list-threads")
	assert.Equal(t, reports.Inconclusive, unseen.Verdict)
	assert.Equal(t, "list-threads was not answered", unseen.Reason)
	assert.Nil(t, unseen.Skip)
	assert.Equal(t, reports.Passed, recorded.Requirement(m, "CP-CONTRACT-list-revisions").Verdict)
	assert.Equal(t, reports.Incomplete, m.Verdict)
}

// TestMergeTellsWhatAllShardsSay: what is wrong with the target as a whole, and what ended a shard early.
func TestMergeTellsWhatAllShardsSay(t *testing.T) {
	merged := func(change func(i int, s *reports.Result)) *reports.Result {
		all := shards(3)
		for i, s := range all {
			s.Verdict = reports.NonConformant
			change(i, s)
		}
		m, err := compare.Merge(all...)
		require.NoError(t, err)
		return m
	}
	assert.Equal(t, "refused", merged(func(_ int, s *reports.Result) { s.Headline = "refused" }).Headline)
	assert.Equal(t, "shard 1/3: refused 0 times", merged(func(i int, s *reports.Result) { s.Headline = fmt.Sprintf("refused %d times", i) }).Headline)
	assert.Empty(t, merged(func(i int, s *reports.Result) { s.Headline = map[int]string{0: "refused", 1: "refused"}[i] }).Headline, "one shard has nothing to say")
	assert.Equal(t, "Ctrl-C", merged(func(i int, s *reports.Result) { s.Run.Stopped = map[int]string{2: "Ctrl-C"}[i] }).Run.Stopped)
	halves := map[int][]string{0: {"control-plane", "agent-server"}, 1: {"control-plane"}, 2: {"control-plane"}}
	assert.Equal(t, []string{"control-plane"}, merged(func(i int, s *reports.Result) { s.Target.Rejecting = halves[i] }).Target.Rejecting)
}

// TestMergeOfRejectedCredentials: what no shard saw is blocked by them, as in one run.
func TestMergeOfRejectedCredentials(t *testing.T) {
	a, b := recorded.Conformant(), recorded.Conformant()
	a.Run.Shard, b.Run.Shard = "1/2", "2/2"
	key := reports.Blocker{Kind: reports.ByKey, Name: "credentials.api_key"}
	for _, r := range []*reports.Result{a, b} {
		r.Target.Rejecting = []string{"control-plane"}
		recorded.Block(recorded.Requirement(r, "CP-LIST-6"), key, "the target refuses credentials.api_key")
		recorded.Skip(recorded.Requirement(r, "CP-CONTRACT-list-revisions"), reports.Skip{Kind: reports.NotSelected, Key: "shard"}, "not answered (in this shard)")
		recorded.Skip(recorded.Requirement(r, "AS-CONTRACT-list-threads"), reports.Skip{Kind: reports.NotSelected, Key: "shard"}, "not answered (in this shard)")
	}
	m, err := compare.Merge(a, b)
	require.NoError(t, err)
	unseen := recorded.Requirement(m, "CP-CONTRACT-list-revisions")
	assert.Equal(t, reports.Blocked, unseen.Verdict)
	assert.Equal(t, []reports.Blocker{key}, unseen.BlockedBy)
	assert.Equal(t, reports.Inconclusive, recorded.Requirement(m, "AS-CONTRACT-list-threads").Verdict, "the other half accepted its credentials")
}

func TestMergeOfAnInterruptedShardIsIncomplete(t *testing.T) {
	a, b := recorded.Conformant(), recorded.Conformant()
	a.Run.Shard, b.Run.Shard = "1/2", "2/2"
	m, err := compare.Merge(a, b)
	require.NoError(t, err)
	assert.Equal(t, reports.Conformant, m.Verdict)
	b.Verdict, b.Headline = reports.Incomplete, "interrupted"
	m, err = compare.Merge(a, b)
	require.NoError(t, err)
	assert.Equal(t, reports.Incomplete, m.Verdict)
	assert.Equal(t, "Shard 2/2 is incomplete: interrupted", m.Headline)
}

func TestMergeRefuses(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(all []*reports.Result) []*reports.Result
		want  string
	}{
		{"nothing", func([]*reports.Result) []*reports.Result { return nil }, "name the result.json of each shard"},
		{"a whole run", func(all []*reports.Result) []*reports.Result { all[1].Run.Shard = ""; return all }, "result 2 (run-2): not a shard: the run had no --shard"},
		{"a broken shard", func(all []*reports.Result) []*reports.Result { all[0].Run.Shard = "3/2"; return all }, `shard is "3/2", expected the form I/N`},
		{"a missing one", func(all []*reports.Result) []*reports.Result { return all[:1] }, "shard 2/3, 3/3 is missing: name the result.json of every shard"},
		{"an overlap", func(all []*reports.Result) []*reports.Result { all[1].Run.Shard = "1/3"; return all }, "shard 1/3 is given twice (run-1 and run-2)"},
		{"another number", func(all []*reports.Result) []*reports.Result { all[1].Run.Shard = "2/4"; return all }, "another result is a shard of 3"},
		{"another suite", func(all []*reports.Result) []*reports.Result { all[1].Suite.Version = "9"; return all }, "shard 2/3 does not belong to shard 1/3: the version of the suite differs (1.2.0 and 9)"},
		{"another target", func(all []*reports.Result) []*reports.Result { all[2].Target.ControlPlane = "http://other"; return all }, "the control plane differs"},
		{"fail on", func(all []*reports.Result) []*reports.Result { all[1].Run.FailOn = "@security"; return all }, "--fail-on differs"},
		{"supports", func(all []*reports.Result) []*reports.Result { all[1].Target.Supports = []string{"tags"}; return all }, "supports differs"},
		{"strict", func(all []*reports.Result) []*reports.Result { all[2].Run.Strict = true; return all }, "strictness differs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compare.Merge(tt.spoil(shards(3))...)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}
