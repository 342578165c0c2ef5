package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "out")
	require.NoError(t, export.Write(dir, recorded.Faulty()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Positive(t, info.Size(), e.Name())
		assert.Equal(t, os.FileMode(0o644), info.Mode().Perm())
		names = append(names, e.Name())
	}
	assert.ElementsMatch(t, export.Files(), names, "and no temporary file is left")

	one := t.TempDir()
	require.NoError(t, export.Write(one, recorded.Faulty(), "junit.xml"))
	entries, err = os.ReadDir(one)
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	assert.ErrorContains(t, export.Write(one, recorded.Faulty(), "report.pdf"), `no report "report.pdf"; the reports are result.json`)
	assert.ErrorContains(t, export.Write(filepath.Join(one, "junit.xml"), recorded.Faulty()), "making the folder")
}

func TestWriteLeavesTheOldFileWhenItFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, export.Write(dir, recorded.Conformant(), "result.har"))
	before, err := os.ReadFile(filepath.Join(dir, "result.har"))
	require.NoError(t, err)
	r := recorded.Faulty()
	r.Exchanges = reporttest.NewUnreadable(t)
	assert.ErrorContains(t, export.Write(dir, r, "result.har"), "closed")
	after, err := os.ReadFile(filepath.Join(dir, "result.har"))
	require.NoError(t, err)
	assert.Equal(t, before, after)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}
