package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

var update = flag.Bool("update", false, "record anew the run that the tests of the reports use")

// recordedRun is the file that package reports/internal/reporttest embeds.
const recordedRun = "../../reports/internal/reporttest/run.json"

// The faults and the requirements of the recorded run. Together they give every verdict and every kind of finding: of a
// sentence, of the contract with a place in the answer, of a rollback; a warning; what a fixture or another requirement
// blocked; what nothing was observed of; and skips for different reasons.
var (
	recordedFaults = []string{
		"limit-101-is-served",             // fails CP-LIST-3
		"not-found-names-nothing",         // fails CP-LIST-13
		"listed-updated-at-is-a-number",   // fails CP-CONTRACT-list-revisions
		"latest-revision-is-stale",        // fails CP-UPDATE-1, blocks CP-LIST-6 and CP-LIST-7
		"rolled-back-messages-stay",       // fails AS-ROLLBACK-3, AS-ROLLBACK-4 and AS-ROLLBACK-5
		"invalid-deployment-id-is-a-text", // fails CP-GET-3, a SHOULD
	}
	recordedRequirements = []string{
		"CP-AUTH-6", "CP-CREATE-1", "CP-GET-3", "CP-LIST-3", "CP-LIST-6", "CP-LIST-7", "CP-LIST-13", "CP-UPDATE-1", "CP-UPDATE-3",
		"CP-CONTRACT-list-revisions", "AS-THREAD-1", "AS-ROLLBACK-1", "AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5",
		"AS-CONTRACT-list-threads", // inconclusive: nothing in this selection lists threads
	}
)

// TestRecordedRun judges the faulty reference again and holds the recorded run to it, so that the tests of the reports
// see what runs really produce. With -update it records the run anew.
func TestRecordedRun(t *testing.T) {
	now := normalised(t, judgeFaulty(t))
	if *update {
		var b bytes.Buffer
		require.NoError(t, now.WriteJSON(&b))
		require.NoError(t, os.WriteFile(recordedRun, b.Bytes(), 0o644))
	}
	recorded, err := reports.ReadFile(recordedRun)
	require.NoError(t, err)
	if diff := cmp.Diff(shapeOf(recorded), shapeOf(now)); diff != "" {
		t.Errorf("runs have changed since %s was recorded; record it with -update and renew the golden files of reports/:\n%s", recordedRun, diff)
	}
}

func judgeFaulty(t *testing.T) *reports.Result {
	options := reference.Options{Pace: 20 * time.Millisecond}
	layers, _, err := faults.Find(recordedFaults...)
	require.NoError(t, err)
	for _, apply := range layers {
		apply(&options)
	}
	server, err := reference.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	cfg.Implementation = reports.Implementation{Name: "Example Server", Version: "4.7.1", URL: "https://example.com/server", Contact: "conformance@example.com"}
	cfg.OtherTenant = config.Credentials{} // so that CP-AUTH-6 is skipped
	cfg.AgentTarget = server.AgentURL()    // so that no thread is listed to see whether the agent server of a deployment is up
	cfg.Agent.Listing = "get"              // so that no listing is tried
	cfg.Timeouts = config.Timeouts{Request: 4 * time.Second, Poll: 2 * time.Second, Run: 4 * time.Second}
	cfg.Polling = config.Polling{Interval: 10 * time.Millisecond, MaxInterval: 500 * time.Millisecond}
	require.NoError(t, cfg.Complete())
	catalogue, oracle := catalogueAndOracle(t)
	result, err := steps.Run(t.Context(), steps.Options{
		Config: &cfg, Catalogue: catalogue, Oracle: oracle, Select: steps.Selection{Only: recordedRequirements}, Concurrency: 1, Seed: 42,
		ID: "5eed0042", Version: "1.2.0", Arguments: []string{"run", "--config", "example.yaml"}, Journal: reports.NewMemory(),
	})
	require.NoError(t, err)
	return result
}

// shape is what of a run must not differ between two runs.
type shape struct {
	Verdict      reports.Conclusion
	Requirements []requirementShape
	Findings     []findingShape
	Operations   []string
}

type (
	requirementShape struct {
		ID, Title, Section, Profile, Feature string
		Level                                reports.Level
		Verdict                              reports.Verdict
		Skip                                 *reports.Skip
		BlockedBy                            []reports.Blocker
		Scenarios                            []scenarioShape
	}
	scenarioShape struct {
		Name, URI string
		Verdict   reports.Verdict
		Skip      *reports.Skip
		BlockedBy []reports.Blocker
	}
	findingShape struct{ ID, Requirement, Summary, Step, Operation, Pointer string }
)

// ofOneText is what of a text that a run of the graph echoes depends on what was sent before it, and on the time that
// this took: its number within the run of the suite, and how long the graph waits.
var ofOneText = regexp.MustCompile(`word-\d+|wait=\d+ .*`)

func shapeOf(r *reports.Result) shape {
	s := shape{Verdict: r.Verdict}
	for _, q := range r.Requirements {
		shown := requirementShape{ID: q.ID, Title: q.Title, Section: q.Section, Profile: q.Profile, Feature: q.Feature, Level: q.Level,
			Verdict: q.Verdict, Skip: q.Skip, BlockedBy: q.BlockedBy}
		for _, c := range q.Scenarios {
			if q.ID == "AS-ROLLBACK-5" && c.Verdict != reports.Failed { // a race: whether the run was still pending when it was rolled back
				c.Verdict, c.BlockedBy = "", nil
			}
			shown.Scenarios = append(shown.Scenarios, scenarioShape{c.Name, c.URI, c.Verdict, c.Skip, c.BlockedBy})
		}
		s.Requirements = append(s.Requirements, shown)
	}
	for _, f := range r.Findings {
		summary := ofOneText.ReplaceAllString(f.Summary, "N")
		s.Findings = append(s.Findings, findingShape{f.ID, f.Requirement, summary, f.Step, f.Operation, f.Pointer})
	}
	for _, o := range r.Coverage.Operations {
		s.Operations = append(s.Operations, o.Operation)
	}
	return s
}

// normalised replaces all that differs from run to run and means nothing: ids, addresses, times.
func normalised(t *testing.T, r *reports.Result) *reports.Result {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b))
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, os.WriteFile(path, []byte(normalisedText(b.String())), 0o600))
	n, err := reports.ReadFile(path)
	require.NoError(t, err)
	n.Run.DurationMS = 3141
	for i := range n.Requirements {
		for j := range n.Requirements[i].Scenarios {
			n.Requirements[i].Scenarios[j].DurationMS = int64(10 + 7*j)
		}
	}
	for i := range n.Timeline {
		n.Timeline[i].AtMS = int64(10 + 25*i)
	}
	exchanges := reports.NewMemory()
	for x := range n.Exchanges.All() {
		x.MS, x.AtMS = 1.5, int64(25*x.ID)
		x.Request, x.Response = withLength(x.Request), withLength(x.Response)
		exchanges.Append(x)
	}
	n.Exchanges = exchanges
	return n
}
