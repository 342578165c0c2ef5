package overview

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// maxRenamed is how many renamed names the first line lists.
const maxRenamed = 6

// renamed lists the names of the interface that the target has renamed, for the first line.
func renamed(r *reports.Result) string { return reports.RenamedNames(r, maxRenamed) }

// Vocabulary says which names of the interface the target has renamed, and which entries of the key `vocabulary` it was never
// seen to use; "" where there is nothing to say.
//
//	2 renamed fields: source as quelle, status as state; never used: internal_container as bundled
func Vocabulary(r *reports.Result) string {
	var parts []string
	if names := reports.RenamedNames(r, 0); names != "" {
		parts = append(parts, reports.RenamedCount(r)+": "+names)
	}
	if unused := Unused(r); unused != "" {
		parts = append(parts, "never used by the target: "+unused)
	}
	return strings.Join(parts, "; ")
}

// Unused lists the entries of the key `vocabulary` that the target was never seen to use.
func Unused(r *reports.Result) string {
	var all []string
	for _, w := range r.UnusedWords {
		text := w.Name + " as " + w.As
		if w.Unchanged {
			text += fmt.Sprintf(" (it uses %q)", w.Name)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}
