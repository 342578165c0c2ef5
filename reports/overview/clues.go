package overview

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// cause is what requirements have in common that have not passed.
type cause struct {
	members []*reports.Requirement
	shown   *reports.Finding // the first finding of the first member that failed
}

// causesOf groups requirements that have not passed. Failures have one cause where one exchange shows them at one place:
// independent faults often are at the same place of other answers. What could not be judged belongs to the failure that
// blocks it, where that is one, else to what is kept from being judged by the same.
func causesOf(r *reports.Result, short []*reports.Requirement) []cause {
	first := map[string]*reports.Finding{}
	for i := range r.Findings {
		if f := &r.Findings[i]; first[f.Requirement] == nil {
			first[f.Requirement] = f
		}
	}
	var causes []cause
	for _, q := range short {
		if q.Verdict != reports.Failed {
			continue
		}
		shown := first[q.ID]
		join(&causes, cause{shown: shown}, q, func(c cause) bool { return sameFault(c.shown, shown) })
	}
	failed := len(causes)
	for _, q := range short {
		if q.Verdict == reports.Failed {
			continue
		}
		if at := blockedBy(causes[:failed], q); at >= 0 {
			causes[at].members = append(causes[at].members, q)
			continue
		}
		join(&causes, cause{}, q, func(c cause) bool { return c.holds(q) })
	}
	return causes
}

// join adds q to the first cause that satisfies the condition, or to a new one.
func join(causes *[]cause, fresh cause, q *reports.Requirement, condition func(cause) bool) {
	at := slices.IndexFunc(*causes, condition)
	if at < 0 {
		at, *causes = len(*causes), append(*causes, fresh)
	}
	(*causes)[at].members = append((*causes)[at].members, q)
}

// sameFault tells whether two findings show one fault: the same exchange, and the same place of its answer or one in it. A
// wrong status and a wrong value in the body are two.
func sameFault(a, b *reports.Finding) bool {
	if a == nil || b == nil || a.Exchange == 0 || a.Exchange != b.Exchange {
		return false
	}
	return within(a.Pointer, b.Pointer) || within(b.Pointer, a.Pointer)
}

// within tells whether a place is another one, or in it.
func within(pointer, outer string) bool {
	return pointer == outer || outer != "" && strings.HasPrefix(pointer, outer+"/")
}

// blockedBy finds the only cause of which a member blocks q; -1 where there is none, or where there are several.
func blockedBy(causes []cause, q *reports.Requirement) int {
	found := -1
	for i, c := range causes {
		if !c.blocks(q) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// holds tells whether q, which was not judged, belongs to others that were not: the same keeps them from it, or one blocks
// the other.
func (c cause) holds(q *reports.Requirement) bool {
	return c.shown == nil && slices.ContainsFunc(c.members, func(m *reports.Requirement) bool {
		return m.Verdict != reports.Failed && (reports.SameCause(m, q) || blocks(m, q) || blocks(q, m) || sameBlocker(m, q))
	})
}

func (c cause) blocks(q *reports.Requirement) bool {
	return slices.ContainsFunc(c.members, func(m *reports.Requirement) bool { return blocks(m, q) })
}

func blocks(m, q *reports.Requirement) bool {
	return slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: m.ID})
}

// sameBlocker tells whether one requirement blocks both.
func sameBlocker(a, b *reports.Requirement) bool {
	return slices.ContainsFunc(a.BlockedBy, func(by reports.Blocker) bool {
		return by.Kind == reports.ByRequirement && slices.Contains(b.BlockedBy, by)
	})
}

// roots are the members that no other member blocks; all of them where they block each other.
func (c cause) roots() []*reports.Requirement {
	roots := slices.DeleteFunc(slices.Clone(c.members), func(q *reports.Requirement) bool {
		return slices.ContainsFunc(c.members, func(other *reports.Requirement) bool { return other.ID != q.ID && blocks(other, q) })
	})
	if len(roots) == 0 {
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
