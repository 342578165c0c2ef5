package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// TestReplayOfFaults_Long judges the findings of one server with faults of all kinds again, where they must still fail, at the
// reference as it is, at a dead port, and with wrong credentials. prove --replay does so for each fault alone.
func TestReplayOfFaults_Long(t *testing.T) {
	t.Parallel()
	names := map[string]string{
		"limit-101-is-served":             "CP-LIST-3",
		"latest-revision-is-stale":        "CP-UPDATE-1",
		"other-tenant-lists":              "CP-AUTH-6",
		"created-build-on-push-is-a-text": "CP-CONTRACT-create-deployment", // seen by a fixture
		"not-found-has-a-message":         "CP-ERROR-1",
	}
	if !testing.Short() {
		names["rolled-back-messages-stay"] = "AS-ROLLBACK-3"
		names["foreign-run-is-joined"] = "AS-AUTHZ-1"
		names["list-counts-itself"] = "AS-CONTRACT-list-threads"
		names["foreign-thread-crashes"] = "AS-ERROR-1"
	}
	var options reference.Options
	only := []string{"AS-THREAD-*", "CP-LIST-13"}
	for name, id := range names {
		layers, _, err := faults.Find(name)
		require.NoError(t, err)
		layers[0](&options)
		only = append(only, id)
	}
	catalogue, oracle := catalogueAndOracle(t)
	start := func(o reference.Options) config.Config {
		server, err := reference.Start(t.Context(), o)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, server.Close()) })
		cfg := config.Default()
		describe(&cfg, server)
		cfg.Timeouts = config.Timeouts{Request: 4 * time.Second, Poll: 2 * time.Second, Run: 4 * time.Second}
		cfg.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
		require.NoError(t, cfg.Complete())
		return cfg
	}
	faulty, good := start(options), start(reference.Options{})
	dead, refused := good, good
	dead.Target = "http://127.0.0.1:1"
	refused.Credentials = config.Credentials{APIKey: "wrong", TenantID: good.Credentials.TenantID, Bearer: "wrong"}
	with := func(cfg *config.Config) steps.Options {
		return steps.Options{Config: cfg, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "replay", Journal: reports.NewMemory(), Select: steps.Selection{Only: only}}
	}
	result, err := steps.Run(t.Context(), with(&faulty))
	require.NoError(t, err)
	found := map[string]bool{}
	for _, f := range result.Findings {
		found[f.Requirement] = true
	}
	for name, id := range names {
		assert.True(t, found[id], "%s is not seen by %s", name, id)
	}
	for _, at := range []struct {
		place string
		cfg   *config.Config
		want  reports.Verdict
	}{{"faulty", &faulty, reports.Failed}, {"good", &good, reports.Passed}, {"dead", &dead, reports.Inconclusive}, {"refused", &refused, reports.Inconclusive}} {
		answers, left, err := replay.Judge(t.Context(), with(at.cfg), result, result.Findings)
		require.NoError(t, err)
		assert.Empty(t, left, at.place)
		for _, a := range answers {
			assert.Equal(t, at.want, a.Verdict, "%s: %s %s: %s", at.place, a.Finding.Requirement, a.Finding.Summary, a.Reason)
		}
	}
}
