package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

func notesOf(r *reports.Result, kind reports.NoteKind) (found []reports.Note) {
	for _, n := range r.Notes {
		if n.Kind == kind {
			found = append(found, n)
		}
	}
	return found
}

// TestThreadsAreRemoved checks that the threads of every user are removed from an agent server that existed before the
// test run. If DELETE is not supported, it is tried once, the result has a note, and the threads remain in the ledger.
func TestThreadsAreRemoved(t *testing.T) {
	t.Parallel()
	for fault, kept := range map[string]bool{"": false, "threads-stay": true} {
		var o reference.Options
		if kept {
			o = withFaults(t, fault)
		}
		_, c := startAgent(t, o)
		run := options(t, c, "AS-THREAD-*", "AS-AUTHZ-1", "AS-RUN-*", "AS-STATE-*", "AS-ROLLBACK-*")
		run.LedgerFile = filepath.Join(t.TempDir(), "ledger.jsonl")
		r, err := steps.Run(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, reports.Conformant, r.Verdict)
		threads, tried := 0, 0
		for _, e := range r.Ledger {
			assert.Equal(t, c.AgentTarget, e.Address)
			assert.Equal(t, !kept, e.Removed, "%s %s", e.Kind, e.ID) // runs are removed with their threads
			if e.Kind == evidence.Thread {
				assert.Equal(t, kept, e.Unremovable)
				threads++
			}
		}
		for _, x := range r.Exchanges {
			if x.Method == http.MethodDelete {
				tried++
			}
		}
		left, _, err := evidence.ReadLedger(run.LedgerFile)
		require.NoError(t, err)
		assert.Greater(t, threads, 50)
		if kept {
			assert.Equal(t, []int{1, threads}, []int{tried, len(left)})
			require.Len(t, notesOf(r, reports.NoteRemoval), 1)
			assert.Contains(t, notesOf(r, reports.NoteRemoval)[0].Text, "405")
			continue
		}
		assert.Empty(t, left)
		assert.Empty(t, r.Notes)
		for _, u := range c.Users {
			assert.Empty(t, send(t, "POST", c.AgentTarget+"/threads/search", "Authorization", "Bearer "+u.Token, map[string]int{"limit": 1000}))
		}
	}
}

// TestTwoRunsInOneTenant runs the suite twice at the same time. Both test runs are conformant, and each removes only
// what it created.
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

// TestAStoppedRunIsJudgedByWhatItHasSeen checks that a recorded violation of the contract is a failure, and that no rule
// about all responses has passed.
func TestAStoppedRunIsJudgedByWhatItHasSeen(t *testing.T) {
	t.Parallel()
	ended := func(requirement string) func(target.Event) bool {
		return func(e target.Event) bool { return e.Kind == target.Ended && strings.HasPrefix(e.Text, requirement) }
	}
	judging := func(e target.Event) bool { return e.Kind == target.Started && strings.Contains(e.Text, "-CONTRACT-") }
	for name, c := range map[string]struct {
		until  func(target.Event) bool
		only   []string
		faults []string
		want   reports.Conclusion
		exit   int
	}{
		"a violation": {ended("CP-CREATE-1"), []string{"CP-CREATE-*", "CP-POLL-*", "CP-CONTRACT-*"},
			[]string{"created-build-on-push-is-a-text"}, reports.NonConformant, exitNonConformant},
		"nothing yet": {ended(""), nil, nil, reports.Incomplete, exitIncomplete},
		"all answers": {judging, []string{"CP-GET-*", "CP-LIST-*", "CP-CONTRACT-*", "AS-THREAD-*", "AS-RUN-*", "AS-CONTRACT-*"},
			nil, reports.Conformant, exitConformant},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			o := options(t, startWith(t, c.faults...), c.only...)
			o.Progress = func(e target.Event) {
				if c.until(e) {
					stop(&steps.Stopped{By: "the test"})
				}
			}
			r, err := steps.Run(ctx, o)
			require.NoError(t, err)
			assert.Equal(t, c.want, r.Verdict)
			assert.Equal(t, c.exit, overview.Of(r).Display().Exit)
			assert.Equal(t, c.want != reports.Conformant, r.Run.Stopped == "the test")
			for _, q := range r.Requirements {
				recorded := strings.Contains(q.ID, "-CONTRACT-") || strings.Contains(q.ID, "-ERROR-")
				switch {
				case q.ID == "CP-CONTRACT-create-deployment" && c.faults != nil:
					assert.Equal(t, reports.Failed, q.Verdict)
				case recorded && c.want == reports.Incomplete:
					assert.Equal(t, []reports.Blocker{{Kind: reports.ByRun, Name: "ended"}}, q.BlockedBy, q.ID)
				}
			}
		})
	}
}

// TestRefusedCreationIsRemoved judges a server that creates a deployment although it refuses the request, and that
// refuses the page after the last deployment.
func TestRefusedCreationIsRemoved(t *testing.T) {
	t.Parallel()
	o := withFaults(t, "refused-creation-is-done")
	o.WrapHTTP = append(o.WrapHTTP, before(func(w http.ResponseWriter, r *http.Request) bool {
		refused := r.URL.Path == "/v2/deployments" && r.Method == http.MethodGet && r.FormValue("offset") != "0"
		if refused {
			w.WriteHeader(http.StatusBadRequest)
		}
		return refused
	}))
	_, c := start(t, o)
	r := judge(t, c, "CP-AUTH-3")
	assert.Equal(t, reports.NonConformant, r.Verdict, r.Headline)
	assert.Greater(t, len(r.Ledger), 1)
	for _, e := range r.Ledger {
		assert.True(t, e.Removed, e.ID)
	}
}
