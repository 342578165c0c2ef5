package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestVerdictsDoNotDependOnTheOrder judges the reference in two orders: the verdict of every scenario must be the same.
func TestVerdictsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	only := []string{"CP-CREATE-*", "CP-UPDATE-*", "AS-THREAD-*"}
	assert.Equal(t, verdictsInOrder(t, 1, only...), verdictsInOrder(t, 2, only...))
}

// verdictsInOrder judges the reference, where they are named for some requirements, in the order of a seed.
func verdictsInOrder(t *testing.T, seed int64, only ...string) map[string]reports.Verdict {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	cfg := config.Default()
	stop, err := startBundled(t.Context(), &cfg, "")
	require.NoError(t, err)
	defer stop()
	result, err := steps.Run(t.Context(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: seed, ID: "stable",
		Select: steps.Selection{Only: only}, Journal: reports.NewMemory()})
	require.NoError(t, err)
	assert.Equal(t, reports.Conformant, result.Verdict, "seed %d: %s", seed, result.Headline)
	verdicts := map[string]reports.Verdict{}
	for _, q := range result.Requirements {
		for _, s := range q.Scenarios {
			verdicts[q.ID+" "+s.Name] = s.Verdict
		}
	}
	return verdicts
}
