package overview

import (
	"cmp"
	"path"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// ScenarioOf finds the scenario of q that a finding is from, or nil.
func ScenarioOf(q *reports.Requirement, f *reports.Finding) *reports.Scenario {
	for s := range reports.Each(q.Scenarios) {
		if s.Key() == f.Scenario {
			return s
		}
	}
	return nil
}

// Seen says in how many judgements of its scenario a finding was seen, where there were two; else "".
func Seen(f *reports.Finding) string {
	switch {
	case f.Judged < 2:
		return ""
	case f.Seen < f.Judged:
		return "once of two judgements"
	}
	return "twice"
}

// ReplayCommand returns the command that judges the finding again, with the target flags of the run that showed it.
func (o Overview) ReplayCommand(f *reports.Finding) string {
	if f.ID == "" {
		return ""
	}
	run := &o.Result.Run
	flags := run.Flags("--target", "--agent-target", "--config")
	if flags == "" && !run.ByDefault() {
		flags = " --config FILE"
	}
	if out := run.Flag("--out"); out != "" {
		flags += " --result " + reports.ShellWord(path.Join(out, "result.json"))
	}
	return "agentconform replay " + reports.ShellWord(f.ID) + flags
}

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
			c.Command = CleanCommand(&o.Result.Run, out)
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
	c.WhatIsLeft = joined(": ", CountByKind(c.Left), reason)
	if took := o.Result.Run.RemovalMS; took > 0 {
		c.Summary += ", in " + Duration(took)
	}
	return c
}

// CleanCommand returns the command that removes what a run has left, with the flags that say where. out is the folder
// of its ledger; it may be empty.
func CleanCommand(r *reports.Run, out string) string {
	command := "agentconform clean" + r.Flags("--target", "--agent-target", "--config")
	if out != "" {
		command += " --ledger " + reports.ShellWord(path.Join(out, "ledger.jsonl"))
	}
	return command
}

// CountByKind counts entries: "1 deployment, 6 threads, 4 runs".
func CountByKind(entries []reports.LedgerEntry) string {
	return counted([]string{"deployment", "thread", "run"}, entries, func(e reports.LedgerEntry) string { return e.Kind })
}
