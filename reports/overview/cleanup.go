package overview

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cleanup describes the objects that a test run created at the target.
type Cleanup struct {
	Remaining  []reports.LedgerEntry
	Summary    string // "created 1 deployment, 85 threads, 70 runs; all removed"; empty if nothing was created
	NotRemoved string // "74 threads, 60 runs: the first reason"; empty if everything was removed
	Command    string // command that removes the remaining objects; empty if the target cannot remove them
}

// Cleanup describes what happened to the objects in the ledger. out is the folder of the ledger and may be empty.
func (o Overview) Cleanup(out string) Cleanup {
	var c Cleanup
	var removed []reports.LedgerEntry
	reason := ""
	for _, e := range o.Result.Ledger {
		if e.Removed {
			removed = append(removed, e)
			continue
		}
		c.Remaining = append(c.Remaining, e)
		if !e.Unremovable && e.Kind != "run" { // a run is removed with its thread
			c.Command = o.Result.Run.CleanCommand(out)
		}
		if reason == "" {
			reason = safe.Ellipsis(e.Reason, maxCause)
		}
	}
	if len(o.Result.Ledger) == 0 {
		return c
	}
	text := "all removed"
	switch {
	case len(removed) == 0:
		text = "removed none"
	case len(c.Remaining) > 0:
		text = "removed " + countByKind(removed)
	}
	c.Summary = "created " + countByKind(o.Result.Ledger) + "; " + text
	c.NotRemoved = reports.Joined(": ", countByKind(c.Remaining), reason)
	if took := o.Result.Run.RemovalMS; took > 0 {
		c.Summary += ", in " + reports.Duration(took)
	}
	return c
}

// countByKind counts entries: "1 deployment, 6 threads, 4 runs".
func countByKind(entries []reports.LedgerEntry) string {
	return countBy([]string{"deployment", "thread", "run"}, entries, func(e reports.LedgerEntry) string { return e.Kind })
}
