package baseline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Assessment tells how a run compares with its baseline. Each list holds one sentence for a person per entry or
// failure.
type Assessment struct {
	Known     []string // failures that an entry covers
	Flaky     []string // failures that a flaky entry covers
	New       []string // failures that no entry covers
	Stale     []string // entries for what passes
	Unmatched []string // entries that match nothing
	Expired   []string // expired entries
	Idle      []string // entries about which the run has learned nothing
	// Conclusion is the verdict of the run where what is known counts as if it had not been judged.
	Conclusion reports.Conclusion
}

// OK tells whether the run passes: it is conformant but for what is known, and every entry fits.
func (a Assessment) OK() bool {
	return a.Conclusion == reports.Conformant && len(a.Stale)+len(a.Unmatched)+len(a.Expired) == 0
}

// Apply compares a result with a baseline on the day of now. It marks what is known in r (Requirement.Known,
// Finding.Known) and sums up in r.Baseline, so that every report shows it; verdicts and counts stay what they are: a
// known failure is a failure.
func Apply(r *reports.Result, b *Baseline, now time.Time) Assessment {
	j := judge{r: r, today: now.UTC().Truncate(24 * time.Hour), file: b.File, marked: map[*reports.Requirement]bool{}}
	for _, e := range b.Known {
		j.entry(e, false)
	}
	for _, e := range b.Flaky {
		j.entry(e, true)
	}
	j.requirements()
	j.a.Conclusion = reports.ConcludeKnown(r)
	r.Baseline = &reports.Baseline{
		File: b.File, Known: len(j.a.Known), Flaky: len(j.a.Flaky),
		Stale: j.a.Stale, Unmatched: j.a.Unmatched, Expired: j.a.Expired, New: j.a.New,
	}
	return j.a
}

type judge struct {
	r      *reports.Result
	today  time.Time
	file   string
	a      Assessment
	marked map[*reports.Requirement]bool // covered by an entry for the whole requirement
}

// entry finds out what one entry is worth, and marks what it covers.
func (j *judge) entry(e Entry, flaky bool) {
	name := e.Requirement
	if e.Finding != "" {
		name += " " + e.Finding
	}
	where := fmt.Sprintf("%s:%d: %s", j.file, e.Line, name)
	q := requirementOf(j.r, e.Requirement)
	if q == nil {
		if j.r.Filtered() {
			j.a.Idle = append(j.a.Idle, where+" was not part of this run")
			return
		}
		j.a.Unmatched = append(j.a.Unmatched, where+": no such requirement; remove the entry, or correct its ID")
		return
	}
	if !e.Expires.IsZero() && j.today.After(e.Expires) {
		j.a.Expired = append(j.a.Expired, fmt.Sprintf("%s: the entry expired on %s; fix the failure, or set a new date", where, e.Expires.Format(time.DateOnly)))
		return
	}
	switch {
	case q.Verdict == reports.Skipped:
		j.a.Idle = append(j.a.Idle, where+" was skipped: "+q.Reason)
	case !q.Verdict.Problem() && flaky:
	case !q.Verdict.Problem():
		j.a.Stale = append(j.a.Stale, where+" passes; remove the entry")
	default:
		j.cover(e, q, flaky, where)
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

// requirements sorts all that is wrong into known, flaky and new.
func (j *judge) requirements() {
	for i := range j.r.Requirements {
		q := &j.r.Requirements[i]
		if !q.Verdict.Problem() {
			continue
		}
		findings := findingsOf(j.r, q.ID)
		if !j.marked[q] && len(findings) > 0 && !slices.ContainsFunc(findings, func(f *reports.Finding) bool { return f.Known == nil }) {
			q.Known = findings[0].Known // each of its findings is known
		}
		switch {
		case q.Known != nil && q.Known.Flaky:
			j.a.Flaky = append(j.a.Flaky, fmt.Sprintf("%s %s: %s", q.ID, q.Verdict, q.Known.Reason))
		case q.Known != nil:
			j.a.Known = append(j.a.Known, fmt.Sprintf("%s %s: %s", q.ID, q.Verdict, q.Known.Reason))
		case q.Decides(j.r.Run.Strict):
			j.a.New = append(j.a.New, j.newFailure(q, findings))
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
