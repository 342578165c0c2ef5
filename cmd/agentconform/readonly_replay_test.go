package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestAReplayOfAReadOnlyRunWritesNothing replays a finding of a run that wrote nothing, with a configuration that could create.
func TestAReplayOfAReadOnlyRunWritesNothing(t *testing.T) {
	t.Parallel()
	cfg := startWith(t, false, "missing-key-is-404")
	text, err := cfg.YAML()
	require.NoError(t, err)
	folder := t.TempDir()
	file, out := filepath.Join(folder, "c.yaml"), filepath.Join(folder, "out")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var printed bytes.Buffer
	io := streams{out: &printed, err: &printed}
	assert.Equal(t, exitNonConformant, execute(context.Background(), []string{"run", "--config", file, "--read-only", "--only", "CP-AUTH-1", "--out", out}, io), printed.String())
	result, err := reports.ReadFile(filepath.Join(out, "result.json"))
	require.NoError(t, err)
	assert.True(t, result.Run.ReadOnly)
	assert.Empty(t, result.Ledger)
	printed.Reset()
	execute(context.Background(), []string{"replay", "CP-AUTH-1", "--config", file, "--result", filepath.Join(out, "result.json")}, io)
	ledger, err := os.ReadFile(filepath.Join(out, "ledger.jsonl"))
	if err == nil {
		assert.NotContains(t, string(ledger), `"kind":"deployment"`, printed.String())
	}
	assert.NotEmpty(t, printed.String())
}
