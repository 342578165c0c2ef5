// Package compare compares the results of several implementations, or of several versions of one implementation.
//
// It distinguishes changes of the suite from changes of the target: a new release of the suite adds, removes and
// tightens requirements, and none of these is a regression. A regression is a check that passed before and fails now.
package compare

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Change is the difference of a requirement in one result from the first result.
type Change string

// The changes. Only a regression makes agentconform compare fail.
const (
	Same       Change = "same"
	Regression Change = "regression" // the same check passed and now fails
	Fixed      Change = "fixed"      // failed before and passes now
	Judged     Change = "judged"     // passes now and was not judged before
	Found      Change = "found"      // fails and was not judged before; it may or may not be new
	Unjudged   Change = "unjudged"   // was judged and now is blocked, inconclusive or skipped
	Stricter   Change = "stricter"   // fails a check that the older suite did not have
	New        Change = "new"        // the older suite did not have the requirement
	Removed    Change = "removed"    // the newer suite does not have the requirement
	NotRun     Change = "not run"    // a filter excluded it from one of the test runs
)

// Input is a result with a name for its column.
type Input struct {
	Label  string // empty: the name and version of the implementation
	File   string // file name for Label, if another result has the same implementation and version; empty: the start of the test run
	Report string // relative URL of its page, or "" if unknown
	Result *reports.Result
}

// Table is the comparison.
type Table struct {
	Columns []Column
	Rows    []Row // requirements that at least one result judged
	// NotJudged is the number of requirements that no result judged.
	NotJudged int
	// Versions reports whether all columns are of one implementation. If not, a change is only a difference.
	Versions bool
}

// Column is one result.
type Column struct {
	Input
	Changes map[Change]int
}

// Row is one requirement.
type Row struct {
	ID    string
	Level reports.Level // level in the last result that has the requirement
	Cells []Cell        // one for each column
}

// Cell is one requirement in one result.
type Cell struct {
	Verdict reports.Verdict // empty if the result does not have the requirement
	Reason  string
	Change  Change // always Same in the first column
	Note    string // "was a SHOULD"
}

// Of compares two or more results with the first one. The inputs must be in the order of time.
func Of(inputs ...Input) *Table {
	t := &Table{Versions: true}
	base := inputs[0].Result
	for _, in := range inputs {
		implementation := in.Result.Target.Implementation
		if implementation.Name != base.Target.Implementation.Name {
			t.Versions = false
		}
		t.Columns = append(t.Columns, Column{in, map[Change]int{}})
	}
	for i, label := range labels(inputs) {
		t.Columns[i].Label = label
	}
	for _, id := range requirementIDs(inputs) {
		row := newRow(id, inputs)
		judged := slices.ContainsFunc(row.Cells, func(c Cell) bool { return c.Verdict != "" && c.Verdict != reports.Skipped })
		if !judged {
			t.NotJudged++
			continue
		}
		for i, cell := range row.Cells {
			t.Columns[i].Changes[cell.Change]++
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// labels returns a name for each result. If results have the same name, their files or dates are used.
func labels(inputs []Input) []string {
	var names, all []string
	for _, in := range inputs {
		of := in.Result.Target
		names = append(names, cmp.Or(in.Label, strings.TrimSpace(of.Implementation.Name+" "+of.Implementation.Version),
			of.ControlPlane, of.AgentServer))
	}
	for i, in := range inputs {
		isTaken := slices.Contains(names[:i], names[i]) || slices.Contains(names[i+1:], names[i])
		if isTaken && in.Label == "" {
			all = append(all, cmp.Or(in.File, in.Result.Run.StartedAt.UTC().Format(time.DateTime)))
			continue
		}
		all = append(all, names[i])
	}
	return all
}

// requirementIDs returns the ID of each requirement once: first those of the last result, which has the newest
// catalogue, then those of the others.
func requirementIDs(inputs []Input) []string {
	var ids []string
	last := len(inputs) - 1
	seen := map[string]bool{}
	for _, in := range slices.Concat(inputs[last:], inputs[:last]) {
		for _, q := range in.Result.Requirements {
			if !seen[q.ID] {
				seen[q.ID] = true
				ids = append(ids, q.ID)
			}
		}
	}
	return ids
}

func newRow(id string, inputs []Input) Row {
	row := Row{ID: id}
	base := inputs[0].Result
	before := base.Requirement(id)
	for _, in := range inputs {
		after := in.Result.Requirement(id)
		cell := Cell{Change: judge(base, in.Result, before, after)}
		if after != nil {
			cell.Verdict, cell.Reason = after.Verdict, after.Reason
			row.Level = after.Level
		}
		if before != nil && after != nil && before.Level != after.Level {
			cell.Note = "was a " + string(before.Level)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// differences returns the rows in which a result differs from the first one. A requirement that a filter excluded is not
// a difference.
func (t *Table) differences() []Row {
	var rows []Row
	for _, r := range t.Rows {
		differs := slices.ContainsFunc(r.Cells, func(c Cell) bool {
			return c.Change != Same && c.Change != NotRun || c.Note != ""
		})
		if differs {
			rows = append(rows, r)
		}
	}
	return rows
}

// Regressed reports whether the last column has a regression.
func (t *Table) Regressed() bool {
	return t.Versions && t.Columns[len(t.Columns)-1].Changes[Regression] > 0
}

// judge returns the change of one requirement from the older result to the newer one. before or after is nil if the
// result does not have it.
func judge(older, newer *reports.Result, before, after *reports.Requirement) Change {
	switch {
	case before == nil && after == nil:
		return Same
	case before == nil && older.Filtered(), after == nil && newer.Filtered():
		return NotRun
	case before == nil:
		return New
	case after == nil:
		return Removed
	case before.Verdict == after.Verdict:
		return Same
	case after.Verdict == reports.Passed && before.Verdict == reports.Failed:
		return Fixed
	case after.Verdict == reports.Passed:
		return Judged
	case after.Verdict != reports.Failed && (before.Verdict == reports.Passed || before.Verdict == reports.Failed):
		return Unjudged
	case after.Verdict != reports.Failed:
		return Same // not judged in either result, for different reasons
	case before.Verdict != reports.Passed:
		return Found
	case older.Suite == newer.Suite || sameCheckFails(before, after):
		return Regression
	}
	return Stricter
}

// sameCheckFails reports whether a scenario that existed before and passed then fails now.
func sameCheckFails(before, after *reports.Requirement) bool {
	passed := map[string]bool{}
	for _, s := range before.Scenarios {
		if s.Verdict == reports.Passed {
			passed[s.Name] = true
		}
	}
	return slices.ContainsFunc(after.Scenarios, func(s reports.Scenario) bool {
		return s.Verdict == reports.Failed && passed[s.Name]
	})
}
