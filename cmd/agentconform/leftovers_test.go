package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// threadsAt counts the threads that each user sees.
func threadsAt(t *testing.T, c *config.Config, agent string) (counts []int) {
	t.Helper()
	for _, u := range c.Users {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, agent+"/threads/search", strings.NewReader(`{"limit":1000}`))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+u.Token)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		var rows []any
		require.NoError(t, json.NewDecoder(a.Body).Decode(&rows))
		require.NoError(t, a.Body.Close())
		counts = append(counts, len(rows))
	}
	return counts
}

// byState counts the entries of a kind that were removed and left.
func byState(r *reports.Result, kind string) (removed, left int) {
	for _, e := range r.Ledger {
		switch {
		case e.Kind == kind && e.Removed:
			removed++
		case e.Kind == kind:
			left++
		}
	}
	return removed, left
}

func notesOf(r *reports.Result, kind reports.NoteKind) (found []reports.Note) {
	for _, n := range r.Notes {
		if n.Kind == kind {
			found = append(found, n)
		}
	}
	return found
}

// TestNoThreadIsLeft wants the threads of every user to be removed at an agent server that was there before the run.
func TestNoThreadIsLeft(t *testing.T) {
	t.Parallel()
	_, c := startAgent(t, reference.Options{})
	r := judge(t, c, "AS-THREAD-*", "AS-AUTHZ-*", "AS-RUN-*", "AS-STATE-*", "AS-ROLLBACK-*")
	require.Equal(t, reports.Conformant, r.Verdict)
	removed, left := byState(r, evidence.Thread)
	assert.Greater(t, removed, 50)
	assert.Zero(t, left)
	_, left = byState(r, evidence.Run)
	assert.Zero(t, left, "runs go with their threads")
	assert.Equal(t, []int{0, 0}, threadsAt(t, c, c.AgentTarget))
	for _, e := range r.Ledger {
		assert.Equal(t, c.AgentTarget, e.Address)
	}
	assert.Empty(t, r.Notes)
}

// TestThreadsStayWhereTheyCannotBeRemoved tries DELETE once.
func TestThreadsStayWhereTheyCannotBeRemoved(t *testing.T) {
	_, c := startAgent(t, withFaults(t, "threads-stay"))
	ledger := filepath.Join(t.TempDir(), "ledger.jsonl")
	o := options(t, c, "AS-THREAD-*", "AS-AUTHZ-1")
	o.LedgerFile = ledger
	r := run(t, o)
	removed, left := byState(r, evidence.Thread)
	assert.Zero(t, removed)
	assert.Positive(t, left)
	tried := 0
	for _, x := range r.Exchanges {
		if x.Method == http.MethodDelete {
			tried++
		}
	}
	assert.Equal(t, 1, tried)
	require.Len(t, notesOf(r, reports.NoteRemoval), 1)
	assert.Contains(t, notesOf(r, reports.NoteRemoval)[0].Text, "405")
	for _, e := range r.Ledger {
		assert.Equal(t, e.Kind == evidence.Thread, e.Unremovable, e.Kind)
	}
	kept, _, err := evidence.ReadLedger(ledger)
	require.NoError(t, err)
	assert.Len(t, kept, left)
}

// TestTwoRunsInOneTenant runs the suite twice at once: both are conformant, and what one created only that one removes.
func TestTwoRunsInOneTenant(t *testing.T) {
	t.Parallel()
	_, c := startAgent(t, reference.Options{})
	var results [2]*reports.Result
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() {
			own := *c
			o := options(t, &own, "AS-THREAD-*", "AS-AUTHZ-*")
			o.ID, o.Seed = fmt.Sprintf("run%d", i), int64(i+1)
			results[i] = run(t, o)
		})
	}
	wait.Wait()
	mine := map[string]int{}
	for i, r := range results {
		assert.Equal(t, reports.Conformant, r.Verdict, overview.Of(r).FirstLine())
		assert.NotEmpty(t, r.Ledger)
		for _, e := range r.Ledger {
			assert.True(t, e.Removed, "%s %s", e.Kind, e.ID)
			if owner, known := mine[e.Kind+e.ID]; known && owner != i {
				t.Errorf("%s %s is in both ledgers", e.Kind, e.ID)
			}
			mine[e.Kind+e.ID] = i
		}
	}
}

// runUntil judges the reference with faults, until an event of the run satisfies its condition: all requirements, or
// only some.
func runUntil(t *testing.T, until func(target.Event) bool, only []string, names ...string) *reports.Result {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	o := options(t, startWith(t, names...), only...)
	o.Progress = func(e target.Event) {
		if until(e) {
			stop(&steps.Stopped{By: "the test"})
		}
	}
	res, err := steps.Run(ctx, o)
	require.NoError(t, err)
	return res
}

// ended tells whether a scenario of the requirement has ended.
func ended(requirement string) func(target.Event) bool {
	return func(e target.Event) bool { return e.Kind == target.Ended && e.Text == requirement }
}

// TestWhatARunHasSeenIsJudged stops the run when a violation of the contract was recorded. It has failed then, whatever
// else was not judged.
func TestWhatARunHasSeenIsJudged(t *testing.T) {
	t.Parallel()
	res := runUntil(t, ended("CP-CREATE-1"), []string{"CP-CREATE-*", "CP-POLL-*", "CP-CONTRACT-*"}, "created-build-on-push-is-a-text")
	assert.Equal(t, reports.NonConformant, res.Verdict)
	assert.Equal(t, exitNonConformant, overview.Of(res).Display().Exit)
	assert.Equal(t, "the test", res.Run.Stopped)
	q := slices.IndexFunc(res.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-CONTRACT-create-deployment" })
	assert.Equal(t, reports.Failed, res.Requirements[q].Verdict)
}

// TestWhatARunHasNotSeenIsNotPassed stops a run in which nothing is wrong. No rule about all answers has passed then.
func TestWhatARunHasNotSeenIsNotPassed(t *testing.T) {
	t.Parallel()
	res := runUntil(t, func(e target.Event) bool { return e.Kind == target.Ended }, nil)
	assert.Equal(t, reports.Incomplete, res.Verdict)
	assert.Equal(t, exitIncomplete, overview.Of(res).Display().Exit)
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
	res := runUntil(t, func(e target.Event) bool { return e.Kind == target.Started && strings.Contains(e.Text, "-CONTRACT-") },
		[]string{"CP-GET-*", "CP-LIST-*", "CP-CONTRACT-*", "AS-THREAD-*", "AS-RUN-*", "AS-CONTRACT-*"})
	assert.Equal(t, reports.Conformant, res.Verdict)
	assert.Empty(t, res.Run.Stopped)
}
