package overview

import (
	"path"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cleanup is what a run created at the target, by what became of it.
type Cleanup struct {
	Removed, Left []reports.LedgerEntry
	Summary       string   // "created 1 deployment, 85 threads, 70 runs; all removed"; "" where nothing was created
	Reasons       []string // why things are left
	Command       string   // that removes what is left; "" where nothing can
}

// CleanupOf derives it from the ledger of a run. out is the folder of the ledger; it may be empty.
func CleanupOf(r *reports.Result, out string) Cleanup {
	c := Cleanup{}
	for _, e := range r.Ledger {
		if e.Removed {
			c.Removed = append(c.Removed, e)
			continue
		}
		c.Left = append(c.Left, e)
		if !e.Unremovable && e.Kind != "run" { // a run goes with its thread
			c.Command = CleanCommand(r, out)
		}
		if reason := safe.Ellipsis(e.Reason, maxCause); reason != "" && !slices.Contains(c.Reasons, reason) {
			c.Reasons = append(c.Reasons, reason)
		}
	}
	if len(r.Ledger) == 0 {
		return c
	}
	c.Summary = "created " + CountByKind(r.Ledger)
	switch {
	case len(c.Left) == 0:
		c.Summary += "; all removed"
	case len(c.Removed) == 0:
		c.Summary += "; none removed"
	default:
		c.Summary += "; removed " + CountByKind(c.Removed) + "; left " + CountByKind(c.Left)
	}
	if r.Run.RemovalMS > 0 {
		c.Summary += ", in " + Duration(r.Run.RemovalMS)
	}
	return c
}

// WhatIsLeft counts what is still at the target, with the first reasons: "74 threads, 60 runs: ...". It is empty where
// nothing is.
func (c Cleanup) WhatIsLeft() string {
	text := CountByKind(c.Left)
	if len(c.Reasons) > 0 {
		text += ": " + strings.Join(c.Reasons[:min(3, len(c.Reasons))], "; ")
	}
	return text
}

// CleanCommand returns the command that removes what a run has left, with the flags that say where. out is the folder of
// its ledger; it may be empty.
func CleanCommand(r *reports.Result, out string) string {
	command := "agentconform clean" + r.Run.Flags("--target", "--agent-target", "--config")
	if out != "" {
		command += " --ledger " + reports.ShellWord(path.Join(out, "ledger.jsonl"))
	}
	return command
}

// CountByKind counts entries: "1 deployment, 6 threads, 4 runs".
func CountByKind(entries []reports.LedgerEntry) string {
	var parts []string
	for _, kind := range []string{"deployment", "thread", "run"} {
		n := 0
		for _, e := range entries {
			if e.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, reports.Count(n, kind))
		}
	}
	return strings.Join(parts, ", ")
}
