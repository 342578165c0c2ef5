package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// stopping ends the run with the first exchange that satisfies the condition.
type stopping struct {
	*reports.Memory
	when func(reports.Exchange) bool
	stop context.CancelCauseFunc
}

func (s *stopping) Append(x reports.Exchange) int {
	if s.when(x) {
		s.stop(&steps.Stopped{By: "the test"})
	}
	return s.Memory.Append(x)
}

// runUntil judges the reference with a fault, until an exchange or an event of the run satisfies its condition: all
// requirements, or only some.
func runUntil(t *testing.T, f faults.Fault, when func(reports.Exchange) bool, or func(steps.Event) bool,
	only ...string,
) *reports.Result {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	options := reference.Options{Edition: f.Edition}
	if f.Apply != nil {
		f.Apply(&options)
	}
	server, err := reference.Start(t.Context(), options)
	require.NoError(t, err)
	defer server.Close() //nolint:errcheck // its data is temporary
	cfg := config.Default()
	describe(&cfg, server)
	require.NoError(t, cfg.Complete())
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	res, err := steps.Run(ctx, steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "stopped", Version: "test",
		Select:  steps.Selection{Only: only},
		Journal: &stopping{reports.NewMemory(), when, stop},
		Progress: func(e steps.Event) {
			if or(e) {
				stop(&steps.Stopped{By: "the test"})
			}
		}})
	require.NoError(t, err)
	return res
}

// TestWhatARunHasSeenIsJudged stops the run as soon as the first violation of the contract, or the first server error,
// is recorded. It has failed then, whatever else was not judged.
func TestWhatARunHasSeenIsJudged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"unknown-thread-crashes", "begins-as-pending", "created-build-on-push-is-a-text"} {
		at := slices.IndexFunc(faults.All(), func(f faults.Fault) bool { return f.Name == name })
		require.GreaterOrEqual(t, at, 0, name)
		f := faults.All()[at]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := runUntil(t, f, func(x reports.Exchange) bool {
				return len(x.Problems) > 0 || f.Fails == "AS-ERROR-1" && x.Status >= 500
			}, noEvent,
				"CP-CREATE-*", "CP-POLL-*", "CP-CONTRACT-*", "AS-THREAD-1", "AS-RUN-3", "AS-ERROR-1")
			assert.Equal(t, reports.NonConformant, res.Verdict)
			assert.Equal(t, exitNonConformant, concluded(res, nil))
			assert.Equal(t, "the test", res.Run.Stopped)
			q := slices.IndexFunc(res.Requirements, func(q reports.Requirement) bool { return q.ID == f.Fails })
			assert.Equal(t, reports.Failed, res.Requirements[q].Verdict)
		})
	}
}

// TestWhatARunHasNotSeenIsNotPassed stops a run in which nothing is wrong. No rule about all answers has passed then.
func TestWhatARunHasNotSeenIsNotPassed(t *testing.T) {
	t.Parallel()
	listed := func(x reports.Exchange) bool { return strings.HasSuffix(x.URL, "/revisions") }
	res := runUntil(t, faults.Fault{}, listed, noEvent)
	assert.Equal(t, reports.Incomplete, res.Verdict)
	assert.Equal(t, exitIncomplete, concluded(res, nil))
	assert.Equal(t, "the test", res.Run.Stopped)
	assert.Contains(t, overview.FirstLine(res), ": stopped by the test; ")
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
	res := runUntil(t, faults.Fault{}, func(reports.Exchange) bool { return false },
		func(e steps.Event) bool { return e.Kind == steps.Started && strings.Contains(e.Text, "-CONTRACT-") },
		"CP-GET-*", "CP-LIST-*", "CP-CONTRACT-*", "AS-THREAD-*", "AS-RUN-*", "AS-CONTRACT-*")
	assert.Equal(t, reports.Conformant, res.Verdict)
	assert.Empty(t, res.Run.Stopped)
}

func noEvent(steps.Event) bool { return false }
