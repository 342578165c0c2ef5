package main

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// judgeClaiming judges a new reference that claims the words.
func judgeClaiming(t *testing.T, words ...string) *reports.Result {
	t.Helper()
	c := config.Default()
	stop, err := startBundled(t.Context(), &c, "")
	require.NoError(t, err)
	defer stop()
	c.Supports = words
	require.NoError(t, c.Complete())
	return judgeAlone(t, &c)
}

// allBut are the capabilities without one, and without images: the reference deploys from git here.
func allBut(name string) (words []string) {
	for _, c := range features.Capabilities() {
		if c.Name != name && c.Name != "images" {
			words = append(words, c.Name)
		}
	}
	return words
}

// TestWhatIsNotClaimedIsNotJudged_Long leaves each capability out of the claim of the reference: its requirements are not claimed, and
// all others are judged as without a claim.
func TestWhatIsNotClaimedIsNotJudged_Long(t *testing.T) {
	t.Parallel()
	before := map[string]reports.Verdict{}
	for _, q := range judgeClaiming(t).Requirements {
		before[q.ID] = q.Verdict
	}
	whole := judgeClaiming(t, features.ControlPlane, features.AgentServer, features.EndToEnd)
	assert.Equal(t, reports.Conformant, whole.Verdict, overview.FirstLine(whole))
	assert.Equal(t, reports.ScopeWhole, whole.Scope, "all is claimed: %s", overview.FirstLine(whole))
	images := judgeClaiming(t, features.ControlPlane, "images")
	assert.Equal(t, reports.Incomplete, images.Verdict)
	assert.Contains(t, overview.FirstLine(images), "claimed and not judged: images (CP-UPDATE-3 does not apply here: remove images from supports)")
	for i, c := range features.Capabilities() {
		if c.Core || testing.Short() && i > 4 {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			r := judgeClaiming(t, allBut(c.Name)...)
			assert.Equal(t, reports.Conformant, r.Verdict, overview.FirstLine(r))
			assert.Equal(t, reports.ScopePart, r.Scope)
			var unclaimed []string
			for _, q := range r.Requirements {
				if q.Skip != nil && q.Skip.Kind == reports.NotClaimed {
					unclaimed = append(unclaimed, q.ID)
					assert.Contains(t, []string{c.Name, "images"}, q.Skip.Key)
					continue
				}
				assert.Equal(t, before[q.ID], q.Verdict, "%s: %s", q.ID, q.Reason)
			}
			if c.Name != "images" {
				assert.Contains(t, unclaimed, "CP-UPDATE-3")
				unclaimed = slices.DeleteFunc(unclaimed, func(id string) bool { return id == "CP-UPDATE-3" })
			}
			assert.ElementsMatch(t, c.Requirements, unclaimed)
			assert.Contains(t, overview.FirstLine(r), "partial run")
			assert.Contains(t, overview.FirstLine(r), overview.NotClaimed(r))
			t.Logf("%s", overview.FirstLine(r))
		})
	}
}

// TestAClaimThatCannotBeJudgedLeavesTheRunIncomplete: without the claim the run is a conformant part.
func TestAClaimThatCannotBeJudgedLeavesTheRunIncomplete(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]struct {
		verdict reports.Conclusion
		says    string
	}{
		"":              {reports.Conformant, "partial run"},
		"tags":          {reports.Incomplete, "claimed and not judged: tags (set alternatives.tag_ref)"},
		"control-plane": {reports.Incomplete, "claimed and not judged: tags (set alternatives.tag_ref)"},
		"commits":       {reports.Conformant, "2 MUSTs not claimed"},
	} {
		c := config.Default()
		stop, err := startBundled(t.Context(), &c, "")
		require.NoError(t, err)
		c.Alternatives.TagRef = ""
		if claim != "" {
			c.Supports = []string{claim}
		}
		require.NoError(t, c.Complete())
		o := optionsAlone(t, &c)
		o.Select.Only = []string{"CP-CREATE-5", "CP-UPDATE-8", "CP-GET-1"}
		r, err := steps.Run(t.Context(), o)
		stop()
		require.NoError(t, err)
		assert.Equal(t, want.verdict, r.Verdict, claim)
		assert.Contains(t, overview.FirstLine(r), want.says, claim)
	}
}

// TestAClaimBinds: a SHOULD of a capability that is claimed by name fails the run.
func TestAClaimBinds(t *testing.T) {
	t.Parallel()
	for claim, want := range map[string]reports.Conclusion{"": reports.Conformant, features.ControlPlane: reports.Conformant, "tenants": reports.NonConformant} {
		c := startWith(t, false, "other-tenant-lists")
		if claim != "" {
			c.Supports = []string{claim}
		}
		require.NoError(t, c.Complete())
		o := optionsAlone(t, c)
		o.Select.Only = []string{"CP-AUTH-6", "CP-GET-1"}
		r, err := steps.Run(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, want, r.Verdict, "%q: %s", claim, overview.FirstLine(r))
	}
}

// TestTheCoreAloneDoesNotConform_Long: a server that implements nothing, and claims as little as can be claimed, is not conformant.
func TestTheCoreAloneDoesNotConform_Long(t *testing.T) {
	t.Parallel()
	catalogue, err := features.Load()
	require.NoError(t, err)
	oracle, err := spec.New()
	require.NoError(t, err)
	for i, null := range faults.NullImplementations() {
		for n, words := range [][]string{{"control-plane-core"}, {"agent-server-core"}, {"studio", "tenants"}} {
			if testing.Short() && (i > 2 || n > 1) {
				continue
			}
			t.Run(fmt.Sprint(null.Name, words), func(t *testing.T) {
				t.Parallel()
				c := config.Default()
				stop, err := startBundled(t.Context(), &c, "")
				require.NoError(t, err)
				defer stop()
				server := httptest.NewServer(null.Handler())
				defer server.Close()
				defer server.CloseClientConnections()
				c.Target, c.AgentTarget, c.Supports = server.URL, server.URL, words
				c.Timeouts = config.Timeouts{Request: 2 * time.Second, Poll: time.Second, Run: time.Second}
				require.NoError(t, c.Complete())
				r, err := steps.Run(t.Context(), steps.Options{Config: &c, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "null", Journal: reports.NewMemory()})
				require.NoError(t, err)
				assert.NotEqual(t, reports.Conformant, r.Verdict, overview.FirstLine(r))
				judged := slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.Verdict != reports.Skipped })
				assert.True(t, judged, "the core is judged or blocked")
			})
		}
	}
}
