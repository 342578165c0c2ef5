package main

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// shardedFaults show every kind of finding, and block others. None depends on a race.
var shardedFaults = []string{
	"limit-101-is-served",             // fails CP-LIST-3
	"not-found-names-nothing",         // fails CP-LIST-13
	"listed-updated-at-is-a-number",   // fails CP-CONTRACT-list-revisions
	"latest-revision-is-stale",        // fails CP-UPDATE-1, blocks CP-LIST-6 and CP-LIST-7
	"invalid-deployment-id-is-a-text", // fails CP-GET-3, a SHOULD
	"other-scheme-is-accepted",        // fails AS-AUTH-2
	"unknown-thread-crashes",          // fails AS-ERROR-1
}

// ofOneRun are the texts that differ from run to run: ids, and names of texts.
var ofOneRun = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]*|[0-9a-f]{8}-[0-9a-f-]*|word-\d+|127\.0\.0\.1:\d+`)

// TestShardsMergedAreOneRun judges a faulty server in one run and in two shards with the same seed.
func TestShardsMergedAreOneRun(t *testing.T) {
	t.Parallel()
	soon := func(c *config.Config) { // a revision that never comes is not waited for as long as by default
		c.Timeouts = config.Timeouts{Request: 4 * time.Second, Poll: 2 * time.Second, Run: 4 * time.Second}
		c.Polling = config.Polling{Interval: 10 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	}
	of := shardedRun{faults: shardedFaults, change: soon, verdict: reports.NonConformant, shards: 2}
	of.only = []string{"CP-AUTH-1", "CP-GET-*", "CP-LIST-3", "CP-LIST-6", "CP-LIST-7", "CP-LIST-13", "CP-UPDATE-1",
		"CP-CONTRACT-list-revisions", "AS-AUTH-2", "AS-ERROR-1", "AS-RUN-3", "AS-THREAD-1"}
	of.assertMerged(t)
}

// shardedRun is a reference, how it is configured and judged, and the verdict.
type shardedRun struct {
	faults   []string
	supports []string
	change   func(*config.Config)
	only     []string
	shards   int
	verdict  reports.Conclusion
}

// assertMerged judges whole and in shards.
func (c shardedRun) assertMerged(t *testing.T) {
	t.Helper()
	whole := c.judge(t, 0, 0)
	assert.Equal(t, c.verdict, whole.Verdict, overview.FirstLine(whole))
	var shards []*reports.Result
	for i := range c.shards {
		shards = append(shards, c.judge(t, i+1, c.shards))
	}
	merged, err := compare.Merge(shards...)
	require.NoError(t, err)
	t.Logf("whole:  %s", overview.FirstLine(whole))
	t.Logf("merged: %s", overview.FirstLine(merged))
	if diff := cmp.Diff(conclusionOf(whole), conclusionOf(merged)); diff != "" {
		t.Errorf("shards merged differ from one run:\n%s", diff)
	}
}

// judge judges a new reference with the faults: whole, or one shard.
func (c shardedRun) judge(t *testing.T, shard, shards int) *reports.Result {
	t.Helper()
	options := reference.Options{}
	layers, _, err := faults.Find(c.faults...)
	require.NoError(t, err)
	for _, apply := range layers {
		apply(&options)
	}
	server, err := reference.Start(t.Context(), options)
	require.NoError(t, err)
	defer server.Close()
	cfg := config.Default()
	describe(&cfg, server)
	cfg.Supports = c.supports
	if c.change != nil {
		c.change(&cfg)
	}
	require.NoError(t, cfg.Complete())
	catalogue, oracle := catalogueAndOracle(t)
	r, err := steps.Run(t.Context(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: 11, ID: "shards", Version: "1",
		Journal: reports.NewMemory(), Select: steps.Selection{Only: c.only, Shard: shard, Shards: shards}})
	require.NoError(t, err)
	r.Target.ControlPlane = "http://target.example" // each is another server
	return r
}

// conclusion is what a run has found: what shards and one run must agree on.
type conclusion struct {
	Verdict       reports.Conclusion
	Exit          int
	FirstLine     string
	Scope         reports.Scope
	NotJudged     []reports.NotJudged
	Unseen        []string
	Counts        string
	Requirements  map[reports.Verdict]int
	Scenarios     map[reports.Verdict]int
	Cases         int
	Judged        []judgedRequirement
	Findings      []findingShape
	NotConfigured map[string]int
}

type judgedRequirement struct {
	ID, Claimed string
	Verdict     reports.Verdict
	Skip        *reports.Skip
	BlockedBy   []reports.Blocker
	Scenarios   map[string]reports.Verdict
}

func conclusionOf(r *reports.Result) conclusion {
	c := conclusion{Verdict: r.Verdict, Exit: overview.DisplayVerdictOf(r).Exit, FirstLine: ofOneRun.ReplaceAllString(overview.FirstLine(r), "X"), Scope: r.Scope, NotJudged: r.NotJudged, Unseen: r.Unseen,
		Counts: overview.CountsOf(r).String(), Requirements: r.Counts.Requirements, Scenarios: r.Counts.Scenarios, Cases: r.Counts.Cases, NotConfigured: enabling(r)}
	for _, q := range r.Requirements {
		judged := judgedRequirement{ID: q.ID, Claimed: q.Claimed, Verdict: q.Verdict, Skip: q.Skip, BlockedBy: slices.Clone(q.BlockedBy), Scenarios: map[string]reports.Verdict{}}
		for i := range judged.BlockedBy {
			judged.BlockedBy[i].Name = ofOneRun.ReplaceAllString(judged.BlockedBy[i].Name, "X")
		}
		for _, s := range q.Scenarios {
			judged.Scenarios[s.Name] = s.Verdict
		}
		c.Judged = append(c.Judged, judged)
	}
	for _, f := range shapeOf(r).Findings {
		f.Summary = ofOneRun.ReplaceAllString(f.Summary, "X")
		c.Findings = append(c.Findings, f)
	}
	return c
}
