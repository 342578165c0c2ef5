package overview

import (
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// Notes lists what is no failure and worth knowing, a sentence each: "90 answers contain the caller's own token in clear (first
// exchange 12, at /kwargs/config)".
func Notes(r *reports.Result) []string {
	var all []string
	for _, n := range r.Notes {
		text := n.Text
		if n.Kind == reports.NoteOwnToken && n.Count > 1 {
			text = fmt.Sprintf("%d answers contain the caller's own token in clear", n.Count)
		}
		if n.Exchange > 0 {
			where := fmt.Sprintf("exchange %d", n.Exchange)
			if n.Count > 1 {
				where = "first " + where
			}
			if n.Pointer != "" {
				where += ", at " + n.Pointer
			}
			text += " (" + where + ")"
		}
		all = append(all, text)
	}
	return all
}
