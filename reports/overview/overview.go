// Package overview derives from a result what all exporters show: the requirements by class, the counts, the verdict
// with its headline, what has one cause, what remains, and the texts for all of it.
package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Class is how a requirement is shown. Each requirement of the catalogue has one: reports count these and no others.
type Class string

// The classes. A verdict that has no other class is a class too.
const (
	Passed        = Class(reports.Passed)
	Failed        = Class(reports.Failed) // decides the verdict, and is not known
	Warning       = Class("warning")      // failed, and does not decide the verdict
	Blocked       = Class(reports.Blocked)
	Inconclusive  = Class(reports.Inconclusive)
	NotRun        = Class("not run") // the run ended before it was judged
	Known         = Class("known")   // the baseline covers what is wrong with it
	NotApplicable = Class("not applicable")
	NotClaimed    = Class("not claimed")
	NotJudged     = Class("not judged")
)

// Overview holds the requirements of a result by class, in the order of the result. It points into the result.
type Overview struct {
	Result   *reports.Result
	Classes  map[Class][]*reports.Requirement
	Findings map[string][]*reports.Finding // by requirement
	Judged   int                           // requirements of every level that passed or failed

	deciding map[reports.Verdict][]*reports.Requirement // those that decide the verdict of the run, by their own
}

// Of sorts the requirements of r.
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

// Skipped are the requirements of the three classes of skips.
func (o Overview) Skipped() []*reports.Requirement {
	return slices.Concat(o.Classes[NotJudged], o.Classes[NotClaimed], o.Classes[NotApplicable])
}

// Section is a list of requirements that did not pass.
type Section struct {
	Class        Class
	Title        string // "Failed"
	What         string // "MUST not met"
	Requirements []*reports.Requirement
	Beneath      map[string]bool // IDs of those that another one of the list explains; they come after it
}

// Label is the title in capitals.
func (s Section) Label() string { return strings.ToUpper(s.Title) }

// Problems lists what somebody has to look at, what fails the run first. A list without requirements is left out.
func (o Overview) Problems() []Section {
	all := []Section{
		{Class: Failed, Title: "Failed", What: o.Result.Deciding() + " not met"},
		{Class: Warning, Title: "Warnings", What: "not met, verdict unaffected"},
		{Class: Blocked, Title: "Blocked", What: "could not run, a precondition failed"},
		{Class: Inconclusive, Title: "Inconclusive", What: "no evidence either way"},
		{Class: NotRun, Title: "Not run", What: cmp.Or(o.Result.Run.Stopped, "the run ended early")},
		{Class: Known, Title: "Known failures", What: "in the baseline, do not fail the run"},
	}
	for s := range reports.Each(all) {
		s.Requirements, s.Beneath = o.byCause(o.Classes[s.Class])
	}
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Requirements) == 0 })
}

// Count is a number of requirements, as it is shown.
type Count struct {
	N     int
	Label string // "passed", "warnings"
	Class Class
	Start int // how many are counted before these
}

// Counts lists the numbers that are not 0.
type Counts []Count

// Counts counts the requirements of the catalogue.
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

// Scenarios counts the scenarios by their verdicts.
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

// String lists the numbers: "95 passed, 4 failed, 1 warning, 1 not applicable".
func (c Counts) String() string {
	var parts []string
	for _, each := range c {
		parts = append(parts, fmt.Sprintf("%d %s", each.N, each.Label))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// OutcomeOf tells how a scenario of q is shown in formats that know passed, failed and skipped only, and why: the
// baseline and the level of the requirement decide with its verdict.
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
