package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Cause is what requirements have in common that did not pass.
type Cause struct {
	What         string // why, for people
	Requirements []*reports.Requirement
}

// IDs lists the requirements.
func (c Cause) IDs() []string { return ids(c.Requirements) }

// Causes groups requirements that did not pass by what they seem to have in common: failures before all else, then the
// largest group first. Code does not decide by reasons: a requirement without a typed cause is a group of its own.
func (o Overview) Causes(requirements []*reports.Requirement) []Cause {
	var causes []Cause
	failures := 0 // so many causes hold a failure
	for _, failed := range []bool{true, false} {
		for _, q := range requirements {
			if (q.Verdict == reports.Failed) != failed {
				continue
			}
			at := slices.IndexFunc(causes, func(c Cause) bool {
				return slices.ContainsFunc(c.Requirements, func(m *reports.Requirement) bool { return o.related(m, q) })
			})
			if at < 0 {
				at, causes = len(causes), append(causes, Cause{})
			}
			causes[at].Requirements = append(causes[at].Requirements, q)
		}
		if failed {
			failures = len(causes)
		}
	}
	for i, c := range causes {
		causes[i].What = o.inWords(c.Requirements)
	}
	bySize := func(a, b Cause) int { return len(b.Requirements) - len(a.Requirements) }
	slices.SortStableFunc(causes[:failures], bySize)
	slices.SortStableFunc(causes[failures:], bySize)
	return causes
}

// related tells whether two requirements have one cause. Failures do where the same failure explains both, or one the other. What could not be
// judged belongs to the failure that alone blocks it; else to what it blocks, to what blocks it, and to what is kept from being judged by the same.
func (o Overview) related(a, b *reports.Requirement) bool {
	switch aFailed, bFailed := a.Verdict == reports.Failed, b.Verdict == reports.Failed; {
	case aFailed && bFailed:
		causes := reports.Causes(o.Result, a)
		return slices.ContainsFunc(reports.Causes(o.Result, b), func(q *reports.Requirement) bool { return slices.Contains(causes, q) })
	case aFailed || bFailed:
		return len(b.BlockedBy) == 1 && blocks(a, b)
	}
	return reports.SameCause(a, b) || blocks(a, b) || blocks(b, a)
}

func blocks(m, q *reports.Requirement) bool {
	return slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: m.ID})
}

// inWords says what the members of a cause have in common: what was found where the first one failed that no other
// explains, else why the first one was not judged that no other of them blocks.
func (o Overview) inWords(members []*reports.Requirement) string {
	free := func(q *reports.Requirement) bool {
		return len(q.ExplainedBy) == 0 && !slices.ContainsFunc(members, func(other *reports.Requirement) bool { return blocks(other, q) })
	}
	root := members[max(slices.IndexFunc(members, free), 0)]
	text := root.Reason
	if found := o.Findings[root.ID]; root.Verdict == reports.Failed && len(found) > 0 {
		text = WhatIsWrong(found[0])
	}
	if root.Skip != nil {
		text = cmp.Or(text, skipInWords(*root.Skip))
	}
	return strings.TrimSuffix(cmp.Or(text, root.Title, "no reason was given"), ".")
}

// Beneath are the failures that one explains, those too that others explain beside it.
func (o Overview) Beneath(q *reports.Requirement) (all []*reports.Requirement) {
	for other := range reports.Each(o.Result.Requirements) {
		if other != q && slices.Contains(reports.Causes(o.Result, other), q) {
			all = append(all, other)
		}
	}
	return all
}

// inOrder has each failure beneath the first of its causes.
func (o Overview) inOrder(failed []*reports.Requirement) (all []*reports.Requirement) {
	add := func(q *reports.Requirement) {
		if slices.Contains(failed, q) && !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	for _, q := range failed {
		if !o.IsBeneath(q, failed) {
			add(q)
			for _, other := range o.Beneath(q) {
				add(other)
			}
		}
	}
	return all
}

// IsBeneath tells whether one of the failures explains q.
func (o Overview) IsBeneath(q *reports.Requirement, failed []*reports.Requirement) bool {
	causes := reports.Causes(o.Result, q)
	return !slices.Contains(causes, q) && slices.ContainsFunc(failed, func(other *reports.Requirement) bool { return slices.Contains(causes, other) })
}

// Seen says in how many judgements of its scenario a finding was seen, where there were two; else "".
func Seen(f *reports.Finding) string {
	switch {
	case f.Judged < 2:
		return ""
	case f.Seen < f.Judged:
		return "once of two judgements"
	}
	return "twice"
}

// Explained names the failures that explain one and those that it explains, in a sentence; "" where there is none.
func (o Overview) Explained(q *reports.Requirement) string {
	var parts []string
	if len(q.ExplainedBy) > 0 {
		parts = append(parts, "explained by the failure of "+Some(q.ExplainedBy, 10))
	}
	if beneath := o.Beneath(q); len(beneath) > 0 {
		parts = append(parts, "explains the failure of "+Names(beneath))
	}
	return strings.Join(parts, "; ")
}

// skipInWords names a cause and, where a key of the configuration would change it, what to do.
func skipInWords(s reports.Skip) string {
	text := cmp.Or(strings.ReplaceAll(string(s.Kind), "-", " "), "no cause recorded")
	if s.Key == "" {
		return text
	}
	return text + ": " + map[reports.SkipKind]string{reports.NotConfigured: "set ", reports.OverBudget: "raise "}[s.Kind] + s.Key
}

// Remaining says how far a target is from conformant: "3 MUSTs with 2 causes", or "none".
func Remaining(r *reports.Result) string {
	o, passed, known := Of(r), 0, 0
	var short []*reports.Requirement // what decides the verdict and has not passed though it applies
	for q := range reports.Each(r.Requirements) {
		switch {
		case !q.Decides(r.Run.Strict) || q.Verdict == reports.Skipped:
		case q.Verdict == reports.Passed:
			passed++
		default:
			short = append(short, q)
			if q.Known != nil {
				known++
			}
		}
	}
	claims, text := BrokenClaims(r), ""
	switch warnings := o.Classes[Warning]; {
	case len(short) > 0:
		text = reports.Count(len(short), r.Deciding())
		if known > 0 {
			text += fmt.Sprintf(" (%d in the baseline)", known)
		}
		if causes := o.Causes(short); len(causes) < len(short) {
			text += " with " + reports.Count(len(causes), "cause")
		}
	case passed > 0 && len(warnings) > 0:
		text = "all MUSTs pass, " + byLevel(warnings) + " not met"
	case passed > 0 && claims == "":
		text = "none"
	}
	parts := []string{text, claims}
	if left := r.LeftOut(); left > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s not judged", left, reports.Count(r.Catalogue(), "requirement")))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return cmp.Or(strings.Join(parts, "; "), "no MUST was judged")
}
