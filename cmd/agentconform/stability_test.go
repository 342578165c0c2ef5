package main

import (
	"maps"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestVerdictsDoNotDependOnTheOrder_Long judges the reference ten times, each time in another order: the verdict of
// every scenario must be the same.
func TestVerdictsDoNotDependOnTheOrder_Long(t *testing.T) {
	t.Parallel()
	catalogue, oracle := catalogueAndOracle(t)
	judge := func(t *testing.T, seed int64) map[string]reports.Verdict {
		cfg := config.Default()
		stop, err := startBundled(t.Context(), &cfg, "")
		require.NoError(t, err)
		defer stop()
		result, err := steps.Run(t.Context(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: seed, ID: "stable", Journal: reports.NewMemory()})
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
	const atOnce = 4
	runs := int64(10)
	if testing.Short() {
		runs = 2
	}
	want := judge(t, 1)
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for seed := int64(2); seed <= runs; seed++ {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			got := judge(t, seed)
			maps.DeleteFunc(got, func(scenario string, v reports.Verdict) bool { return want[scenario] == v })
			assert.Empty(t, got, "seed %d", seed)
		})
	}
	wait.Wait()
}
