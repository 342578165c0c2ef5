package main

import (
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// stored reads a result file of an earlier version.
func stored(t *testing.T, path string) *reports.Result {
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close() //nolint:errcheck // only read
	packed, err := gzip.NewReader(file)
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "result.json")
	text, err := io.ReadAll(packed)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(plain, text, 0o600))
	result, err := reports.ReadFile(plain)
	require.NoError(t, err)
	return result
}

// blockedByNewCases are the requirements, by server, that passed before and have cases now that the server's fault blocks: with the
// second user as owner, or with a credential of the control plane where a request without any is served.
var blockedByNewCases = map[string]string{
	"anonymous-creates-threads": "AS-AUTH-2",
}

// racing are servers on which scenarios disturb each other: what is blocked there depends on the order and the pace.
var racing = map[string]bool{"one-thread-per-user": true}

// TestVerdictsOfTheVersionBefore_Long judges the servers of the stored results again: every requirement that was judged then has
// the verdict that it had, and the same ones have findings. What was blocked or inconclusive then may be judged now.
func TestVerdictsOfTheVersionBefore_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("judges two dozen servers")
	}
	t.Parallel()
	catalogue, oracle := catalogueAndOracle(t)
	files, err := filepath.Glob("../../reports/testdata/results/*.json.gz")
	require.NoError(t, err)
	require.Len(t, files, 25)
	slots := make(chan struct{}, 6)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		if strings.HasPrefix(name, "independent") {
			continue // a test of package steps judges that server
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			before := stored(t, path)
			now, err := steps.Run(t.Context(), steps.Options{Config: configured(t, name), Catalogue: catalogue, Oracle: oracle,
				Seed: before.Run.Seed, ID: "stored", Journal: reports.NewMemory()})
			require.NoError(t, err)
			assert.Equal(t, before.Verdict, now.Verdict)
			known := verdictsOf(before)
			maps.DeleteFunc(known, func(_ string, v reports.Verdict) bool { return v == reports.Blocked || v == reports.Inconclusive })
			verdicts, findings := verdictsOf(now), findingsOf(now)
			maps.DeleteFunc(verdicts, func(id string, _ reports.Verdict) bool { return known[id] == "" }) // that version did not judge it
			maps.DeleteFunc(findings, func(id string, _ bool) bool { return known[id] == "" })
			if racing[name] {
				maps.DeleteFunc(verdicts, func(id string, v reports.Verdict) bool {
					unjudged := known[id] == reports.Passed && (v == reports.Blocked || v == reports.Inconclusive)
					if unjudged {
						delete(known, id)
					}
					return unjudged
				})
			} else if id := blockedByNewCases[name]; id != "" {
				assert.Equal(t, []reports.Verdict{reports.Passed, reports.Blocked}, []reports.Verdict{known[id], verdicts[id]}, id)
				delete(known, id)
				delete(verdicts, id)
			}
			assert.Equal(t, known, verdicts)
			assert.Equal(t, findingsOf(before), findings)
		})
	}
}

// configured starts the server of a stored result and returns how it is judged.
func configured(t *testing.T, name string) *config.Config {
	cfg := config.Default()
	options := reference.Options{}
	switch name {
	case "reference":
	case "reference-self-hosted":
		options.Edition = config.SelfHosted
	case "unreachable":
	default:
		layers, edition, err := faults.Find(name)
		require.NoError(t, err)
		options.Edition = edition
		for _, apply := range layers {
			apply(&options)
		}
	}
	server, err := reference.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	describe(&cfg, server)
	if !strings.HasPrefix(name, "reference") { // those were served by another process, whose configuration names both halves
		cfg.AgentTarget = server.AgentURL()
	}
	if name == "unreachable" {
		cfg.Target = "http://127.0.0.1:1"
	}
	require.NoError(t, cfg.Complete())
	return &cfg
}

func verdictsOf(r *reports.Result) map[string]reports.Verdict {
	all := map[string]reports.Verdict{}
	for _, q := range r.Requirements {
		all[q.ID] = q.Verdict
	}
	return all
}

func findingsOf(r *reports.Result) map[string]bool {
	all := map[string]bool{}
	for _, f := range r.Findings {
		all[f.Requirement] = true
	}
	return all
}
