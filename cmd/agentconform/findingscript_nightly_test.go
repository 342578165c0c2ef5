//go:build nightly

package main

import (
	"testing"

	"github.com/agentconform/agentconform/reference/faults"
)

// notLinear are faults that a script of one line after the other does not show, each with the reason; agentconform replay shows them.
var notLinear = map[string]string{
	"rolled-back-run-wipes-the-new-messages": "what the prior run has written when it is replaced depends on the moment",
	"strategy-is-ignored":                    "the answer is late only beside other runs",
	"offset-is-ignored-beside-both-filters":  "the updates that leave skipped revisions come too slowly, one after the other",
}

// TestScriptsShowFindings takes every twelfth fault.
func TestScriptsShowFindings(t *testing.T) {
	t.Parallel()
	all := faults.All()
	for i := 0; i < len(all); i += 12 {
		t.Run(all[i].Name, func(t *testing.T) {
			t.Parallel()
			if reason := notLinear[all[i].Name]; reason != "" {
				t.Skip(reason)
			}
			assertTheScriptShows(t, all[i])
		})
	}
}
