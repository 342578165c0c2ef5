package compare

import (
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// sign shows a verdict in a narrow column.
func sign(v reports.Verdict) string {
	switch v {
	case reports.Passed:
		return "✓"
	case reports.Failed:
		return "✗"
	case reports.Blocked:
		return "⊘"
	case reports.Inconclusive:
		return "?"
	case reports.Skipped:
		return "–"
	}
	return " "
}

// word names a change. Between different implementations there is no before and after: what fails here and not there
// is no regression.
func (t *Table) word(c Change) string {
	if t.Versions {
		return string(c)
	}
	switch c {
	case Regression, Stricter:
		return "fails here only"
	case Fixed:
		return "passes here only"
	case Found:
		return "fails"
	case New, Removed, NotRun, Unjudged:
		return map[Change]string{New: "here only", Removed: "not here", NotRun: "not run", Unjudged: "not judged"}[c]
	}
	return string(c)
}

// explain says what a change means, for the reader who sees the word for the first time.
func (t *Table) explain(c Change) string {
	if !t.Versions {
		return map[Change]string{
			Regression: "the first one passes, this one fails", Stricter: "the first one passes an older check, this one fails a newer one",
			Fixed: "this one passes, the first one does not", Found: "this one fails, the first one was not judged",
			Unjudged: "the first one was judged, this one was not", New: "the first one's suite did not have it",
			Removed: "this one's suite does not have it", NotRun: "left out of one of the runs",
		}[c]
	}
	return map[Change]string{
		Regression: "the same check passed before and fails now", Stricter: "fails by a check that the older suite did not have: no regression",
		Fixed: "passes now and did not before", Found: "fails and was not judged before",
		Unjudged: "was judged before and is not now", New: "the older suite did not have it: no regression",
		Removed: "the newer suite has it no more", NotRun: "left out of one of the runs",
	}[c]
}

// order lists the changes as reports count them, the gravest first.
var order = [...]Change{Regression, Stricter, Found, Unjudged, Fixed, New, Removed, NotRun}

// headline sums the last column up in one sentence.
func (t *Table) headline() string {
	last := t.Columns[len(t.Columns)-1]
	if !t.Versions {
		return fmt.Sprintf("%d implementations, compared with %s", len(t.Columns), t.Columns[0].Label)
	}
	if n := last.Changes[Regression]; n > 0 {
		return fmt.Sprintf("%s has %s against %s", last.Label, reports.Count(n, "regression"), t.Columns[0].Label)
	}
	return fmt.Sprintf("%s has no regression against %s", last.Label, t.Columns[0].Label)
}

// changed tells whether any column differs from the first one, or has something to say.
func (r Row) changed() bool {
	for _, c := range r.Cells {
		if c.Change != Same || c.Note != "" {
			return true
		}
	}
	return false
}
