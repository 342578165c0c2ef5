//go:build nightly

package main

import (
	"slices"
	"testing"

	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
)

// overlapping are faults whose finding depends on the moment at which requests overlap. A script sends one after the
// other and does not show them; agentconform replay does, and so does the proof with --replay.
var overlapping = []string{"offset-is-ignored-beside-both-filters"}

// TestScriptsShowFindings takes every twelfth fault of those that show again in a script.
func TestScriptsShowFindings(t *testing.T) {
	t.Parallel()
	all := slices.DeleteFunc(faults.All(), func(f *deviate.Row) bool { return f.Once || f.Explored || slices.Contains(overlapping, f.Name) })
	for i := 0; i < len(all); i += 12 {
		t.Run(all[i].Name, func(t *testing.T) {
			t.Parallel()
			assertTheScriptShows(t, all[i])
		})
	}
}

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
