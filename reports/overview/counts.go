package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Counts are the requirements of a result by how they are shown. Every format tells these numbers and no others; each
// requirement of the catalogue is in one of them.
type Counts struct {
	Passed, Failed, Warnings, Known, Blocked, Inconclusive, NotRun, NotApplicable, NotClaimed, NotJudged int
}

// CountsOf counts the groups of [Of].
func CountsOf(r *reports.Result) Counts {
	o := Of(r)
	c := Counts{Failed: len(o.Failed), Warnings: len(o.Warnings), Known: len(o.Known), Blocked: len(o.Blocked),
		Inconclusive: len(o.Inconclusive), NotRun: len(o.NotRun), NotJudged: max(0, r.Suite.Requirements-len(r.Requirements))}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		switch {
		case q.Verdict == reports.Passed:
			c.Passed++
		case q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotApplicable:
			c.NotApplicable++
		case q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotClaimed:
			c.NotClaimed++
		case q.Verdict == reports.Skipped:
			c.NotJudged++
		}
	}
	return c
}

// CountPart is one of the numbers, as it is shown.
type CountPart struct {
	N     int
	Label string          // "passed", "warnings"
	Like  reports.Verdict // the verdict that it is shown like
}

// Parts lists what occurs.
func (c Counts) Parts() []CountPart {
	warnings := "warnings"
	if c.Warnings == 1 {
		warnings = "warning"
	}
	all := []CountPart{
		{c.Passed, "passed", reports.Passed}, {c.Failed, "failed", reports.Failed}, {c.Warnings, warnings, reports.Inconclusive}, {c.Known, "known", reports.Skipped},
		{c.Blocked, "blocked", reports.Blocked}, {c.Inconclusive, "inconclusive", reports.Inconclusive}, {c.NotRun, "not run", reports.Inconclusive},
		{c.NotApplicable, "not applicable", reports.Skipped}, {c.NotClaimed, "not claimed", reports.Skipped}, {c.NotJudged, "not judged", reports.Skipped},
	}
	return slices.DeleteFunc(all, func(p CountPart) bool { return p.N == 0 })
}

// String lists what occurs: "95 passed, 4 failed, 1 warning, 1 not applicable".
func (c Counts) String() string {
	var parts []string
	for _, p := range c.Parts() {
		parts = append(parts, fmt.Sprintf("%d %s", p.N, p.Label))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
