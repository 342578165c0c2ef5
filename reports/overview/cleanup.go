package overview

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cleanup is what a run created at the target, by what became of it.
type Cleanup struct {
	Created, Removed, Left []reports.LedgerEntry
	Reasons                []string // why things are left, each with how many: "DELETE ...: status 405 (74 threads)"
	MS                     int64    // that removing took, where the run says it
	Removable              bool     // a later attempt may remove some of what is left
}

// CleanupOf derives it from the ledger of a run.
func CleanupOf(r *reports.Result) Cleanup {
	c := Cleanup{MS: r.Run.RemovalMS}
	why := map[string][]reports.LedgerEntry{}
	for _, e := range r.Ledger {
		c.Created = append(c.Created, e)
		if e.Removed {
			c.Removed = append(c.Removed, e)
			continue
		}
		c.Left = append(c.Left, e)
		c.Removable = c.Removable || !e.Unremovable && e.Kind != "run" // a run goes with its thread
		if e.Reason != "" {
			why[e.Reason] = append(why[e.Reason], e)
		}
	}
	reasons := slices.SortedFunc(maps.Keys(why), func(a, b string) int {
		return cmp.Or(len(why[b])-len(why[a]), strings.Compare(a, b))
	})
	for _, reason := range reasons {
		c.Reasons = append(c.Reasons, safe.Ellipsis(reason, maxCause)+" ("+CountByKind(why[reason])+")")
	}
	return c
}

// String says in one line what was created, removed and left: "created 1 deployment, 85 threads, 70 runs; all removed". It is
// empty where nothing was created.
func (c Cleanup) String() string {
	text := c.became()
	if text != "" && c.MS > 0 {
		text += ", in " + Duration(c.MS)
	}
	return text
}

func (c Cleanup) became() string {
	switch {
	case len(c.Created) == 0:
		return ""
	case len(c.Left) == 0:
		return "created " + CountByKind(c.Created) + "; all removed"
	case len(c.Removed) == 0:
		return "created " + CountByKind(c.Created) + "; none removed"
	}
	return "created " + CountByKind(c.Created) + "; removed " + CountByKind(c.Removed) + "; left " + CountByKind(c.Left)
}

// WhatIsLeft counts what is still at the target, with the first reasons: "74 threads, 60 runs (...)". It is empty where
// nothing is.
func (c Cleanup) WhatIsLeft() string {
	text := CountByKind(c.Left)
	if len(c.Reasons) > 0 {
		const most = 3
		text += ": " + strings.Join(c.Reasons[:min(most, len(c.Reasons))], "; ")
	}
	return text
}

// CleanCommand returns the command that removes what a run has left, with the flags that say where. out is the folder of its ledger; it
// may be empty.
func CleanCommand(r *reports.Result, out string) string {
	command := "agentconform clean" + r.Run.Flags("--target", "--agent-target", "--config")
	if out != "" {
		command += " --ledger " + reports.ShellWord(path.Join(out, "ledger.jsonl"))
	}
	return command
}

// CountByKind counts entries: "1 deployment, 6 threads, 4 runs".
func CountByKind(entries []reports.LedgerEntry) string {
	counts := map[string]int{}
	for _, e := range entries {
		counts[e.Kind]++
	}
	order := []string{"deployment", "thread", "run"}
	var parts []string
	for _, kind := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(slices.Index(order, a)-slices.Index(order, b), strings.Compare(a, b))
	}) {
		parts = append(parts, reports.Count(counts[kind], kind))
	}
	return strings.Join(parts, ", ")
}
