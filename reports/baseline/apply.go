package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Apply compares a result with a baseline on the day of now. It marks what is known in r (Requirement.Known,
// Finding.Known) and sums up in r.Baseline, so that every report shows it; verdicts and counts stay what they are: a
// known failure is a failure.
func Apply(r *reports.Result, b *Baseline, now time.Time) {
	r.Baseline = &reports.Baseline{File: b.File}
	j := judge{r: r, a: r.Baseline, today: now.UTC().Truncate(24 * time.Hour), marked: map[*reports.Requirement]bool{}}
	for _, e := range b.Known {
		j.entry(e, false)
	}
	for _, e := range b.Flaky {
		j.entry(e, true)
	}
	j.requirements()
}

// judge fills a. Its lists hold one sentence for a person per entry or failure.
type judge struct {
	r      *reports.Result
	a      *reports.Baseline
	today  time.Time
	marked map[*reports.Requirement]bool // covered by an entry for the whole requirement
}

// entry finds out what one entry is worth, and marks what it covers. Where the run has learned nothing about the
// requirement, the entry stays as it is.
func (j *judge) entry(e Entry, flaky bool) {
	name := e.Requirement
	if e.Finding != "" {
		name += " " + e.Finding
	}
	where := fmt.Sprintf("%s:%d: %s", j.a.File, e.Line, name)
	q := requirementOf(j.r, e.Requirement)
	if q == nil {
		if !j.r.Filtered() {
			j.a.Unmatched = append(j.a.Unmatched, where+": no such requirement; remove the entry, or correct its ID")
		}
		return
	}
	if !e.Expires.IsZero() && j.today.After(e.Expires) {
		j.a.Expired = append(j.a.Expired, fmt.Sprintf("%s: the entry expired on %s; fix the failure, or set a new date", where, e.Expires.Format(time.DateOnly)))
		return
	}
	switch {
	case q.Verdict.Problem():
		j.cover(e, q, flaky, where)
	case q.Verdict == reports.Passed && !flaky:
		j.a.Stale = append(j.a.Stale, where+" passes; remove the entry")
	}
}

func (j *judge) cover(e Entry, q *reports.Requirement, flaky bool, where string) {
	known := &reports.Known{Reason: e.Reason, Owner: e.Owner, Flaky: flaky}
	if !e.Expires.IsZero() {
		known.Expires = e.Expires.Format(time.DateOnly)
	}
	if e.Finding == "" {
		q.Known, j.marked[q] = known, true
		return
	}
	for _, f := range findingsOf(j.r, q.ID) {
		if f.ID == e.Finding {
			f.Known = known
			return
		}
	}
	if flaky {
		return // this time it did not occur
	}
	// The requirement fails in another way: what the entry knew is repaired.
	j.a.Unmatched = append(j.a.Unmatched, where+": the requirement fails, but not with this finding; remove the entry, or correct its finding")
}

// requirements sorts all that is wrong into known, flaky and new. What a known failure explains is known with it.
func (j *judge) requirements() {
	for i := range j.r.Requirements {
		q := &j.r.Requirements[i]
		findings := findingsOf(j.r, q.ID)
		if q.Verdict.Problem() && !j.marked[q] && len(findings) > 0 && !slices.ContainsFunc(findings, func(f *reports.Finding) bool { return f.Known == nil }) {
			q.Known = findings[0].Known // each of its findings is known
		}
	}
	for i := range j.r.Requirements {
		q := &j.r.Requirements[i]
		if !q.Verdict.Problem() {
			continue
		}
		for _, cause := range reports.Causes(j.r, q) {
			q.Known = cmp.Or(q.Known, cause.Known)
		}
		switch {
		case q.Known != nil && q.Known.Flaky:
			j.a.Flaky++
		case q.Known != nil:
			j.a.Known++
		case q.Decides(j.r.Run.Strict):
			j.a.New = append(j.a.New, j.newFailure(q, findingsOf(j.r, q.ID)))
		}
	}
}

func (j *judge) newFailure(q *reports.Requirement, findings []*reports.Finding) string {
	what := "new failure"
	if q.Verdict != reports.Failed {
		what = "newly " + string(q.Verdict)
	}
	what += ", not in the baseline: " + q.ID
	for _, f := range findings {
		if f.Known == nil {
			return fmt.Sprintf("%s: %s (%s)", what, f.Summary, f.ID)
		}
	}
	return what + ": " + q.Reason
}

func requirementOf(r *reports.Result, id string) *reports.Requirement {
	for i := range r.Requirements {
		if r.Requirements[i].ID == id {
			return &r.Requirements[i]
		}
	}
	return nil
}

func findingsOf(r *reports.Result, id string) []*reports.Finding {
	var all []*reports.Finding
	for i := range r.Findings {
		if r.Findings[i].Requirement == id {
			all = append(all, &r.Findings[i])
		}
	}
	return all
}
