package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Distance says how far a target is from conformant.
type Distance struct {
	// Short are the binding requirements that have not passed though they apply, in the order of the result.
	Short []string
	// Causes groups those of Short that seem to have one cause, the largest group first; each has at least two.
	Causes []Cause
	// Known counts those of Short that the baseline covers.
	Known  int
	left   reports.LeftOut
	unkept string // "1 SHOULD is not kept"
	passed int
	strict bool
}

// Cause is what several requirements have in common.
type Cause struct {
	Requirements []string
	What         string // in a sentence; empty where nothing tells it
}

// DistanceOf measures the distance. Two requirements seem to have one cause when the same exchange shows both
// violations, when both are about the same place in the answers of one operation, when the same thing kept both from
// being judged ([reports.SameCause]), or when one blocks the other, or the same requirement blocks both.
func DistanceOf(r *reports.Result) Distance {
	d := Distance{strict: r.Run.Strict, left: reports.LeftOutOf(r), unkept: unkeptInWords(notKept(r))}
	clues := cluesOf(r)
	var groups causes
	for i := range r.Requirements {
		q := &r.Requirements[i]
		switch {
		case !q.Level.Decides(r.Run.Strict) || q.Verdict == reports.Skipped:
			continue
		case q.Verdict == reports.Passed:
			d.passed++
			continue
		}
		d.Short = append(d.Short, q.ID)
		if q.Known != nil {
			d.Known++
		}
		groups.add(q, clues[q.ID])
	}
	for _, g := range groups.list {
		if len(g.members) > 1 {
			d.Causes = append(d.Causes, Cause{g.ids(), g.inWords(r)})
		}
	}
	slices.SortStableFunc(d.Causes, func(a, b Cause) int { return len(b.Requirements) - len(a.Requirements) })
	return d
}

// String puts the distance into words: "3 MUSTs short of conformant, 2 with one cause".
func (d Distance) String() string {
	what := "MUST"
	if d.strict {
		what = "requirement"
	}
	switch {
	case len(d.Short) == 0 && d.passed == 0:
		return "nothing that binds was judged"
	case len(d.Short) == 0 && d.left.N > 0 && d.unkept != "":
		return "nothing that binds is missing in what was judged, " + d.unkept + ": " + leftOut(d.left) + " judged"
	case len(d.Short) == 0 && d.left.N > 0:
		return "nothing is missing in what was judged: " + leftOut(d.left)
	case len(d.Short) == 0 && d.unkept != "":
		return "nothing that binds is missing, " + d.unkept
	case len(d.Short) == 0:
		return "nothing is missing"
	}
	s := fmt.Sprintf("%s short of conformant", reports.Count(len(d.Short), what))
	if d.Known > 0 {
		s += fmt.Sprintf(" (%d known)", d.Known)
	}
	s += d.causes()
	if d.left.N > 0 {
		s += "; " + leftOut(d.left) + " judged"
	}
	return s
}

// unkeptInWords tells of what fails and does not bind: "2 SHOULDs are not kept".
func unkeptInWords(counts map[reports.Level]int) string {
	var parts []string
	all := 0
	for _, l := range []reports.Level{reports.Should, reports.May} {
		if n := counts[l]; n > 0 {
			parts = append(parts, reports.Count(n, string(l)))
			all += n
		}
	}
	switch all {
	case 0:
		return ""
	case 1:
		return parts[0] + " is not kept"
	}
	return strings.Join(parts, " and ") + " are not kept"
}

// causes tells of the causes: ", 2 with one cause: the fixture could not be updated".
func (d Distance) causes() string {
	switch len(d.Causes) {
	case 0:
		return ""
	case 1:
		s := fmt.Sprintf(", %d with one cause", len(d.Causes[0].Requirements))
		if len(d.Causes[0].Requirements) == len(d.Short) {
			s = ", all with one cause"
		}
		if what := d.Causes[0].What; what != "" {
			s += ": " + safe.Ellipsis(what, 120)
		}
		return s
	}
	n := 0
	for _, c := range d.Causes {
		n += len(c.Requirements)
	}
	return fmt.Sprintf(", %d of them with %d causes", n, len(d.Causes))
}

// inWords says what the members have in common: what was found where one of them failed, else why one could not be
// judged that no other of them blocks.
func (c cause) inWords(r *reports.Result) string {
	for _, q := range c.members {
		for i := range r.Findings {
			if q.Verdict == reports.Failed && r.Findings[i].Requirement == q.ID {
				return WhatIsWrong(&r.Findings[i])
			}
		}
	}
	roots := c.roots()
	same := slices.DeleteFunc(slices.Clone(roots), func(q *reports.Requirement) bool { return q != roots[0] && !reports.SameCause(roots[0], q) })
	return strings.TrimSuffix(reasonOf(same), ".")
}
