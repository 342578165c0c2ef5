package target

import (
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reports"
)

// Note adds a note to the result. One of the same kind and text is added once; the first exchange stays.
func (t *Target) Note(n reports.Note) {
	n.Text = t.Redact.Text(n.Text)
	t.notes.add(n)
}

// Notes returns what was noted, in a stable order.
func (t *Target) Notes() []reports.Note {
	all := t.notes.list()
	slices.SortStableFunc(all, func(a, b reports.Note) int {
		return strings.Compare(string(a.Kind)+" "+a.Text, string(b.Kind)+" "+b.Text)
	})
	return all
}

// notes are the notes to a result, in the order in which they came. Its zero value is ready for use.
type notes struct {
	mu  sync.Mutex
	all []reports.Note
}

func (n *notes) add(note reports.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.ContainsFunc(n.all, func(known reports.Note) bool { return known.Kind == note.Kind && known.Text == note.Text }) {
		n.all = append(n.all, note)
	}
}

func (n *notes) list() []reports.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}
