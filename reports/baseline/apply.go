package baseline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Apply compares a result with a baseline on the day of now. It marks what is known in r (Requirement.Known,
// Finding.Known) and sums up in r.Baseline, a sentence for each entry or failure that makes the run fail, so that every
// report shows it; verdicts and counts stay what they are: a known failure is a failure.
func Apply(r *reports.Result, b *Baseline, now time.Time) {
	r.Baseline = &reports.Baseline{File: b.File}
	today := Day(now.UTC().Format(time.DateOnly))
	for i, e := range b.entries() {
		apply(r, e, i >= len(b.Known), today)
	}
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() {
			continue
		}
		findings := findingsOf(r, q.ID)
		fresh := slices.IndexFunc(findings, func(f *reports.Finding) bool { return f.Known == nil })
		if q.Known == nil && len(findings) > 0 && fresh < 0 {
			q.Known = findings[0].Known // each of its findings is known
		}
	}
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() {
			continue
		}
		findings := findingsOf(r, q.ID)
		fresh := slices.IndexFunc(findings, func(f *reports.Finding) bool { return f.Known == nil })
		if q.Known == nil && coveredByCauses(r, b, q) {
			q.Known = reports.Causes(r, q)[0].Known
		}
		switch {
		case q.Known != nil && q.Known.Flaky:
			r.Baseline.Flaky++
		case q.Known != nil:
			r.Baseline.Known++
		case q.Decides(r.Run.Strict):
			what, why := "new failure", q.Reason
			if q.Verdict != reports.Failed {
				what = "newly " + string(q.Verdict)
			}
			if fresh >= 0 {
				why = findings[fresh].Summary + " (" + findings[fresh].ID + ")"
			}
			r.Baseline.New = append(r.Baseline.New, fmt.Sprintf("%s, not in the baseline: %s: %s", what, q.ID, why))
		}
	}
}

// coverable tells whether the entries of its causes may cover a failure: not what is at risk for users.
func coverable(q *reports.Requirement) bool {
	return len(q.ExplainedBy) > 0 && q.Subject != "security" && q.Subject != "isolation"
}

// coveredByCauses tells whether known failures explain one: each of its causes is known, and no entry says more about it.
func coveredByCauses(r *reports.Result, b *Baseline, q *reports.Requirement) bool {
	fresh := slices.ContainsFunc(reports.Causes(r, q), func(cause *reports.Requirement) bool { return cause.Known == nil })
	return !b.has(q) && !fresh && coverable(q)
}

// has tells whether an entry is about the requirement.
func (b *Baseline) has(q *reports.Requirement) bool {
	return slices.ContainsFunc(b.entries(), func(e Entry) bool { return e.Requirement == q.ID })
}

// apply finds out what one entry is worth, and marks what it covers. Where the run has learned nothing about the
// requirement, the entry stays as it is.
func apply(r *reports.Result, e Entry, flaky bool, today Day) {
	a, q := r.Baseline, requirementOf(r, e.Requirement)
	where := fmt.Sprintf("%s:%d: %s", a.File, e.Line, e.name())
	switch {
	case q == nil && r.Filtered():
	case q == nil:
		a.Unmatched = append(a.Unmatched, where+": no such requirement; remove the entry, or correct its ID")
	case e.Expires != "" && today > e.Expires:
		a.Expired = append(a.Expired, fmt.Sprintf("%s: the entry expired on %s; fix the failure, or set a new date", where, e.Expires))
	case q.Verdict == reports.Passed && !flaky:
		a.Stale = append(a.Stale, where+" passes; remove the entry")
	case !q.Verdict.Problem():
	default:
		known := &reports.Known{Reason: e.Reason, Owner: e.Owner, Expires: string(e.Expires), Flaky: flaky}
		findings := findingsOf(r, q.ID)
		at := slices.IndexFunc(findings, func(f *reports.Finding) bool { return f.ID == e.Finding })
		switch {
		case e.Finding == "":
			q.Known = known
		case at >= 0:
			findings[at].Known = known
		case !flaky: // the requirement fails in another way: what the entry knew is repaired
			a.Unmatched = append(a.Unmatched, where+": the requirement fails, but not with this finding; remove the entry, or correct its finding")
		}
	}
}
