package reports_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/sample"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with testdata/golden/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update to write it")
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s has changed; run the test with -update if it is meant:\n%.3000s", path, diff)
	}
}

// samples are the results that every face is tested with.
func samples() map[string]*reports.Result {
	return map[string]*reports.Result{
		"conformant":  sample.Conformant(),
		"faulty":      sample.Faulty(),
		"unreachable": sample.Unreachable(),
		"empty":       {Schema: reports.Schema, Verdict: reports.Incomplete},
	}
}

func written(t *testing.T, r *reports.Result) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	return b.Bytes()
}
