package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// stopping ends the run with the first exchange that satisfies the condition.
type stopping struct {
	*reports.Memory
	when func(reports.Exchange) bool
	stop context.CancelCauseFunc
}

func (s *stopping) Append(x reports.Exchange) (int, error) {
	if s.when(x) {
		s.stop(&steps.Stopped{By: "the test"})
	}
	return s.Memory.Append(x)
}

// trial is what the runs of these tests share.
type trial struct {
	catalogue *features.Catalogue
	oracle    *spec.Oracle
}

func newTrial(t *testing.T) trial {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	return trial{catalogue, oracle}
}

// until judges the reference with a fault, until an exchange or an event of the run satisfies its condition: all
// requirements, or only some.
func (c trial) until(t *testing.T, f faults.Fault, when func(reports.Exchange) bool, or func(steps.Event) bool,
	only ...string,
) *reports.Result {
	t.Helper()
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
	res, err := steps.Run(ctx, steps.Options{Config: &cfg, Catalogue: c.catalogue, Oracle: c.oracle, Seed: 1, ID: "stopped", Version: "test",
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
	names := []string{"unknown-thread-crashes", "begins-as-pending", "created-build-on-push-is-a-text"}
	tried := 0
	for _, f := range faults.All() {
		if slices.Contains(names, f.Name) {
			tried++
			newTrial(t).judgesWhatItSees(t, f, "CP-CREATE-*", "CP-POLL-*", "CP-CONTRACT-*", "AS-THREAD-1", "AS-RUN-3", "AS-ERROR-1")
		}
	}
	assert.Len(t, names, tried)
}

// isError tells whether a fault is seen by the status of a server error.
func isError(f faults.Fault) bool {
	return strings.HasSuffix(f.Fails, "-ERROR-3") || f.Fails == "AS-ERROR-1"
}

// judgesWhatItSees judges all requirements, or only some.
func (c trial) judgesWhatItSees(t *testing.T, f faults.Fault, only ...string) {
	t.Run(f.Name, func(t *testing.T) {
		t.Parallel()
		res := c.until(t, f, func(x reports.Exchange) bool {
			return len(x.Problems) > 0 || isError(f) && x.Status >= 500
		}, noEvent, only...)
		assert.Equal(t, reports.NonConformant, res.Verdict)
		assert.Equal(t, exitNonConformant, concluded(res, nil))
		assert.Equal(t, "the test", res.Run.Stopped)
		var failed []string
		for _, q := range res.Requirements {
			if q.Verdict == reports.Failed {
				failed = append(failed, q.ID)
			}
		}
		assert.Contains(t, failed, f.Fails)
	})
}

// TestWhatARunHasNotSeenIsNotPassed stops a run in which nothing is wrong. No rule about all answers has passed then.
func TestWhatARunHasNotSeenIsNotPassed(t *testing.T) {
	t.Parallel()
	c := newTrial(t)
	res := c.until(t, faults.Fault{}, func(x reports.Exchange) bool { return strings.HasSuffix(x.URL, "/revisions") }, noEvent)
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
	res := newTrial(t).until(t, faults.Fault{}, func(reports.Exchange) bool { return false },
		func(e steps.Event) bool { return e.Kind == steps.Started && strings.Contains(e.Text, "-CONTRACT-") },
		"CP-GET-*", "CP-LIST-*", "CP-CONTRACT-*", "AS-THREAD-*", "AS-RUN-*", "AS-CONTRACT-*")
	assert.Equal(t, reports.Conformant, res.Verdict)
	assert.Empty(t, res.Run.Stopped)
}

func noEvent(steps.Event) bool { return false }
