package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps"
)

// runUntil judges the reference with faults, until an event of the run satisfies its condition: all requirements, or only some.
func runUntil(t *testing.T, until func(steps.Event) bool, only []string, names ...string) *reports.Result {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	o := options(t, startWith(t, names...), only...)
	o.Progress = func(e steps.Event) {
		if until(e) {
			stop(&steps.Stopped{By: "the test"})
		}
	}
	res, err := steps.Run(ctx, o)
	require.NoError(t, err)
	return res
}

// ended tells whether a scenario of the requirement has ended.
func ended(requirement string) func(steps.Event) bool {
	return func(e steps.Event) bool { return e.Kind == steps.Ended && e.Text == requirement }
}

// TestWhatARunHasSeenIsJudged stops the run when a violation of the contract was recorded. It has failed then, whatever else was not
// judged.
func TestWhatARunHasSeenIsJudged(t *testing.T) {
	t.Parallel()
	res := runUntil(t, ended("CP-CREATE-1"), []string{"CP-CREATE-*", "CP-POLL-*", "CP-CONTRACT-*"}, "created-build-on-push-is-a-text")
	assert.Equal(t, reports.NonConformant, res.Verdict)
	assert.Equal(t, exitNonConformant, concluded(res, nil))
	assert.Equal(t, "the test", res.Run.Stopped)
	q := slices.IndexFunc(res.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-CONTRACT-create-deployment" })
	assert.Equal(t, reports.Failed, res.Requirements[q].Verdict)
}

// TestWhatARunHasNotSeenIsNotPassed stops a run in which nothing is wrong. No rule about all answers has passed then.
func TestWhatARunHasNotSeenIsNotPassed(t *testing.T) {
	t.Parallel()
	res := runUntil(t, func(e steps.Event) bool { return e.Kind == steps.Ended }, nil)
	assert.Equal(t, reports.Incomplete, res.Verdict)
	assert.Equal(t, exitIncomplete, concluded(res, nil))
	assert.Equal(t, "the test", res.Run.Stopped)
	assert.Contains(t, overview.Of(res).FirstLine(), ": stopped by the test; ")
	for _, q := range res.Requirements {
		assert.NotEqual(t, reports.Failed, q.Verdict, q.ID)
		if strings.Contains(q.ID, "-CONTRACT-") || strings.Contains(q.ID, "-ERROR-") {
			assert.Equal(t, reports.Inconclusive, q.Verdict, q.ID)
			assert.Equal(t, []reports.Blocker{{Kind: reports.ByRun, Name: "ended"}}, q.BlockedBy, q.ID)
		}
	}
}

// TestTheRecordIsJudgedToItsEnd stops the run when the first rule about all answers begins: by then all was seen.
func TestTheRecordIsJudgedToItsEnd(t *testing.T) {
	t.Parallel()
	res := runUntil(t, func(e steps.Event) bool { return e.Kind == steps.Started && strings.Contains(e.Text, "-CONTRACT-") },
		[]string{"CP-GET-*", "CP-LIST-*", "CP-CONTRACT-*", "AS-THREAD-*", "AS-RUN-*", "AS-CONTRACT-*"})
	assert.Equal(t, reports.Conformant, res.Verdict)
	assert.Empty(t, res.Run.Stopped)
}
