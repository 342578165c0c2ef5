package html

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// cleanupView tells what the run left at the target from what it removed.
type cleanupView struct {
	Summary string // what was created, removed and left
	Left    []reports.LedgerEntry
	Removed []reports.LedgerEntry
	Reasons []string // why something is left
	Command string   // removes it; "" where nothing can
}

func cleanupOf(r *reports.Result) cleanupView {
	c := overview.CleanupOf(r)
	view := cleanupView{Summary: c.String(), Left: c.Left, Removed: c.Removed, Reasons: c.Reasons}
	if c.Removable {
		view.Command = overview.CleanCommand(r, r.Run.Flag("--out"))
	}
	return view
}
