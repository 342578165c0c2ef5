//go:build nightly

package main

import (
	"maps"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// TestVerdictsDoNotDependOnTheOrderOfAWholeRun judges the reference ten times, each time in another order.
func TestVerdictsDoNotDependOnTheOrderOfAWholeRun(t *testing.T) {
	t.Parallel()
	const atOnce = 4
	want := verdictsInOrder(t, 1)
	slots := make(chan struct{}, atOnce)
	var wait sync.WaitGroup
	for seed := int64(2); seed <= 10; seed++ {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			got := verdictsInOrder(t, seed)
			maps.DeleteFunc(got, func(scenario string, v reports.Verdict) bool { return want[scenario] == v })
			assert.Empty(t, got, "seed %d", seed)
		})
	}
	wait.Wait()
}
