package baseline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// Apply compares a result with a baseline on the day of now. It marks what is known in r (Requirement.Known,
// Finding.Known) and sums up in r.Baseline, a sentence for each entry or failure that makes the run fail, so that every
// report shows it; verdicts and counts stay what they are: a known failure is a failure.
func Apply(r *reports.Result, b *Baseline, now time.Time) {
	r.Baseline = &reports.Baseline{File: b.File}
	findings := overview.Of(r).Findings
	today := Day(now.UTC().Format(time.DateOnly))
	for i, e := range b.entries() {
		apply(r, e, findings[e.Requirement], i >= len(b.Known), today)
	}
	fresh := func(f *reports.Finding) bool { return f.Known == nil }
	for q := range reports.Each(r.Requirements) {
		found := findings[q.ID]
		if q.Verdict.Problem() && q.Known == nil && len(found) > 0 && !slices.ContainsFunc(found, fresh) {
			q.Known = found[0].Known // each of its findings is known
		}
	}
	for q := range reports.Each(r.Requirements) {
		if !q.Verdict.Problem() {
			continue
		}
		if q.Known == nil && coverable(q) && !b.Names(q.ID) { // no entry says more about it than those of its causes
			causes := reports.Causes(r, q)
			if !slices.ContainsFunc(causes, func(cause *reports.Requirement) bool { return cause.Known == nil }) {
				q.Known = causes[0].Known
			}
		}
		switch {
		case q.Known != nil && q.Known.Flaky:
			r.Baseline.Flaky++
		case q.Known != nil:
			r.Baseline.Known++
		case q.Decides():
			what, why := "new failure", q.Reason
			if q.Verdict != reports.Failed {
				what = "newly " + string(q.Verdict)
			}
			if at := slices.IndexFunc(findings[q.ID], fresh); at >= 0 {
				why = findings[q.ID][at].Summary + " (" + findings[q.ID][at].ID + ")"
			}
			r.Baseline.New = append(r.Baseline.New, fmt.Sprintf("%s, not in the baseline: %s: %s", what, q.ID, why))
		}
	}
}

// coverable tells whether the entries of its causes may cover a failure: not what is at risk for users.
func coverable(q *reports.Requirement) bool {
	return len(q.ExplainedBy) > 0 && q.Subject != "security" && q.Subject != "isolation"
}

// apply finds out what one entry is worth, and marks what it covers. Where the run has learned nothing about the
// requirement, the entry stays as it is.
func apply(r *reports.Result, e Entry, findings []*reports.Finding, flaky bool, today Day) {
	a, q := r.Baseline, r.Requirement(e.Requirement)
	where := fmt.Sprintf("%s:%d: %s", a.File, e.Line, e.name())
	switch {
	case q == nil && r.Filtered():
	case q == nil:
		a.Unmatched = append(a.Unmatched, where+": no such requirement; remove the entry, or correct its ID")
	case e.Expires != "" && today > e.Expires:
		a.Expired = append(a.Expired, where+": the entry expired on "+string(e.Expires)+
			"; fix the failure, or set a new date")
	case q.Verdict == reports.Passed && !flaky:
		a.Stale = append(a.Stale, where+" passes; remove the entry")
	case q.Verdict.Problem():
		known := &reports.Known{Reason: e.Reason, Owner: e.Owner, Expires: string(e.Expires), Flaky: flaky}
		covered := false
		for _, f := range findings {
			if f.ID == e.Finding {
				f.Known, covered = known, true
			}
		}
		if e.Finding == "" {
			q.Known = known
		} else if !covered && !flaky { // the requirement fails in another way: what the entry knew is repaired
			a.Unmatched = append(a.Unmatched, where+
				": the requirement fails, but not with this finding; remove the entry, or correct its finding")
		}
	}
}
