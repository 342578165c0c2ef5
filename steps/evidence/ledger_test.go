package evidence_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/evidence"
)

func TestLedgerSurvivesRunsAndCrashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	first, err := evidence.OpenLedger(path, "one", "http://a")
	require.NoError(t, err)
	require.NoError(t, first.Created("deployment", "a", "scenario 1"))
	require.NoError(t, first.Created("deployment", "b", "scenario 2"))
	require.NoError(t, first.Created("deployment", "b", "seen again"))
	require.NoError(t, first.Removed("deployment", "a"))
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

func TestReadLedgerRefusesWhatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("hello\nworld\n"), 0o600))
	_, _, err := evidence.ReadLedger(path)
	require.ErrorContains(t, err, "x:1 is not a ledger entry")
	_, err = evidence.OpenLedger(path, "run", "")
	require.Error(t, err, "a file that is something else is not overwritten")
	_, _, err = evidence.ReadLedger(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestGarbageInALedgerHidesNothingElse wants every line to stay where one cannot be read.
func TestGarbageInALedgerHidesNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	entry := func(id string) string {
		return `{"run":"one","target":"http://a","kind":"deployment","id":"` + id + `","created_by":"s","removed":false}` + "\n"
	}
	text := entry("a") + "garbage " + strings.Repeat("x", 2<<20) + "\n\n" + entry("b") + "{}\n" + `{"run":"one","ki`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	ledger, err := evidence.OpenLedger(path, "two", "http://a")
	require.NoError(t, err)
	require.NoError(t, ledger.Removed("deployment", "a"))
	require.NoError(t, ledger.Close())

	left, damaged, err := evidence.ReadLedger(path)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.Equal(t, "b", left[0].ID)
	require.Len(t, damaged, 2)
	assert.Equal(t, 2, damaged[0].Line)
	assert.Equal(t, evidence.Damaged{Line: 5, Text: "{}"}, damaged[1])
}
