package overview

import (
	"cmp"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cleanup is what a run created at the target, by what became of it.
type Cleanup struct {
	Removed, Left []reports.LedgerEntry
	Summary       string // "created 1 deployment, 85 threads, 70 runs; all removed"; "" where nothing was created
	WhatIsLeft    string // "74 threads, 60 runs: the first reason"; "" where nothing is left
	Command       string // that removes it; "" where nothing can
}

// Cleanup derives it from the ledger of the run. out is the folder of the ledger; it may be empty.
func (o Overview) Cleanup(out string) (c Cleanup) {
	reason := ""
	for _, e := range o.Result.Ledger {
		if e.Removed {
			c.Removed = append(c.Removed, e)
			continue
		}
		c.Left = append(c.Left, e)
		if !e.Unremovable && e.Kind != "run" { // a run goes with its thread
			c.Command = o.Result.Run.CleanCommand(out)
		}
		reason = cmp.Or(reason, safe.Ellipsis(e.Reason, maxCause))
	}
	if len(o.Result.Ledger) == 0 {
		return c
	}
	removed := "all removed"
	if len(c.Left) > 0 {
		removed = "removed " + cmp.Or(CountByKind(c.Removed), "none")
	}
	c.Summary = "created " + CountByKind(o.Result.Ledger) + "; " + removed
	c.WhatIsLeft = reports.Joined(": ", CountByKind(c.Left), reason)
	if took := o.Result.Run.RemovalMS; took > 0 {
		c.Summary += ", in " + reports.Duration(took)
	}
	return c
}

// CountByKind counts entries: "1 deployment, 6 threads, 4 runs".
func CountByKind(entries []reports.LedgerEntry) string {
	return counted([]string{"deployment", "thread", "run"}, entries, func(e reports.LedgerEntry) string { return e.Kind })
}
