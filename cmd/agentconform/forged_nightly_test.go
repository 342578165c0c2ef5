//go:build nightly

package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
