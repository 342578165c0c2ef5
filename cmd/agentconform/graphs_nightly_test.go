//go:build nightly

package main

import (
	"testing"

	"github.com/agentconform/agentconform/reference/faults"
)

// TestBrokenGraphs judges a server that is right with each graph that breaks a line of its contract.
func TestBrokenGraphs(t *testing.T) {
	t.Parallel()
	for _, g := range faults.BrokenGraphs() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			assertTheGraphBlocks(t, g)
		})
	}
}
