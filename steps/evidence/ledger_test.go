package evidence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
)

func TestLedgerSurvivesRunsAndCrashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	first, err := evidence.OpenLedger(path, "one", "http://a")
	require.NoError(t, err)
	require.NoError(t, first.Created("deployment", "a", "scenario 1"))
	require.NoError(t, first.Created("deployment", "b", "scenario 2"))
	require.NoError(t, first.Created("deployment", "b", "seen again"))
	require.NoError(t, first.Tried(reports.LedgerEntry{Removed: true, Kind: "deployment", ID: "a"}))
	require.NoError(t, first.Close())
	assert.Len(t, first.Entries(), 2)

	// A crash in the middle of a line.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"run":"one","kind":"depl`)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	second, err := evidence.OpenLedger(path, "two", "http://a")
	require.NoError(t, err)
	require.NoError(t, second.Created("deployment", "c", "scenario 1"))
	require.NoError(t, second.Close())
	left, damaged, err := evidence.ReadLedger(path)
	require.NoError(t, err)
	assert.Empty(t, damaged)
	require.Len(t, left, 2)
	assert.Equal(t, "b", left[0].ID)
	assert.Equal(t, "one", left[0].Run)
	assert.Equal(t, "http://a", left[0].Target)
	assert.Equal(t, "c", left[1].ID)
	assert.Equal(t, "two", left[1].Run)
}

// TestGarbageInALedgerHidesNothingElse checks that all lines remain if one cannot be read.
func TestGarbageInALedgerHidesNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	entry := func(id string) string {
		return `{"run":"one","target":"http://a","kind":"deployment","id":"` + id + `","created_by":"s","removed":false}` + "\n"
	}
	text := entry("a") + "garbage " + strings.Repeat("x", 2<<20) + "\n\n" + entry("b") + "{}\n" + `{"run":"one","ki`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	ledger, err := evidence.OpenLedger(path, "two", "http://a")
	require.NoError(t, err)
	require.NoError(t, ledger.Tried(reports.LedgerEntry{Removed: true, Kind: "deployment", ID: "a"}))
	require.NoError(t, ledger.Close())

	left, damaged, err := evidence.ReadLedger(path)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "b", left[0].ID)
	require.Len(t, damaged, 2)
	assert.Equal(t, 2, damaged[0].Line)
	assert.Equal(t, evidence.Damaged{Line: 5, Text: "{}"}, damaged[1])
}

// TestLedgerHasEachThingOnce adds a deployment twice, the second time with its id in capitals.
func TestLedgerHasEachThingOnce(t *testing.T) {
	ledger, err := evidence.OpenLedger("", "one", "http://a")
	require.NoError(t, err)
	const id = "aaaaaaaa-0000-4000-8000-000000000001"
	require.NoError(t, ledger.Created(evidence.Deployment, id, "s"))
	require.NoError(t, ledger.Created(evidence.Deployment, strings.ToUpper(id), "s"))
	require.Len(t, ledger.Left(evidence.Deployment), 1)
	assert.Equal(t, id, ledger.Left(evidence.Deployment)[0].ID)
}

// TestThreadsOfALedger adds threads and runs, which belong to an address and are removed with their deployment or thread.
func TestThreadsOfALedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	ledger, err := evidence.OpenLedger(path, "one", "http://a")
	require.NoError(t, err)
	thread := func(id, address, deployment string) reports.LedgerEntry {
		return reports.LedgerEntry{Kind: evidence.Thread, ID: id, Address: address, Deployment: deployment, Owner: "users.0"}
	}
	require.NoError(t, ledger.Created("deployment", "d", "s"))
	for _, e := range []reports.LedgerEntry{thread("1", "http://d", "d"), thread("1", "http://c", ""), thread("2", "http://c", ""), thread("3", "http://c", ""),
		{Kind: evidence.Run, ID: "1", Thread: "2", Address: "http://c"}, {Kind: evidence.Run, ID: "1", Thread: "3", Address: "http://c"}} {
		require.NoError(t, ledger.Add(e))
		require.NoError(t, ledger.Add(e), "the second time it is known")
	}
	require.NoError(t, ledger.Tried(reports.LedgerEntry{Removed: true, Kind: evidence.Deployment, ID: "d", Address: "http://a"}))
	gone := thread("2", "http://c", "")
	gone.Removed = true
	require.NoError(t, ledger.Tried(gone))
	stays := thread("3", "http://c", "")
	stays.Reason, stays.Unremovable = "status 405", true
	require.NoError(t, ledger.Tried(stays))
	require.NoError(t, ledger.Close())
	left := map[string]string{}
	for _, e := range ledger.Entries() {
		if !e.Removed {
			left[e.Kind+" "+e.ID+" "+e.Thread+" at "+e.Address] = e.Reason
		}
	}
	assert.Equal(t, map[string]string{"thread 1  at http://c": "", "thread 3  at http://c": "status 405", "run 1 3 at http://c": ""}, left)

	read, _, err := evidence.ReadLedger(path)
	require.NoError(t, err)
	require.Len(t, read, 2, "a run goes with its thread")
	assert.Equal(t, evidence.Left{Run: "one", Target: "http://a", LedgerEntry: thread("1", "http://c", "")}, read[0])
	assert.True(t, read[1].Unremovable)

	next, err := evidence.OpenLedger(path, "two", "http://a")
	require.NoError(t, err)
	require.NoError(t, next.Close())
	read, _, err = evidence.ReadLedger(path)
	require.NoError(t, err)
	require.Len(t, read, 1, "what the target cannot remove does not stay for ever")
	assert.Equal(t, "1", read[0].ID)
}
