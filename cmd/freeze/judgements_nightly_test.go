//go:build nightly

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec/requirements"
)

const root = "../.."

// TestReleasedJudgements runs the tables of each release against the current judgements: rows that passed must still
// pass. If the signature of a judgement has changed, edit only its calls in the archive, by hand.
func TestReleasedJudgements(t *testing.T) {
	for _, version := range requirements.Versions() {
		if !isReleased(version) {
			continue
		}
		archive, err := txtar.ParseFile(filepath.Join(root, folder, version+".txtar"))
		require.NoError(t, err)
		out, err := runTables(t, archive, map[string][]byte{})
		assert.NoError(t, err, "set %s:\n%s", version, out)
	}
}

// TestStricterJudgementIsFound makes one judgement stricter than the tables of this commit.
func TestStricterJudgementIsFound(t *testing.T) {
	archive, err := tablesIn(root)
	require.NoError(t, err)
	out, err := runTables(t, archive, map[string][]byte{})
	require.NoError(t, err, "%s", out)

	const judgement = "steps/common/judge/errors.go"
	source, err := os.ReadFile(filepath.Join(root, judgement))
	require.NoError(t, err)
	stricter := bytes.Replace(source, []byte(`a.Get("detail").Type == gjson.String`), []byte(`a.Get("detail").Str == "stricter"`), 1)
	require.NotEqual(t, source, stricter)
	out, err = runTables(t, archive, map[string][]byte{judgement: stricter})
	assert.Error(t, err, "%s", out)
}

// runTables runs the passing rows of archived tables, with files of the repository replaced.
func runTables(t *testing.T, archive *txtar.Archive, replaced map[string][]byte) ([]byte, error) {
	t.Helper()
	folder := t.TempDir()
	absolute, err := filepath.Abs(root)
	require.NoError(t, err)
	replace := map[string]string{}
	now, err := tablesIn(root)
	require.NoError(t, err)
	for _, f := range now.Files { // does not compile tables that are newer than the archive
		replace[filepath.Join(absolute, f.Name)] = ""
	}
	for _, f := range archive.Files {
		replaced[f.Name] = f.Data
	}
	for name, content := range replaced {
		path := filepath.Join(folder, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, content, 0o644))
		replace[filepath.Join(absolute, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o644))
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-overlay", file, "-run", "^TestJudgements$",
		"./steps/controlplane/judge", "./steps/agentserver/judge", "./steps/common/judge", "-args", "-passing")
	command.Dir = absolute
	return command.CombinedOutput()
}
