package overview

import (
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// clue is something that hints at the cause of a failure. Requirements that share one seem to have one cause.
type clue struct {
	kind clueKind
	name string
}

type clueKind string

const (
	byExchange    clueKind = "exchange"    // the exchange that shows the violation
	byPlace       clueKind = "place"       // an operation and a pointer into its answer
	byRequirement clueKind = "requirement" // the requirement itself, or one that blocks it
)

// cluesOf collects the clues by requirement.
func cluesOf(r *reports.Result) map[string][]clue {
	clues := map[string][]clue{}
	for _, f := range r.Findings {
		if f.Exchange > 0 {
			clues[f.Requirement] = append(clues[f.Requirement], clue{byExchange, fmt.Sprint(f.Exchange)})
		}
		if f.Operation != "" && f.Pointer != "" {
			clues[f.Requirement] = append(clues[f.Requirement], clue{byPlace, f.Operation + " " + f.Pointer})
		}
	}
	for _, q := range r.Requirements {
		clues[q.ID] = append(clues[q.ID], clue{byRequirement, q.ID})
		for _, b := range q.BlockedBy {
			if b.Kind == reports.ByRequirement {
				clues[q.ID] = append(clues[q.ID], clue{byRequirement, b.Name})
			}
		}
	}
	return clues
}

// causes joins requirements that seem to have one cause.
type causes struct{ list []cause }

type cause struct {
	members []*reports.Requirement
	clues   map[clue]bool
}

// add puts q into a group with all that it shares a clue or a typed cause with, which thereby become one.
func (c *causes) add(q *reports.Requirement, clues []clue) {
	joined := cause{clues: map[clue]bool{}}
	for _, clue := range clues {
		joined.clues[clue] = true
	}
	rest := c.list[:0]
	for _, g := range c.list {
		if !g.has(q, clues) {
			rest = append(rest, g)
			continue
		}
		joined.members = append(joined.members, g.members...)
		for clue := range g.clues {
			joined.clues[clue] = true
		}
	}
	joined.members = append(joined.members, q)
	c.list = append(rest, joined)
}

func (c cause) has(q *reports.Requirement, clues []clue) bool {
	return slices.ContainsFunc(clues, func(clue clue) bool { return c.clues[clue] }) ||
		slices.ContainsFunc(c.members, func(m *reports.Requirement) bool { return reports.SameCause(m, q) })
}

// roots are the members that no other member blocks; all of them where they block each other.
func (c cause) roots() []*reports.Requirement {
	var roots []*reports.Requirement
	for _, q := range c.members {
		blocked := slices.ContainsFunc(c.members, func(other *reports.Requirement) bool {
			return other.ID != q.ID && slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: other.ID})
		})
		if !blocked {
			roots = append(roots, q)
		}
	}
	if roots == nil {
		return c.members
	}
	return roots
}

// ids lists the members.
func (c cause) ids() []string {
	var ids []string
	for _, q := range c.members {
		ids = append(ids, q.ID)
	}
	return ids
}
