//go:build nightly

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

type largeFile struct{ command, name, head, repeated, tail string }

// largeFiles repeat something to any size. What they hold is refused, whatever is behind it.
func largeFiles() []largeFile {
	return []largeFile{
		{"compare", "a member", `{"headline":"`, "x", `"}`},
		{"compare", "an unknown member", `{"later":[`, `"x",`, `1]}`},
		{"compare", "a name of a member", `{"`, "x", `":1}`},
		{"compare", "an exchange", `{"exchanges":[{"id":1,"url":"`, "x", `"}]}`},
		{"replay", "empty findings", `{"findings":[`, "{},", "{}]}"},
		{"compare", "empty scenarios", `{"requirements":[{"scenarios":[`, "{},", "{}]}]}"},
		{"compare", "lists in lists", `{"requirements":[{"exchanges":[`, "[[]],", "1]}]}"},
		{"compare", "blanks", `{"schema":`, " ", `"x"}`},
		{"clean", "a line", "", "x", ""},
		{"clean", "an id", entry() + `{"run":"r","kind":"deployment","id":"`, "x", `"}` + "\n"},
		{"clean", "short lines", entry(), "x\n", ""},
		{"run --baseline", "a text", "version: 1 #", "x", "\n"},
		{"run --baseline", "entries", "version: 1\nknown:\n", "- a\n", ""},
	}
}

// sized writes a file of about so many bytes.
func sized(t *testing.T, path, head, repeated, tail string, size int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	file, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriterSize(file, 1<<20)
	_, _ = w.WriteString(head)
	for chunk, n := strings.Repeat(repeated, 1<<14), 0; n < size; n += len(chunk) {
		_, _ = w.WriteString(chunk)
	}
	_, _ = w.WriteString(tail)
	require.NoError(t, w.Flush())
	require.NoError(t, file.Close())
}

// TestLargeForgedFilesCostNoMore reads files that are beyond every bound, and others of twice their size: they cost no
// more memory. It is not parallel: what it allocates is counted.
func TestLargeForgedFilesCostNoMore(t *testing.T) {
	for _, row := range largeFiles() {
		t.Run(row.command+"/"+row.name, func(t *testing.T) {
			s := stage(t)
			var cost [2]uint64
			for i, size := range []int{72 << 20, 144 << 20} {
				path := filepath.Join(s.folder, "large", "file")
				sized(t, path, s.filled(row.head), row.repeated, row.tail, size)
				got := s.execute(argumentsFor(s, row.command, path)...)
				assert.Equal(t, exitUsage, got.code, got.printed)
				assert.Less(t, len(got.printed), 4<<10)
				cost[i] = got.bytes
				t.Logf("%d MB cost %d MB", size>>20, got.bytes>>20)
			}
			assert.Less(t, float64(cost[1]), 1.5*float64(cost[0])+(1<<20), "a larger file costs more")
			assert.Empty(t, s.asked)
		})
	}
}

// argumentsFor is a command with a file that is there.
func argumentsFor(s *scene, command, path string) []string {
	switch command {
	case "compare":
		return []string{"compare", path, path}
	case "replay":
		return []string{"replay", path, "--config", s.config}
	case "clean":
		return []string{"clean", "--config", s.config, "--ledger", path}
	}
	return []string{"run", "--config", s.config, "--only", "CP-LIST-1", "--baseline", path, "--out", filepath.Join(s.folder, "out")}
}

// TestEmptyObjectsAreCountedFirst: a list of empty objects within the bound of a file is short, and would take hundreds
// of times as much memory decoded.
func TestEmptyObjectsAreCountedFirst(t *testing.T) {
	s := stage(t)
	for name, row := range map[string]struct {
		command, head, repeated, tail string
	}{
		"findings":  {"compare", `{"findings":[`, "{},", "{}]}"},
		"nulls":     {"compare", `{"findings":[`, "null,", "{}]}"},
		"scenarios": {"compare", `{"requirements":[{"scenarios":[`, "{},", "{}]}]}"},
	} {
		t.Run(name, func(t *testing.T) {
			path, size := filepath.Join(s.folder, "empty", "file"), 24<<20
			sized(t, path, row.head, row.repeated, row.tail, size)
			got := s.execute(argumentsFor(s, row.command, path)...)
			assert.Equal(t, exitUsage, got.code, got.printed)
			t.Logf("%d MB cost %d MB", size>>20, got.bytes>>20)
			assert.Less(t, got.bytes, uint64(10*size), "a decoded list takes far more than its text")
		})
	}
}

// processorTime is what this process has used: other processes do not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestALedgerIsCleanedInLinearTime reads and cleans 60,000 lines, and an eighth of them: in the manner of a square they
// would take 64 times as long. Nothing is sent, so that the requests do not hide the rest.
func TestALedgerIsCleanedInLinearTime(t *testing.T) {
	s := stage(t)
	cfg, err := config.Load(config.Sources{File: s.config})
	require.NoError(t, err)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	const lines = 60_000
	of := func(n int) (took [3]time.Duration) {
		var b strings.Builder
		for k := range n / 2 {
			b.WriteString(entry("id", fmt.Sprintf("d%d", k)) + thread("id", fmt.Sprintf("t%d", k), "deployment", fmt.Sprintf("d%d", k)))
		}
		path := s.write(t, "ledger.jsonl", s.filled(b.String()))
		began := processorTime(t)
		lap := func(part int) { now := processorTime(t); took[part], began = now-began, now }
		left, damaged, err := evidence.ReadLedger(path)
		require.NoError(t, err)
		require.Len(t, left, n)
		require.Empty(t, damaged)
		lap(0)
		told := 0
		require.ErrorIs(t, steps.Clean(stopped, cfg, left, func(evidence.Left, string) { told++ }), context.Canceled)
		assert.Equal(t, n, told)
		lap(1)
		ledger, err := evidence.ContinueLedger(path)
		require.NoError(t, err)
		for _, e := range left {
			require.NoError(t, ledger.Removed(e.LedgerEntry))
		}
		require.NoError(t, ledger.Close())
		lap(2)
		left, _, err = evidence.ReadLedger(path)
		require.NoError(t, err)
		assert.Empty(t, left)
		return took
	}
	few, all := of(lines/8), of(lines)
	again := of(lines / 8)
	for i, part := range []string{"reading", "cleaning", "noting"} {
		t.Logf("%s: %d lines in %s and %s, %d in %s", part, lines/8, few[i], again[i], lines, all[i])
		assert.Less(t, all[i], 28*max(few[i], again[i])+100*time.Millisecond, part)
	}
	assert.Empty(t, s.asked)
}

// TestForgedIDs puts each id that is no segment of a path where a file has ids.
func TestForgedIDs(t *testing.T) {
	for name, id := range map[string]string{
		"dots": "..", "a dot": ".", "nothing": "", "a line feed": "d\nDELETE", "a NUL": "d\x00", "a backslash": `..\d`, "an escape": "\x1b[2J",
		"9 KB": strings.Repeat("x", 9<<10), "a control character of two bytes": "d\u0085",
	} {
		for _, row := range rowsOfID(name, id) {
			row.give(t)
		}
	}
}
