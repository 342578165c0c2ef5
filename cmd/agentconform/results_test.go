package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestResultsOfAnEarlierVersion reads result files that version 0.1.0-dev wrote and compares them.
func TestResultsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	paths := map[string]string{}
	for name, want := range map[string]struct {
		verdict           reports.Conclusion
		passed, exchanges int
		findings          []string
	}{
		"reference":                 {reports.Conformant, 102, 1316, nil},
		"rolled-back-messages-stay": {reports.NonConformant, 96, 1223, []string{"AS-ROLLBACK-3"}},
		"unreachable":               {reports.Incomplete, 0, 1, nil},
	} {
		paths[name] = unpacked(t, "../../reports/testdata/results/"+name+".json.gz")
		r, err := reports.ReadFile(paths[name])
		require.NoError(t, err)
		assert.Equal(t, want.verdict, r.Verdict, name)
		assert.Len(t, r.Requirements, 103, name)
		passed, exchanges := 0, 0
		for _, q := range r.Requirements {
			if q.Verdict == reports.Passed {
				passed++
			}
		}
		for x, err := range r.Exchanges.All() {
			require.NoError(t, err)
			exchanges++
			assert.Equal(t, exchanges, x.ID)
		}
		var findings []string
		for _, f := range r.Findings {
			findings = append(findings, f.Requirement)
			x, err := r.Exchanges.Get(f.Exchange)
			require.NoError(t, err)
			assert.Equal(t, f.Exchange, x.ID)
		}
		assert.Equal(t, want.passed, passed, name)
		assert.Equal(t, want.exchanges, exchanges, name)
		assert.Equal(t, want.findings, findings, name)
	}
	var printed bytes.Buffer
	code := execute(context.Background(), []string{"compare", paths["reference"], paths["rolled-back-messages-stay"]}, streams{out: &printed, err: &printed})
	assert.Equal(t, exitNonConformant, code, printed.String())
	assert.Regexp(t, `AS-ROLLBACK-3.*regression`, printed.String())
}

// unpacked is the path of a copy of a file without its compression.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	packed, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(packed)
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "result.json")
	require.NoError(t, os.WriteFile(plain, text, 0o600))
	return plain
}
