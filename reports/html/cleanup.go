package html

import (
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// cleanupView tells what the run left at the target from what it removed.
type cleanupView struct {
	Left, Removed []reports.LedgerEntry
}

func cleanupOf(ledger []reports.LedgerEntry) cleanupView {
	var c cleanupView
	for _, e := range ledger {
		if e.Removed {
			c.Removed = append(c.Removed, e)
		} else {
			c.Left = append(c.Left, e)
		}
	}
	return c
}

// byKind counts entries: "1 deployment, 6 threads".
func byKind(entries []reports.LedgerEntry) string {
	counts := map[string]int{}
	for _, e := range entries {
		counts[e.Kind]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, reports.Count(counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}
