// Package overview derives the parts of a result that all exporters show: the requirements by class, the counts, the
// verdict with its headline, the causes, and what remains to be done.
package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Class is the class in which reports count and list a requirement. Each requirement has exactly one.
type Class string

// The classes.
const (
	Passed        = Class(reports.Passed)
	Failed        = Class(reports.Failed) // decides the verdict and is not a known failure
	Warning       = Class("warning")      // failed and does not decide the verdict
	Blocked       = Class(reports.Blocked)
	Inconclusive  = Class(reports.Inconclusive)
	NotRun        = Class("not run") // the test run ended before
	Known         = Class("known")   // the baseline covers its failures
	NotApplicable = Class("not applicable")
	NotClaimed    = Class("not claimed")
	NotJudged     = Class("not judged")
)

// Overview contains the requirements of a result by class, in the order of the result.
type Overview struct {
	Result   *reports.Result
	Classes  map[Class][]*reports.Requirement
	Findings map[string][]*reports.Finding // by requirement
	Judged   int                           // number of requirements that passed or failed

	deciding map[reports.Verdict][]*reports.Requirement // requirements that decide the verdict, by their own
}

// Of returns the overview of r.
func Of(r *reports.Result) Overview {
	o := Overview{Result: r, Classes: map[Class][]*reports.Requirement{}, Findings: map[string][]*reports.Finding{},
		deciding: map[reports.Verdict][]*reports.Requirement{}}
	for q := range reports.Each(r.Requirements) {
		if q.Decides() {
			o.deciding[q.Verdict] = append(o.deciding[q.Verdict], q)
		}
		class := o.ClassOf(q)
		o.Classes[class] = append(o.Classes[class], q)
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			o.Judged++
		}
	}
	for f := range reports.Each(r.Findings) {
		o.Findings[f.Requirement] = append(o.Findings[f.Requirement], f)
	}
	return o
}

// ClassOf returns the class of a requirement.
func (o Overview) ClassOf(q *reports.Requirement) Class {
	byRun := func(b reports.Blocker) bool { return b.Kind == reports.ByRun }
	switch {
	case q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotApplicable:
		return NotApplicable
	case q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotClaimed:
		return NotClaimed
	case q.Verdict == reports.Skipped:
		return NotJudged
	case q.Known != nil && q.Verdict.Problem():
		return Known
	case q.Verdict == reports.Failed && !q.Decides():
		return Warning
	case q.Verdict == reports.Inconclusive && slices.ContainsFunc(q.BlockedBy, byRun):
		return NotRun
	}
	return Class(q.Verdict)
}

// Skipped returns the requirements of the three classes of skips.
func (o Overview) Skipped() []*reports.Requirement {
	return slices.Concat(o.Classes[NotJudged], o.Classes[NotClaimed], o.Classes[NotApplicable])
}

// Section is a list of requirements of one class that did not pass.
type Section struct {
	Class        Class
	Title        string // "Failed"
	Description  string // "MUST not met"
	Requirements []*reports.Requirement
	Explained    map[string]bool // IDs of failures that come after another one of the list, which explains them
}

// Label returns the title in capitals.
func (s Section) Label() string { return strings.ToUpper(s.Title) }

// Problems returns the sections that are not empty, the most important first.
func (o Overview) Problems() []Section {
	all := []Section{
		{Class: Failed, Title: "Failed", Description: o.Result.Deciding() + " not met"},
		{Class: Warning, Title: "Warnings", Description: "not met, verdict unaffected"},
		{Class: Blocked, Title: "Blocked", Description: "a precondition failed"},
		{Class: Inconclusive, Title: "Inconclusive", Description: "no evidence either way"},
		{Class: NotRun, Title: "Not run", Description: cmp.Or(o.Result.Run.Stopped, "the test run ended early")},
		{Class: Known, Title: "Known failures", Description: "in the baseline, do not fail the test run"},
	}
	var sections []Section
	for _, s := range all {
		if len(o.Classes[s.Class]) > 0 {
			s.Requirements, s.Explained = o.orderByCause(o.Classes[s.Class])
			sections = append(sections, s)
		}
	}
	return sections
}

// Count is a number of requirements or scenarios.
type Count struct {
	N     int
	Label string // "passed", "warnings"
	Class Class
	Start int // sum of the counts before this one
}

// Counts contains the counts that are not 0.
type Counts []Count

// Counts returns the number of requirements of the catalogue by class.
func (o Overview) Counts() (counts Counts) {
	start := 0
	for _, class := range []Class{
		Passed, Failed, Warning, Known, Blocked, Inconclusive, NotRun, NotApplicable, NotClaimed, NotJudged,
	} {
		n, label := len(o.Classes[class]), string(class)
		if class == NotJudged {
			n += o.Result.Catalogue() - len(o.Result.Requirements)
		}
		if class == Warning && n > 1 {
			label = "warnings"
		}
		if n > 0 {
			counts = append(counts, Count{n, label, class, start})
			start += n
		}
	}
	return counts
}

// Scenarios returns the number of scenarios by verdict.
func (o Overview) Scenarios() (counts Counts) {
	for _, v := range []reports.Verdict{
		reports.Passed, reports.Failed, reports.Blocked, reports.Inconclusive, reports.Skipped,
	} {
		if n := o.Result.Counts.Scenarios[v]; n > 0 {
			counts = append(counts, Count{N: n, Label: string(v)})
		}
	}
	return counts
}

// String returns the counts: "95 passed, 4 failed, 1 warning, 1 not applicable".
func (c Counts) String() string {
	var parts []string
	for _, each := range c {
		parts = append(parts, fmt.Sprintf("%d %s", each.N, each.Label))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// OutcomeOf returns the class and the message of a scenario of q for formats that only have passed, failed and skipped.
// They depend on the verdict of the scenario, the level of the requirement and the baseline.
func (o Overview) OutcomeOf(q *reports.Requirement, s *reports.Scenario) (class Class, message string) {
	reason := safe.Cut(cmp.Or(s.Reason, q.Reason, string(s.Verdict)), 500)
	switch {
	case s.Verdict == reports.Passed:
		return Passed, ""
	case s.Verdict == reports.Skipped:
		return NotJudged, reason
	case q.Known != nil:
		return Known, "known failure: " + q.Known.String() + ": " + reason
	case !q.Decides():
		return Warning, fmt.Sprintf("warning: %s %s: %s", q.Level, s.Verdict, reason)
	case s.Verdict == reports.Failed:
		return Failed, reason
	}
	return Class(s.Verdict), string(s.Verdict) + ": " + reason
}
