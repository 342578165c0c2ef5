package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/cmd/agentconform/internal/prover"
	"github.com/agentconform/agentconform/reports/proof"
)

// TestReplayOfFaults judges the findings of faults of all kinds again: they still fail at the faulty server, pass at the
// reference, and cannot be told at a dead port or with wrong credentials. prove --replay does so for all faults.
func TestReplayOfFaults(t *testing.T) {
	t.Parallel()
	names := []string{"limit-101-is-served", "created-is-no-json", "rolled-back-messages-stay"} // a list, the contract by a fixture, a rollback
	if !testing.Short() {
		names = append(names, "latest-revision-is-stale", "other-tenant-lists", "foreign-run-is-joined", "run-is-203", "first-request-fails", "foreign-thread-crashes")
	}
	result, err := prover.Run(t.Context(), prover.Options{Only: names, Concurrency: 4, Replay: true, Describe: describe, Done: func(proof.Row, int, int) {}})
	require.NoError(t, err)
	assert.Empty(t, result.Problems)
	for _, row := range result.Rows {
		assert.Positive(t, row.Replayed, row.Name)
	}
}
