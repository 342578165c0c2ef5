package plane

import (
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// timeline is which statuses polling saw, and when.
type timeline struct {
	start time.Time // of the run

	mu   sync.Mutex
	all  []reports.Transition
	seen map[string]bool // revisions with a status
}

// Timeline returns the statuses that polling saw, each once for each revision, in the order in which they were seen.
func (t *timeline) Timeline() []reports.Transition {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.all)
}

// note notes a status for the timeline, once for each revision.
func (t *timeline) note(revision, status string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := revision + " " + status
	if t.seen[key] {
		return
	}
	t.seen[key] = true
	t.all = append(t.all, reports.Transition{Revision: revision, Status: status, AtMS: time.Since(t.start).Milliseconds()})
}

// StatusesOf returns every status that any poll of the run saw of a revision.
func (t *timeline) StatusesOf(revision string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []string
	for _, one := range t.all {
		if one.Revision == revision {
			all = append(all, one.Status)
		}
	}
	return all
}
