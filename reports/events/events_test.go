package events_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/events"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// write writes all kinds of events.
func write(out io.Writer, r *reports.Result) error {
	w := events.NewWriter(out)
	w.Start(events.Start{At: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), Target: "http://127.0.0.1:8123",
		Scenarios: 40, Deployments: 3, Seed: 42})
	for q := range reports.Each(r.Requirements) {
		for s := range reports.Each(q.Scenarios) {
			w.Scenario(events.Scenario{Requirement: q.ID, Name: s.Name, Verdict: s.Verdict, Decides: q.Decides(),
				Reason: s.Reason, DurationMS: s.DurationMS})
		}
	}
	return w.Result(r, "agentconform-out")
}

// TestEvents compares the events with their schema: once with the published schema, and once without additional fields.
func TestEvents(t *testing.T) {
	strict := strings.ReplaceAll(events.Schema, `"required": [`, `"unevaluatedProperties": false, "required": [`)
	strict = strings.Replace(strict, `"type": "object",
  "unevaluatedProperties": false, `, `"type": "object",
  `, 1) // what is allowed beside the name depends on the kind
	strict = strings.ReplaceAll(strict, `      "properties": {`, `      "properties": {"event": true,`)
	check := func(t *testing.T, doc []byte) {
		t.Helper()
		lines := slices.Collect(bytes.Lines(doc))
		for _, line := range lines {
			assert.True(t, bytes.HasPrefix(line, []byte(`{"event":"`)), "%s", line)
		}
		reporttest.Schema(t, []byte(events.Schema), lines...)
		reporttest.Schema(t, []byte(strict), lines...)
	}
	reporttest.Exporter{File: "events.jsonl", Write: write, Check: check, Limit: 200_000}.Test(t)
}

// TestRepetition checks that scenarios have the number of their repetition, and no number if there is only one.
func TestRepetition(t *testing.T) {
	var b bytes.Buffer
	w := events.NewWriter(&b)
	w.Scenario(events.Scenario{Requirement: "CP-LIST-3", Name: "a", Verdict: reports.Failed})
	w.Repeat(2)
	w.Scenario(events.Scenario{Requirement: "CP-LIST-3", Name: "a", Verdict: reports.Passed})
	lines := slices.Collect(bytes.Lines(b.Bytes()))
	require.Len(t, lines, 2)
	assert.NotContains(t, string(lines[0]), "repetition")
	assert.Contains(t, string(lines[1]), `"repetition":2`)
	reporttest.Schema(t, []byte(events.Schema), lines...)
}

// TestEndWithoutPage checks that the last event names only files that are written.
func TestEndWithoutPage(t *testing.T) {
	r := reporttest.Sample()
	r.Run.Arguments = []string{"run", "--reports", "junit"}
	var b bytes.Buffer
	require.NoError(t, write(&b, r))
	assert.Contains(t, b.String(), `"result":"agentconform-out/result.json"}`)
	assert.NotContains(t, b.String(), "index.html")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestErrorOfTheWriter(t *testing.T) {
	assert.EqualError(t, write(full{}, reporttest.Sample()), "no space left")
	var b bytes.Buffer
	require.NoError(t, write(&b, reporttest.Sample()))
	assert.Contains(t, b.String(), `"event":"end"`)
}
