//go:build nightly

package main

import (
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// TestFourShardsMergedAreOneRun judges servers whole and in four shards with the same seed.
func TestFourShardsMergedAreOneRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]shardedRun{
		"the reference": {verdict: reports.Conformant},
		"faults":        {faults: shardedFaults, verdict: reports.NonConformant},
		"claims":        {supports: []string{"control-plane-core", "filters", "agent-server"}, verdict: reports.Conformant},
		"a fault that is not claimed": {faults: []string{"other-scheme-is-accepted", "limit-101-is-served", "unknown-thread-crashes"},
			supports: []string{"control-plane", "rollback"}, verdict: reports.NonConformant},
		"a claim that is not configured": {supports: []string{"tags", "agent-server-core"},
			change: func(c *config.Config) { c.Alternatives.TagRef, c.OtherTenant = "", config.Credentials{} }, verdict: reports.Incomplete},
		"credentials that are refused": {change: func(c *config.Config) { c.Credentials = config.Credentials{APIKey: "another-key"} }, verdict: reports.Incomplete},
		"no answer":                    {change: func(c *config.Config) { c.Target = "http://127.0.0.1:9" }, verdict: reports.Incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.shards = 4
			c.assertMerged(t)
		})
	}
}
