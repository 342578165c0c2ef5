//go:build nightly

package prover

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/proof"
)

// TestWhole runs all scenarios against each server, in virtual time.
func TestWhole(t *testing.T) {
	l := newLab(t, Options{Whole: true}, everything)
	t.Cleanup(func() {
		if l.isWhole() {
			assert.Empty(t, l.result().Problems)
		}
	})
	l.test(t, "whole")
}

// TestGenerated tries the mutants that are derived from the contract, in virtual time. Those in .ci/survivors.txt may
// survive.
func TestGenerated(t *testing.T) {
	l := newLab(t, Options{Whole: true, All: true}, func(r proof.Row) bool { return r.Kind == proof.GeneratedMutant })
	l.survivors = readSurvivors(t)
	l.test(t, "generated")
}

// TestReplay replays the findings of the requirement that each fault breaks, in virtual time.
func TestReplay(t *testing.T) {
	l := newLab(t, Options{Replay: true}, func(r proof.Row) bool { return r.Kind == proof.Fault })
	l.test(t, "replay")
}

// sampleOverTCP is the sampling interval: one in sampleOverTCP servers is also tried over TCP.
const sampleOverTCP = 10

// TestOverTCP tries a sample of all servers over TCP, in real time. An undecided row is tried once more, because the
// machine may have been busy.
func TestOverTCP(t *testing.T) {
	l := newLab(t, Options{Whole: true, All: true, Replay: true}, func(r proof.Row) bool { return isSampled(r.Name, sampleOverTCP) })
	l.survivors = readSurvivors(t)
	l.Done = func(row proof.Row, done, total int) {
		t.Logf("[%d/%d] %s %s %s", done, total, row.Kind, row.Name, row.Problem)
	}
	for _, row := range l.run(t.Context(), l.trials) {
		if row.Problem != "" && !l.isKnownSurvivor(row) {
			t.Errorf("%s %s: %s (attempts: %d)", row.Kind, row.Name, row.Problem, max(row.Attempts, 1))
		}
	}
}

// readSurvivors returns the kinds and names of the rows that may survive.
func readSurvivors(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../.ci/survivors.txt")
	require.NoError(t, err)
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	})
}
