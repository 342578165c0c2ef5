package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// readOnly is a whole configuration for the vendor's target, of which the run only reads the vendor's deployment.
func readOnly(t *testing.T, v *vendor) *config.Config {
	t.Helper()
	c := config.Default()
	describe(&c, v.Server)
	c.AgentTarget = ""
	c.Existing.Deployment = v.deployment
	c.ReadOnly = true
	require.NoError(t, c.Complete())
	return &c
}

// writes are the requests that arrived and may have changed something.
func (v *vendor) writes() (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, request := range v.requests {
		method, path, _ := strings.Cut(request, " ")
		if method != http.MethodGet && !(method == http.MethodPost && strings.HasSuffix(path, "/threads/search")) {
			all = append(all, request)
		}
	}
	return all
}

// TestAReadOnlyRunWritesNothing counts at the target what arrives there.
func TestAReadOnlyRunWritesNothing(t *testing.T) {
	t.Parallel()
	for _, revisions := range []int{1, 3} {
		v := startVendor(t, revisions)
		c := readOnly(t, v)
		r := judge(t, c)
		assert.Empty(t, v.writes())
		assert.NotEmpty(t, v.requests)
		t.Logf("%d requirements judged, %d requests, %d writes, with a deployment of %d revisions", judgedIn(r), len(v.requests), len(v.writes()), revisions)
		assert.GreaterOrEqual(t, judgedIn(r), 30)
		assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
		assert.Equal(t, reports.ScopePart, r.Scope)
		assert.Empty(t, r.Ledger)
		assert.Empty(t, r.Unseen)
		left := 0
		for _, q := range r.Requirements {
			require.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
			if q.Skip != nil && *q.Skip == (reports.Skip{Kind: reports.NotSelected, Key: "--read-only"}) {
				left++
			}
		}
		assert.Positive(t, left)
		for _, id := range []string{"AS-AUTH-1", "AS-AUTH-2", "AS-AUTH-3", "AS-AUTH-5", "CP-AUTH-1", "CP-AUTH-5", "CP-GET-1", "CP-REV-2", "CP-LIST-3", "CP-LIST-6", "CP-LIST-9"} {
			if id == "CP-LIST-6" && revisions == 1 {
				continue // one revision has no pages
			}
			at := slices.IndexFunc(r.Requirements, func(q reports.Requirement) bool { return q.ID == id })
			assert.Equal(t, reports.Passed, r.Requirements[at].Verdict, "%s: %s", id, r.Requirements[at].Reason)
		}
	}
}

// TestAReadOnlyRunOfAnAgentServer reads what needs no thread of the run's own.
func TestAReadOnlyRunOfAnAgentServer(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	c := readOnly(t, v)
	c.Target, c.AgentTarget, c.Existing = "", v.AgentURL(), config.Existing{}
	r := judge(t, c)
	assert.Empty(t, v.writes())
	assert.GreaterOrEqual(t, judgedIn(r), 8)
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	for _, q := range r.Requirements {
		assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
	}
	t.Logf("%d requirements judged, %d requests, %d writes", judgedIn(r), len(v.requests), len(v.writes()))
}

// TestWhatAReadOnlyRunLeavesOutWrites holds the tags to what scenarios send: a scenario that is left
// out for --read-only has sent a write in a whole run, or uses what was created for it. The other way is held by the
// client, which sends no write in a run that only reads.
func TestWhatAReadOnlyRunLeavesOutWrites(t *testing.T) {
	t.Parallel()
	short := judge(t, readOnly(t, startVendor(t, 3)))
	whole := judgedWhole(t).result
	wrote := map[string]bool{}
	for _, q := range whole.Requirements {
		for _, s := range q.Scenarios {
			key := s.URI + "\n" + s.Name
			wrote[key] = len(s.Fixtures) > 0 || len(s.Exchanges) == 0 // none: the record is judged, or the scenario is skipped
			for _, id := range s.Exchanges {
				x, err := whole.Exchange(id)
				require.NoError(t, err)
				wrote[key] = wrote[key] || x.Method != http.MethodGet
			}
		}
	}
	left := 0
	for _, q := range short.Requirements {
		for _, s := range q.Scenarios {
			if s.Skip == nil || s.Skip.Key != "--read-only" {
				continue
			}
			left++
			assert.True(t, wrote[s.URI+"\n"+s.Name], "%s %s is left out, and writes nothing", q.ID, s.Name)
		}
	}
	assert.Greater(t, left, 100)
}
