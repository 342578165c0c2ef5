package baseline

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// Apply compares a result with a baseline on the day of now. It marks known failures in r (Requirement.Known,
// Finding.Known) and fills r.Baseline with a sentence for each entry or failure that makes the test run fail.
func Apply(r *reports.Result, b *Baseline, now time.Time) {
	r.Baseline = &reports.Baseline{File: b.File}
	findings := overview.Of(r).Findings
	today := Day(now.UTC().Format(time.DateOnly))
	for _, e := range b.Known {
		applyEntry(r, e, findings[e.Requirement], false, today)
	}
	for _, e := range b.Flaky {
		applyEntry(r, e, findings[e.Requirement], true, today)
	}
	for q := range reports.Each(r.Requirements) {
		found := findings[q.ID]
		if q.Verdict.Problem() && q.Known == nil && len(found) > 0 && firstNew(found) == nil {
			q.Known = found[0].Known // each finding has an entry
		}
	}
	for q := range reports.Each(r.Requirements) {
		if q.Verdict.Problem() && q.Known == nil && inheritsCause(q) && !b.Names(q.ID) {
			q.Known = knownCause(r, q)
		}
		switch {
		case !q.Verdict.Problem():
		case q.Known != nil && q.Known.Flaky:
			r.Baseline.Flaky++
		case q.Known != nil:
			r.Baseline.Known++
		case q.Decides():
			r.Baseline.New = append(r.Baseline.New, describeNew(q, firstNew(findings[q.ID])))
		}
	}
	reports.SetProblems(r) // known failures are numbered last
}

// applyEntry marks the failures that an entry covers, or adds a sentence to r.Baseline if the entry is outdated.
func applyEntry(r *reports.Result, e Entry, findings []*reports.Finding, flaky bool, today Day) {
	sum := r.Baseline
	place := fmt.Sprintf("%s:%d: %s", sum.File, e.Line, e.name())
	relation := e.state(r, findings)
	expired := e.Expires != "" && today > e.Expires && r.Requirement(e.Requirement) != nil
	switch {
	case relation == unknownID:
		sum.Unmatched = append(sum.Unmatched, place+": no such requirement; remove the entry, or correct its ID")
	case expired:
		sum.Expired = append(sum.Expired, place+": the entry expired on "+string(e.Expires)+"; fix the failure, or set a new date")
	case relation == stale && !flaky:
		sum.Stale = append(sum.Stale, place+" passes; remove the entry")
	case relation == otherFinding && !flaky:
		sum.Unmatched = append(sum.Unmatched, place+
			": the requirement fails, but not with this finding; remove the entry, or correct its finding")
	case relation == covering:
		known := &reports.Known{Reason: e.Reason, Owner: e.Owner, Expires: string(e.Expires), Flaky: flaky}
		if isPlaceholder(e.Reason) {
			known.Reason = "no reason yet"
		}
		if isPlaceholder(e.Owner) {
			known.Owner = "no owner yet"
		}
		isWhole := len(e.Kinds) == 0 || !slices.ContainsFunc(findings, e.covers)
		if e.Finding == "" && isWhole {
			r.Requirement(e.Requirement).Known = known
			return
		}
		for _, f := range findings {
			if e.covers(f) {
				f.Known = known
			}
		}
	}
}

// firstNew returns the first finding without an entry, or nil.
func firstNew(findings []*reports.Finding) *reports.Finding {
	for _, f := range findings {
		if f.Known == nil {
			return f
		}
	}
	return nil
}

// knownCause returns the entry of the first cause of q, or nil if a cause is not known.
func knownCause(r *reports.Result, q *reports.Requirement) *reports.Known {
	causes := reports.Causes(r, q)
	for _, cause := range causes {
		if cause.Known == nil {
			return nil
		}
	}
	return causes[0].Known
}

// describeNew returns the sentence about a requirement without an entry. f is its first new finding, or nil.
func describeNew(q *reports.Requirement, f *reports.Finding) string {
	change, reason := "new failure", q.Reason
	if q.Verdict != reports.Failed {
		change = "newly " + string(q.Verdict)
	}
	if f != nil {
		reason = fmt.Sprintf("%s (%s)", f.Summary, f.ID)
	}
	return fmt.Sprintf("%s, not in the baseline: %s: %s", change, q.ID, reason)
}

// inheritsCause reports whether the entries of the causes of a failure may cover it. Failures that put users at risk need
// their own entry.
func inheritsCause(q *reports.Requirement) bool {
	return len(q.ExplainedBy) > 0 && q.Subject != "security" && q.Subject != "isolation"
}

// state is the relation of an entry to a result.
type state string

const (
	idle         state = "idle"     // the requirement was not judged
	covering     state = "covering" // the entry covers a failure
	stale        state = "stale"    // the requirement passes
	unknownID    state = "unknown ID"
	otherFinding state = "other finding" // the requirement fails, but with other findings
)

func (e Entry) covers(f *reports.Finding) bool {
	return (e.Finding == "" || e.Finding == f.ID) && (len(e.Kinds) == 0 || slices.Contains(e.Kinds, f.Kind))
}

// state returns the relation of the entry to the result. findings are those of its requirement.
func (e Entry) state(r *reports.Result, findings []*reports.Finding) state {
	q := r.Requirement(e.Requirement)
	switch {
	case q == nil && r.Filtered():
		return idle
	case q == nil:
		return unknownID
	case q.Verdict == reports.Passed:
		return stale
	case !q.Verdict.Problem():
		return idle
	case e.Finding == "" && len(e.Kinds) == 0 || slices.ContainsFunc(findings, e.covers):
		return covering
	case e.Finding == "" && slices.Contains(e.Kinds, string(q.Verdict)):
		return covering
	case q.Verdict == reports.Failed:
		return otherFinding
	}
	return idle
}
