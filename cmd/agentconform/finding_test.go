package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/script"
)

// TestAScriptShowsItsFinding judges the reference with a fault that needs several requests to show.
func TestAScriptShowsItsFinding(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(faults.All(), func(f *deviate.Row) bool { return f.Name == "foreign-run-is-retrieved" })
	assertTheScriptShows(t, faults.All()[at])
}

// assertTheScriptShows judges the reference with a fault, and runs the script of the first finding of the fault's
// requirement against the same server. The script must not print that the response is as expected now.
func assertTheScriptShows(t *testing.T, fault *deviate.Row) {
	t.Helper()
	catalogue, _ := catalogueAndOracle(t)
	var only []string
	isLast := func(s *features.Scenario) bool { return s.Is(features.TagLast) }
	if q := catalogue.Find(fault.Fails); !slices.ContainsFunc(q.Scenarios, isLast) {
		only = []string{fault.Fails}
	}
	cfg := startWith(t, fault.Name)
	o := options(t, cfg, only...)
	o.Keep = true
	result := run(t, o)
	at := slices.IndexFunc(result.Findings, func(f reports.Finding) bool { return f.Requirement == fault.Fails })
	require.GreaterOrEqual(t, at, 0, result.Headline)
	f := result.Findings[at]
	problem := "not tried"
	for attempt := 0; attempt < 3 && problem != ""; attempt++ { // a run may end before it is replaced
		problem = repeated(t, result, &f, cfg.Environment())
	}
	assert.Empty(t, problem, "%s: expected %s, got %s", f.Requirement, f.Expected, f.Actual)
}

// Exit codes of a script.
const (
	stillFailing = 1
	couldNotTell = 3
)

// repeated runs the script of a finding. It returns its output unless the script shows the finding. If the script can
// decide, it must print that the finding still fails. Otherwise it must print a response for comparison.
func repeated(t *testing.T, r *reports.Result, f *reports.Finding, secrets []string) (problem string) {
	var text bytes.Buffer
	if err := script.Write(&text, r, f); err != nil {
		return err.Error()
	}
	file := filepath.Join(t.TempDir(), "finding.sh")
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	bash := exec.CommandContext(ctx, "bash", file)
	bash.Env = append(os.Environ(), secrets...)
	out, err := bash.CombinedOutput()
	want := couldNotTell
	if strings.Contains(text.String(), "\n  decide ") {
		want = stillFailing
	}
	if bash.ProcessState.ExitCode() != want || want == couldNotTell && !strings.Contains(string(out), "\ncompare with: ") {
		return fmt.Sprintf("%v, want exit code %d: %s", err, want, out)
	}
	return ""
}

// TestEvidenceChains judges a server with faults of three kinds. The first is shown by a fixture, the second by two reads
// of the deployment, and the third by a contract violation, which is judged over all exchanges.
func TestEvidenceChains(t *testing.T) {
	t.Parallel()
	cfg := startWith(t, "rolled-back-messages-stay", "empty-update-makes-a-revision", "listed-updated-at-is-a-number")
	result := judge(t, cfg, "AS-ROLLBACK-3", "CP-UPDATE-4", "CP-CONTRACT-list-revisions")

	rollback, parts := chainOf(t, result, "AS-ROLLBACK-3")
	strategies := 0
	for _, x := range rollback {
		if x.Method == "POST" && strings.Contains(x.Request.Body, `"rollback"`) {
			strategies++
		}
	}
	assert.Positive(t, strategies, "the run that replaced the prior one is part of the chain")
	assert.True(t, slices.ContainsFunc(rollback, func(x reports.Exchange) bool { return x.Scenario == "fixture: a rollback" }))
	assert.False(t, slices.ContainsFunc(rollback, func(x reports.Exchange) bool { return x.Scenario == "fixture: a completed run" }), "it only measures")
	assert.Equal(t, reports.Observation, parts[len(parts)-1])

	update, parts := chainOf(t, result, "CP-UPDATE-4")
	patch := slices.Index(parts, reports.Act) // earlier updates of the deployment by other scenarios are part of the set-up
	require.Positive(t, patch)
	assert.Equal(t, "PATCH", update[patch].Method)
	assert.Equal(t, reports.SetUp, parts[patch-1], "the look before the update")
	assert.Equal(t, reports.Observation, parts[patch+1], "the look after it")
	assert.Regexp(t, `^GET /v2/deployments/\{deployment_id\}/revisions \(request \d+\) with GET /v2/deployments/\{deployment_id\}/revisions \(request \d+\)$`,
		findingOf(t, result, "CP-UPDATE-4").Compared)

	contract, _ := chainOf(t, result, "CP-CONTRACT-list-revisions")
	last := contract[len(contract)-1]
	assert.Equal(t, findingOf(t, result, "CP-CONTRACT-list-revisions").Exchange, last.ID, "it ends with the first exchange that shows it")
	assert.Greater(t, len(contract), 1, "and has what the scenario sent before")
}

func findingOf(t *testing.T, r *reports.Result, requirement string) *reports.Finding {
	t.Helper()
	at := slices.IndexFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == requirement })
	require.GreaterOrEqual(t, at, 0, "no finding of %s", requirement)
	return &r.Findings[at]
}

// chainOf returns the exchanges of a finding, which must be in the order in which they were sent.
func chainOf(t *testing.T, r *reports.Result, requirement string) (chain []reports.Exchange, parts []reports.Part) {
	t.Helper()
	for _, link := range findingOf(t, r, requirement).Exchanges {
		x, err := r.Exchange(link.Exchange)
		require.NoError(t, err)
		chain, parts = append(chain, x), append(parts, link.Part)
	}
	require.NotEmpty(t, chain)
	assert.True(t, slices.IsSortedFunc(chain, func(a, b reports.Exchange) int { return int(a.AtMS - b.AtMS) }))
	return chain, parts
}
