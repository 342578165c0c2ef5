package main

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
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

// allBut are the capabilities without some, and without images: the reference deploys from git here.
func allBut(names []string) (words []string) {
	for _, c := range features.Capabilities() {
		if !slices.Contains(names, c.Name) && c.Name != "images" {
			words = append(words, c.Name)
		}
	}
	return words
}

// TestWhatIsNotClaimedIsNotJudged_Long leaves each capability out of the claim of the reference, three at a time: their requirements are
// not claimed, each for its own capability, and all others are judged as without a claim.
func TestWhatIsNotClaimedIsNotJudged_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("whole runs")
	}
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
	of := map[string]string{"CP-UPDATE-3": "images"} // the capability of each requirement
	var optional []string
	for _, c := range features.Capabilities() {
		if !c.Core {
			optional = append(optional, c.Name)
			for _, id := range c.Requirements {
				of[id] = c.Name
			}
		}
	}
	for left := range slices.Chunk(optional, 3) {
		t.Run(strings.Join(left, " "), func(t *testing.T) {
			t.Parallel()
			r := judgeClaiming(t, allBut(left)...)
			assert.Equal(t, reports.Conformant, r.Verdict, overview.FirstLine(r))
			assert.Equal(t, reports.ScopePart, r.Scope)
			for _, q := range r.Requirements {
				if name := of[q.ID]; name == "images" || slices.Contains(left, name) {
					assert.Equal(t, &reports.Skip{Kind: reports.NotClaimed, Key: name}, q.Skip, q.ID)
				} else {
					assert.Equal(t, before[q.ID], q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			}
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
	catalogue, oracle := catalogueAndOracle(t)
	for i, null := range faults.NullImplementations() {
		for n, words := range [][]string{{"control-plane-core"}, {"agent-server-core"}, {"studio", "tenants"}} {
			if testing.Short() && (i > 2 || n > 1) || i > 2 && n > 1 { // the last claim has both cores: each is judged alone before
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
