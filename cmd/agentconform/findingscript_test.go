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

// TestAScriptShowsItsFinding judges the reference with a fault that takes several requests to see.
func TestAScriptShowsItsFinding(t *testing.T) {
	t.Parallel()
	at := slices.IndexFunc(faults.All(), func(f *deviate.Row) bool { return f.Name == "foreign-run-is-retrieved" })
	assertTheScriptShows(t, faults.All()[at])
}

// assertTheScriptShows judges the reference with a fault, and runs the script of the first finding of the fault's
// requirement against the same server: its answer must have the status of the recorded one.
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
	for attempt := 0; attempt < 3 && problem != ""; attempt++ { // a run that is to be replaced may be over before
		problem = repeated(t, result, &f, cfg.Environment())
	}
	assert.Empty(t, problem, "%s: expected %s, got %s", f.Requirement, f.Expected, f.Actual)
}

// repeated runs the script of a finding and says how its answer differs from the recorded one: by its status, or because it has no
// body.
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
	var log bytes.Buffer
	bash.Stderr = &log
	out, err := bash.Output()
	if err != nil {
		return fmt.Sprintf("%v: %s", err, log.String())
	}
	last := f.Exchanges[len(f.Exchanges)-1].Exchange
	if slices.Contains(f.Exchanges, reports.Link{Exchange: f.Exchange, Part: reports.Observation}) {
		last = f.Exchange
	}
	want, err := r.Exchange(last)
	require.NoError(t, err)
	head, body, _ := strings.Cut(string(out), "\r\n\r\n")
	status := strings.Fields(head + " none none")[1]
	if status != fmt.Sprint(want.Status) && !(want.Status == 0 && status == "none") || (len(want.Response.Body) > 0) != (strings.TrimSpace(body) != "") {
		return fmt.Sprintf("status %s in place of %d\n%s\n%s", status, want.Status, out, log.String())
	}
	return ""
}
