// Package overview derives the parts of a result that all exporters show: the numbered problems, the requirements that
// were not tested or could not be judged, with the reasons, the counts, and the verdict with its headline. Start with
// [Of].
package overview

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Class is the class of a requirement, as a readable word. Each requirement has exactly one.
type Class string

// The classes. [Warning] and [Known] are failures that do not fail the test run.
const (
	Passed       Class = "passed"
	Failed       Class = "failed"
	Warning      Class = "warning" // does not decide the verdict
	Known        Class = "known"   // did not pass, and the baseline covers it
	CouldNotTell Class = "could not tell"
	NotTested    Class = "not tested"
)

// Words are the four words for a result, in the order in which reports count them.
var Words = []Class{Passed, Failed, CouldNotTell, NotTested}

// Word returns the word for a verdict: passed, failed, could not tell, or not tested.
func Word(v reports.Verdict) Class {
	switch v {
	case reports.Passed:
		return Passed
	case reports.Failed:
		return Failed
	case reports.Skipped:
		return NotTested
	}
	return CouldNotTell
}

// Overview contains the requirements of a result by class, in the order of the result.
type Overview struct {
	Result   *reports.Result
	Problems []Problem // problems in the order of their numbers
	Classes  map[Class][]*reports.Requirement
	Findings map[string][]*reports.Finding // findings by requirement
	Tested   int                           // number of requirements that passed or failed

	deciding map[Class][]*reports.Requirement // requirements that decide the verdict, by the word for their verdict
}

// Of returns the overview of r.
func Of(r *reports.Result) Overview {
	o := Overview{Result: r, Classes: map[Class][]*reports.Requirement{}, Findings: map[string][]*reports.Finding{},
		deciding: map[Class][]*reports.Requirement{}}
	for q := range reports.Each(r.Requirements) {
		if q.Decides() {
			o.deciding[Word(q.Verdict)] = append(o.deciding[Word(q.Verdict)], q)
		}
		class := o.ClassOf(q)
		o.Classes[class] = append(o.Classes[class], q)
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			o.Tested++
		}
	}
	for f := range reports.Each(r.Findings) {
		o.Findings[f.Requirement] = append(o.Findings[f.Requirement], f)
	}
	o.Problems = o.problems()
	return o
}

// ClassOf returns the class of a requirement.
func (o Overview) ClassOf(q *reports.Requirement) Class {
	switch {
	case q.Known != nil && q.Verdict.Problem():
		return Known
	case q.Verdict == reports.Failed && !q.Decides():
		return Warning
	}
	return Word(q.Verdict)
}

// Count is a number of requirements or scenarios.
type Count struct {
	N     int
	Class Class
	Start int // sum of the preceding counts
}

// Counts contains the counts that are not 0.
type Counts []Count

// Counts returns the number of requirements of the catalogue by the word for their verdict.
func (o Overview) Counts() Counts {
	numbers := map[Class]int{NotTested: o.Result.Catalogue() - len(o.Result.Requirements)}
	for q := range reports.Each(o.Result.Requirements) {
		numbers[Word(q.Verdict)]++
	}
	return CountsOf(numbers)
}

// Scenarios returns the number of scenarios by the word for their verdict.
func (o Overview) Scenarios() Counts {
	numbers := map[Class]int{}
	for v, n := range o.Result.Counts.Scenarios {
		numbers[Word(v)] += n
	}
	return CountsOf(numbers)
}

// CountsOf returns the counts for the numbers of requirements or scenarios by the word for their verdict.
func CountsOf(numbers map[Class]int) (counts Counts) {
	start := 0
	for _, class := range Words {
		if n := numbers[class]; n > 0 {
			counts = append(counts, Count{n, class, start})
			start += n
		}
	}
	return counts
}

// String returns the counts: "95 passed, 4 failed, 1 not tested".
func (c Counts) String() string {
	var parts []string
	for _, each := range c {
		parts = append(parts, fmt.Sprintf("%d %s", each.N, each.Class))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// OutcomeOf returns the class and the message of a scenario of q for formats that only have passed, failed and skipped.
// They depend on the verdict of the scenario, the level of the requirement and the baseline.
func (o Overview) OutcomeOf(q *reports.Requirement, s *reports.Scenario) (class Class, message string) {
	reason := safe.Cut(cmp.Or(s.Reason, q.Reason, string(s.Verdict)), 500)
	word := Word(s.Verdict)
	if p := o.problemOf(q, s); p != nil && word == Failed {
		reason = fmt.Sprintf("problem %d: %s", p.Number, reason)
	}
	switch {
	case word == Passed:
		return Passed, ""
	case word == NotTested:
		return NotTested, reason
	case q.Known != nil:
		return Known, "known failure: " + q.Known.String() + ": " + reason
	case !q.Decides():
		return Warning, fmt.Sprintf("warning: %s %s: %s", q.Level, word, reason)
	case word == Failed:
		return Failed, reason
	}
	return CouldNotTell, string(CouldNotTell) + ": " + reason
}
