//go:build nightly

package main

import (
	"testing"

	"github.com/agentconform/agentconform/reference/faults"
)

// TestScriptsShowFindings takes every twelfth fault.
func TestScriptsShowFindings(t *testing.T) {
	t.Parallel()
	all := faults.All()
	for i := 0; i < len(all); i += 12 {
		t.Run(all[i].Name, func(t *testing.T) {
			t.Parallel()
			assertTheScriptShows(t, all[i])
		})
	}
}
