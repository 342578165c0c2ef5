package overview

import (
	"cmp"
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
	claims string // "claimed and not judged: tags (set alternatives.tag_ref)"
	unmet  string // "1 SHOULD not met"
	passed int
	beyond bool // not only MUSTs count
}

// Cause is what several requirements have in common.
type Cause struct {
	Requirements []string
	What         string // in a sentence; empty where nothing tells it
}

// DistanceOf measures the distance. Two requirements seem to have one cause when the same exchange shows both violations at
// one place, when the same thing kept both from being judged ([reports.SameCause]), or when one blocks the other, or the
// same requirement blocks both.
func DistanceOf(r *reports.Result) Distance {
	d := Distance{beyond: r.BeyondMusts(), left: reports.LeftOutOf(r), claims: BrokenClaims(r), unmet: unmetInWords(Of(r).Warnings)}
	var short []*reports.Requirement
	for i := range r.Requirements {
		q := &r.Requirements[i]
		switch {
		case !q.Decides(r.Run.Strict) || q.Verdict == reports.Skipped:
			continue
		case q.Verdict == reports.Passed:
			d.passed++
			continue
		}
		d.Short = append(d.Short, q.ID)
		if q.Known != nil {
			d.Known++
		}
		short = append(short, q)
	}
	for _, g := range causesOf(r, short) {
		if len(g.members) > 1 {
			d.Causes = append(d.Causes, Cause{g.ids(), g.inWords(r)})
		}
	}
	slices.SortStableFunc(d.Causes, func(a, b Cause) int { return len(b.Requirements) - len(a.Requirements) })
	return d
}

// String puts the distance into words: "3 MUSTs, 2 of them with one cause", or "none".
func (d Distance) String() string {
	what := "MUST"
	if d.beyond {
		what = "requirement"
	}
	left := ""
	if d.left.N > 0 {
		left = fmt.Sprintf("%d of %s not judged", d.left.N, reports.Count(d.left.All, "requirement"))
	}
	if d.claims != "" {
		left = joined(d.claims, left)
	}
	switch {
	case len(d.Short) == 0 && d.passed == 0:
		return cmp.Or(left, "no MUST was judged")
	case len(d.Short) == 0 && d.unmet != "":
		return joined("all MUSTs pass, "+d.unmet, left)
	case len(d.Short) == 0 && d.claims != "":
		return left
	case len(d.Short) == 0:
		return joined("none", left)
	}
	s := reports.Count(len(d.Short), what)
	if d.Known > 0 {
		s += fmt.Sprintf(" (%d in the baseline)", d.Known)
	}
	return joined(s+d.causes(), left)
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// unmetInWords counts what failed and does not decide the verdict: "2 SHOULDs not met".
func unmetInWords(warnings []*reports.Requirement) string {
	counts := map[reports.Level]int{}
	for _, q := range warnings {
		counts[q.Level]++
	}
	var parts []string
	for _, l := range []reports.Level{reports.Should, reports.May} {
		if n := counts[l]; n > 0 {
			parts = append(parts, reports.Count(n, string(l)))
		}
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, " and ") + " not met"
}

// causes describes the causes: ", 2 with one cause: the fixture could not be updated".
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
	if n == len(d.Short) {
		return fmt.Sprintf(", all with %d causes", len(d.Causes))
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
