package reports

import "fmt"

// Repetitions counts the verdicts of a requirement or a scenario in the repetitions of a test run.
type Repetitions map[Verdict]int

// Failure is the failure of a scenario in one repetition.
type Failure struct {
	Repetition int    `json:"repetition"` // counts from 1
	Reason     string `json:"reason"`     // for the reader only
}

// Count returns the number of repetitions.
func (r Repetitions) Count() (n int) {
	for _, count := range r {
		n += count
	}
	return n
}

// Judged returns the number of repetitions in which the requirement or scenario passed or failed.
func (r Repetitions) Judged() int { return r[Passed] + r[Failed] }

// Differ reports whether repetitions had different verdicts. Passed and skipped count as equal, because a passing
// requirement may be skipped in a repetition in which another requirement fails.
func (r Repetitions) Differ() bool {
	for v, count := range r {
		if v.Problem() && count > 0 {
			return count < r.Count()
		}
	}
	return false
}

// String returns the rate: "passed 9 of 10", or "" without repetitions.
func (r Repetitions) String() string {
	if r.Count() == 0 {
		return ""
	}
	text := fmt.Sprintf("passed %d of %d", r[Passed], r.Count())
	if open := r[Blocked] + r[Inconclusive]; open > 0 {
		text += fmt.Sprintf(", could not tell %d", open)
	}
	if r[Skipped] > 0 {
		text += fmt.Sprintf(", not tested %d", r[Skipped])
	}
	return text
}
