package target

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Note adds a note to the result. One of the same kind and text is added once; the first exchange stays.
func (t *Target) Note(n reports.Note) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n.Text = t.Redact.Text(n.Text)
	if !slices.ContainsFunc(t.notes, func(known reports.Note) bool { return known.Kind == n.Kind && known.Text == n.Text }) {
		t.notes = append(t.notes, n)
	}
}

// Notes returns what was noted, in a stable order.
func (t *Target) Notes() []reports.Note {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.notes)
	slices.SortStableFunc(all, func(a, b reports.Note) int {
		return strings.Compare(string(a.Kind)+" "+a.Text, string(b.Kind)+" "+b.Text)
	})
	return all
}
