//go:build nightly

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
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

// TestWhatIsNotClaimedIsNotJudged leaves each capability out of the claim of the reference, three at a time: their
// requirements are not claimed, each for its own capability, and all others are judged as without a claim.
func TestWhatIsNotClaimedIsNotJudged(t *testing.T) {
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

// TestNoNullImplementationConformsByItsCore judges each of them with each core.
func TestNoNullImplementationConformsByItsCore(t *testing.T) {
	t.Parallel()
	for _, null := range faults.NullImplementations() {
		for _, words := range [][]string{{"control-plane-core"}, {"agent-server-core"}} {
			assertTheCoreAloneDoesNotConform(t, null, words)
		}
	}
}
