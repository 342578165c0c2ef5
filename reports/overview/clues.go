package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// cluesOf collects, by requirement, what hints at the cause of a failure.
func cluesOf(r *reports.Result) map[string][]string {
	clues, ids := map[string][]string{}, map[string]bool{}
	for _, q := range r.Requirements {
		ids[q.ID] = true
	}
	for _, f := range r.Findings {
		if f.Exchange > 0 {
			clues[f.Requirement] = append(clues[f.Requirement], fmt.Sprint("exchange ", f.Exchange))
		}
		if f.Operation != "" && f.Pointer != "" {
			clues[f.Requirement] = append(clues[f.Requirement], "place "+f.Operation+" "+f.Pointer)
		}
	}
	for _, q := range r.Requirements {
		clues[q.ID] = append(clues[q.ID], "requirement "+q.ID)
		if q.Verdict != reports.Blocked && q.Verdict != reports.Inconclusive || q.Reason == "" {
			continue
		}
		clues[q.ID] = append(clues[q.ID], "reason "+causeOf(q.Reason))
		for _, word := range strings.FieldsFunc(q.Reason, func(r rune) bool { return strings.ContainsRune(" ,;:()\n", r) }) {
			if named := strings.TrimRight(word, "."); ids[named] {
				clues[q.ID] = append(clues[q.ID], "requirement "+named)
			}
		}
	}
	return clues
}

// causes joins requirements that share a clue.
type causes struct{ list []cause }

type cause struct {
	members []string
	clues   map[string]bool
}

func (c *causes) add(id string, clues []string) {
	joined := cause{clues: map[string]bool{}}
	for _, clue := range clues {
		joined.clues[clue] = true
	}
	rest := c.list[:0]
	for _, g := range c.list {
		if !g.shares(clues) {
			rest = append(rest, g)
			continue
		}
		joined.members = append(joined.members, g.members...)
		for clue := range g.clues {
			joined.clues[clue] = true
		}
	}
	joined.members = append(joined.members, id)
	c.list = append(rest, joined)
}

func (c cause) shares(clues []string) bool {
	return slices.ContainsFunc(clues, func(clue string) bool { return c.clues[clue] })
}
