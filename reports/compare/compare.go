// Package compare puts several results side by side.
//
// The results are of several implementations, or of versions of one implementation. Changes of the suite are told apart
// from changes of the target: a new release of the suite adds, drops and tightens requirements, and none of this
// is a regression. A regression is only a check that passed before and that fails now; see [Change] for the others.
package compare

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Change says how a requirement fares in one result, compared with the first one.
type Change string

// The changes. Only a regression makes agentconform compare fail.
const (
	Same       Change = "same"
	Regression Change = "regression" // the same check passed and now fails
	Fixed      Change = "fixed"      // passes now, and did not before
	Found      Change = "found"      // fails, and was not judged before: it may or may not be new
	Unjudged   Change = "unjudged"   // was judged, and now is not: blocked, inconclusive or skipped
	Stricter   Change = "stricter"   // fails by a check that the older suite did not have
	New        Change = "new"        // the older suite did not have the requirement
	Removed    Change = "removed"    // the newer suite does not have it
	NotRun     Change = "not run"    // left out of one of the runs by a filter: no difference is known
)

// Input is a result with a name for its column.
type Input struct {
	Label  string // empty: made from the implementation
	Result *reports.Result
}

// Table is the comparison.
type Table struct {
	Columns []Column
	Rows    []Row
	// NotJudged counts the requirements that no result judged: skipped or absent in all of them. They have no row.
	NotJudged int
	// Versions says that all columns are of one implementation; else they are different ones, and a change is only a
	// difference.
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
	Level reports.Level
	Cells []Cell // as many as columns
}

// Cell is one requirement in one result. Verdict is empty where the result does not have it.
type Cell struct {
	Verdict reports.Verdict
	Reason  string
	Change  Change // of the first column: always same
	Note    string // "was a SHOULD"
}

// Of compares results, two or more, with the first one of them. Name them in the order of time.
func Of(inputs ...Input) *Table {
	t := &Table{Versions: true}
	var ids []string                             // of the last result, which has the newest catalogue, then of the others
	found := map[string][]*reports.Requirement{} // by id, in each column
	base := inputs[0].Result
	for at := range inputs {
		column := (at + len(inputs) - 1) % len(inputs) // the last one first
		for q := range reports.Each(inputs[column].Result.Requirements) {
			if found[q.ID] == nil {
				ids, found[q.ID] = append(ids, q.ID), make([]*reports.Requirement, len(inputs))
			}
			found[q.ID][column] = q
		}
	}
	for _, in := range inputs {
		target := in.Result.Target
		t.Versions = t.Versions && target.Implementation.Name == base.Target.Implementation.Name
		in.Label = cmp.Or(in.Label, strings.TrimSpace(target.Implementation.Name+" "+target.Implementation.Version),
			target.ControlPlane, target.AgentServer)
		t.Columns = append(t.Columns, Column{in, map[Change]int{}})
	}
	for _, id := range ids {
		row := Row{ID: id}
		judged := false
		for c, q := range found[id] {
			cell := Cell{Change: judge(base, inputs[c].Result, found[id][0], q)}
			if q != nil {
				cell.Verdict, cell.Reason = q.Verdict, q.Reason
				row.Level = q.Level // that of the newest one
				judged = judged || q.Verdict != reports.Skipped
				if before := found[id][0]; before != nil && before.Level != q.Level {
					cell.Note = "was a " + string(before.Level)
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		if !judged {
			t.NotJudged++
			continue
		}
		for c, cell := range row.Cells {
			t.Columns[c].Changes[cell.Change]++
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// different are the rows of which a result differs from the first one. That a run left the requirement out shows no
// difference.
func (t *Table) different() []Row {
	return slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool {
		return !slices.ContainsFunc(r.Cells, func(c Cell) bool {
			return c.Change != Same && c.Change != NotRun || c.Note != ""
		})
	})
}

// Regressed tells whether the last column has a regression.
func (t *Table) Regressed() bool {
	return t.Versions && t.Columns[len(t.Columns)-1].Changes[Regression] > 0
}

// judge names the change of one requirement from the older result to the newer one; nil means that a result does
// not have it.
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
	case after.Verdict == reports.Passed:
		return Fixed
	case after.Verdict != reports.Failed && (before.Verdict == reports.Passed || before.Verdict == reports.Failed):
		return Unjudged
	case after.Verdict != reports.Failed:
		return Same // not judged before, for another reason
	case before.Verdict != reports.Passed:
		return Found
	case older.Suite == newer.Suite || sameCheckFails(before, after):
		return Regression
	}
	return Stricter
}

// sameCheckFails tells whether a scenario fails that was there before and passed.
func sameCheckFails(before, after *reports.Requirement) bool {
	passed := map[string]bool{}
	for _, s := range before.Scenarios {
		passed[s.Name] = passed[s.Name] || s.Verdict == reports.Passed
	}
	return slices.ContainsFunc(after.Scenarios, func(s reports.Scenario) bool {
		return s.Verdict == reports.Failed && passed[s.Name]
	})
}
