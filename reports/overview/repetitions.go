package overview

import (
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// differing returns the requirements whose repetitions had different verdicts, in the order of the result.
func (o Overview) differing() (all []*reports.Requirement) {
	for q := range reports.Each(o.Result.Requirements) {
		if q.Repetitions.Differ() {
			all = append(all, q)
		}
	}
	return all
}

// Rates returns the rate of each requirement whose repetitions had different verdicts: "CP-LIST-3 passed 7 of 10".
func (o Overview) Rates() (all []string) {
	for _, q := range o.differing() {
		all = append(all, q.ID+" "+q.Repetitions.String())
	}
	return all
}

// Repetitions describes the repetitions of a test run: "10 times; the results of 1 of 140 requirements differ". It
// returns "" if there was only one.
func (o Overview) Repetitions() string {
	run := o.Result.Run
	if run.Repeat < 2 {
		return ""
	}
	repeated := 0
	for _, q := range o.Result.Requirements {
		if q.Verdict != reports.Skipped && q.Repetitions.Count() > 0 {
			repeated++
		}
	}
	times := fmt.Sprintf("%d times", run.Repeat)
	if run.Repeated < run.Repeat {
		times = fmt.Sprintf("%d of %d times", run.Repeated, run.Repeat)
	}
	if run.Repeated < 2 {
		return times
	}
	differing := len(o.differing())
	if differing == 0 {
		return fmt.Sprintf("%s; %s had the same result each time", times, reports.Count(repeated, "requirement"))
	}
	return fmt.Sprintf("%s; the results of %d of %s differ", times, differing, reports.Count(repeated, "requirement"))
}
