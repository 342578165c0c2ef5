// Package overview derives from a result what several exporters show: which requirements failed or could not be
// judged, grouped by cause, the headline, how far the target is from conformant, and the words for all of it.
package overview

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Overview sorts the requirements of a result into the groups in which exporters show them. Each requirement that did
// not pass is in exactly one of them, in the order of the result.
type Overview struct {
	Failed       []*reports.Requirement // binding, and not known
	Warnings     []*reports.Requirement // failed, but not binding
	Known        []*reports.Requirement // anything that the baseline covers
	Blocked      []*reports.Requirement
	Inconclusive []*reports.Requirement // no evidence either way
	NotRun       []*reports.Requirement // the run ended before they were judged
	Skipped      []*reports.Requirement
	Findings     map[string][]*reports.Finding // by requirement
}

// Of sorts the requirements of r. The overview points into r.
func Of(r *reports.Result) Overview {
	o := Overview{Findings: map[string][]*reports.Finding{}}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		switch {
		case q.Known != nil && q.Verdict.Problem():
			o.Known = append(o.Known, q)
		case q.Verdict == reports.Failed && q.Decides(r.Run.Strict):
			o.Failed = append(o.Failed, q)
		case q.Verdict == reports.Failed:
			o.Warnings = append(o.Warnings, q)
		case q.Verdict == reports.Blocked:
			o.Blocked = append(o.Blocked, q)
		case q.Verdict == reports.Inconclusive && slices.ContainsFunc(q.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun }):
			o.NotRun = append(o.NotRun, q)
		case q.Verdict == reports.Inconclusive:
			o.Inconclusive = append(o.Inconclusive, q)
		case q.Verdict == reports.Skipped:
			o.Skipped = append(o.Skipped, q)
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		o.Findings[f.Requirement] = append(o.Findings[f.Requirement], f)
	}
	return o
}

// Worst returns the scenario that decided the verdict of q, or nil if it has none.
func Worst(q *reports.Requirement) *reports.Scenario {
	for i := range q.Scenarios {
		if q.Scenarios[i].Verdict == q.Verdict {
			return &q.Scenarios[i]
		}
	}
	return nil
}

// ScenarioOf finds the scenario that a finding is from; the worst one where it does not say.
func ScenarioOf(q *reports.Requirement, f *reports.Finding) *reports.Scenario {
	for i, s := range q.Scenarios {
		if f.Scenario == s.Key() {
			return &q.Scenarios[i]
		}
	}
	return Worst(q)
}

// FailedStep returns the sentence at which a scenario ended, or "".
func FailedStep(s *reports.Scenario) string {
	for _, step := range s.Steps {
		if step.Verdict != reports.Passed && step.Verdict != "" {
			return strings.TrimSpace(step.Keyword + " " + step.Text)
		}
	}
	return ""
}

// WhatIsWrong says in one line what was observed: "expected 404, got 200". Only where nothing was compared does it fall
// back on the summary.
func WhatIsWrong(f *reports.Finding) string { return cmp.Or(f.Observation(), f.Summary) }
