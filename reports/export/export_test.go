package export_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/script"
)

// TestWrite checks which files are in a folder without the flag --reports and with it.
func TestWrite(t *testing.T) {
	always := []string{"result.json", "exchanges.jsonl.gz"}
	byDefault := append(always, "junit.xml", "summary.md", "badge.svg", "index.html", "support.json", "scripts", "badge")
	tests := map[string][]string{
		"":           byDefault,
		"all":        append(byDefault, "cucumber.json", "result.har"),
		"json":       always,
		"junit, har": append(always, "junit.xml", "result.har"),
	}
	for flag, want := range tests {
		t.Run(flag, func(t *testing.T) {
			dir, r := filepath.Join(t.TempDir(), "new", "out"), reporttest.Faulty()
			r.Run.Arguments = []string{"run", "--reports", flag}
			require.NoError(t, export.Write(dir, r))
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			var names []string
			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				assert.Positive(t, info.Size(), e.Name())
				mode := os.FileMode(0o644)
				if e.IsDir() {
					mode = 0o755
				}
				assert.Equal(t, mode, info.Mode().Perm())
				names = append(names, e.Name())
			}
			assert.ElementsMatch(t, want, names, "the temporary files were removed")
			assert.ErrorContains(t, export.Write(filepath.Join(dir, "result.json"), reporttest.Faulty()), "not a directory")

			require.NoError(t, export.Begin(dir))
			entries, err = os.ReadDir(dir)
			require.NoError(t, err)
			assert.Empty(t, entries, "the files and folders of an earlier test run are removed")
		})
	}
}

// TestScripts checks that each finding has a script, and that the scripts of an earlier test run are removed.
func TestScripts(t *testing.T) {
	dir, r := t.TempDir(), reporttest.Faulty()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "scripts"), 0o755))
	stale := []string{"CP-OLD-1-0123456789ab.sh", "E2E-1-0123456789ab.sh"}
	for _, file := range append(stale, "E2E-smoke-kubernetes01.sh") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "scripts", file), []byte("x"), 0o600))
	}
	require.NoError(t, export.Write(dir, r))
	require.NotEmpty(t, r.Findings)
	for i := range r.Findings {
		text, err := os.ReadFile(filepath.Join(dir, script.Path(r, &r.Findings[i])))
		require.NoError(t, err)
		assert.Contains(t, string(text), "\nmain() {\n", r.Findings[i].ID)
	}
	for _, file := range stale {
		assert.NoFileExists(t, filepath.Join(dir, "scripts", file))
	}
	assert.FileExists(t, filepath.Join(dir, "scripts", "E2E-smoke-kubernetes01.sh"))

	r.Target = reports.Target{ControlPlane: "http://elsewhere"}
	require.NoError(t, export.Write(dir, r))
	text, err := os.ReadFile(filepath.Join(dir, script.Path(r, &r.Findings[0])))
	require.NoError(t, err)
	assert.Contains(t, string(text), "not sent to an address of the target", "the file prints the reason")

	r.Findings[0].ID = "../../outside"
	assert.Empty(t, script.Path(r, &r.Findings[0]))
	require.NoError(t, export.Write(dir, r))
}
