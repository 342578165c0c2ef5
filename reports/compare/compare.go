package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
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
	Label    string
	Suite    string
	Verdict  reports.Conclusion
	Shown    string // the verdict with its scope: "conformant (partial run)"
	Distance string
	Passed   string // "78 of 79 MUSTs passed"
	Changes  map[Change]int
}

// Row is one requirement.
type Row struct {
	ID      string
	Title   string
	Level   reports.Level
	Profile string
	Cells   []Cell // as many as columns
}

// Cell is one requirement in one result. Verdict is empty where the result does not have it.
type Cell struct {
	Verdict reports.Verdict
	Reason  string
	Change  Change // of the first column: always same
	Note    string // "was CP-OLD-1", "was SHOULD"
}

// Of compares results with the first one of them. Name them in the order of time.
func Of(inputs ...Input) (*Table, error) {
	if len(inputs) < 2 {
		return nil, errors.New("there is nothing to compare: name at least two result files")
	}
	t := &Table{Versions: true}
	labels := map[string]int{}
	for _, in := range inputs {
		if in.Result.Target.Implementation.Name != inputs[0].Result.Target.Implementation.Name {
			t.Versions = false
		}
		t.Columns = append(t.Columns, columnOf(in, labels))
	}
	rows := newRowSet(inputs)
	for i, in := range inputs {
		rows.add(i, in.Result)
	}
	base := inputs[0].Result
	for r, row := range rows.rows {
		if !row.judged() {
			t.NotJudged++
			continue
		}
		for c := range row.Cells {
			cell := &row.Cells[c]
			cell.Change, cell.Note = judge(base, inputs[c].Result, rows.requirement(r, 0), rows.requirement(r, c))
			t.Columns[c].Changes[cell.Change]++
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// judged tells whether any result has more than a skip for the requirement.
func (r Row) judged() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Verdict != "" && c.Verdict != reports.Skipped })
}

// differs tells whether a result differs from the first one. That a run left the requirement out shows no difference.
func (r Row) differs() bool {
	return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Change != Same && c.Change != NotRun || c.Note != "" })
}

// Regressed tells whether the last column has a regression.
func (t *Table) Regressed() bool {
	return t.Versions && t.Columns[len(t.Columns)-1].Changes[Regression] > 0
}

func columnOf(in Input, labels map[string]int) Column {
	r := in.Result
	c := Column{
		Label: in.Label, Suite: r.Suite.Version, Verdict: r.Verdict, Shown: overview.DisplayVerdictOf(r).String(),
		Distance: overview.DistanceOf(r).String(), Passed: passed(r), Changes: map[Change]int{},
	}
	c.Label = cmp.Or(c.Label, strings.TrimSpace(r.Target.Implementation.Name+" "+r.Target.Implementation.Version),
		r.Target.ControlPlane, r.Target.AgentServer)
	if labels[c.Label]++; labels[c.Label] > 1 {
		c.Label = fmt.Sprintf("%s (%d)", c.Label, labels[c.Label])
	}
	return c
}

// passed counts the requirements that decide the verdict and passed.
func passed(r *reports.Result) string {
	n, all, noun := 0, 0, "MUST"
	if r.BeyondMusts() {
		noun = "requirement"
	}
	for _, q := range r.Requirements {
		if !q.Decides(r.Run.Strict) || q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			continue
		}
		all++
		if q.Verdict == reports.Passed {
			n++
		}
	}
	return fmt.Sprintf("%d of %s passed", n, reports.Count(all, noun))
}

// rowSet collects the requirements of all results. A requirement that was renamed has one row.
type rowSet struct {
	rows  []Row
	found [][]*reports.Requirement // by row and column
	index map[string]int           // row by the id in the newest catalogue
	names []matching               // by column: id there, by id in the newest catalogue
	n     int
}

func newRowSet(inputs []Input) *rowSet {
	s := &rowSet{index: map[string]int{}, n: len(inputs)}
	// The newest catalogue is that of the last result: people name files in the order of time.
	newest := titles(inputs[len(inputs)-1].Result)
	for _, in := range inputs {
		s.names = append(s.names, match(titles(in.Result), newest))
	}
	for _, q := range inputs[len(inputs)-1].Result.Requirements {
		s.row(q.ID, &q)
	}
	return s
}

func titles(r *reports.Result) map[string]string {
	all := map[string]string{}
	for _, q := range r.Requirements {
		all[q.ID] = q.Title
	}
	return all
}

func (s *rowSet) row(id string, q *reports.Requirement) int {
	at, ok := s.index[id]
	if !ok {
		at = len(s.rows)
		s.index[id] = at
		s.rows = append(s.rows, Row{ID: q.ID, Title: q.Title, Level: q.Level, Profile: q.Profile, Cells: make([]Cell, s.n)})
		s.found = append(s.found, make([]*reports.Requirement, s.n))
	}
	return at
}

func (s *rowSet) add(column int, r *reports.Result) {
	newID := map[string]string{}
	for newer, older := range s.names[column] {
		newID[older] = newer
	}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		at := s.row(cmp.Or(newID[q.ID], q.ID), q)
		s.rows[at].Cells[column] = Cell{Verdict: q.Verdict, Reason: q.Reason}
		s.found[at][column] = q
	}
}

func (s *rowSet) requirement(row, column int) *reports.Requirement { return s.found[row][column] }

// judge names the change of one requirement from the older result to the newer one; nil means that a result does
// not have it.
func judge(older, newer *reports.Result, before, after *reports.Requirement) (Change, string) {
	switch {
	case before == nil && after == nil:
		return Same, ""
	case before == nil && older.Filtered(), after == nil && newer.Filtered():
		return NotRun, ""
	case before == nil:
		return New, ""
	case after == nil:
		return Removed, ""
	}
	var notes []string
	if before.ID != after.ID {
		notes = append(notes, "was "+before.ID)
	}
	if before.Level != after.Level {
		notes = append(notes, fmt.Sprintf("was a %s", before.Level))
	}
	return judgeBoth(older, newer, before, after), strings.Join(notes, ", ")
}

func judgeBoth(older, newer *reports.Result, before, after *reports.Requirement) Change {
	switch {
	case before.Verdict == after.Verdict:
		return Same
	case after.Verdict == reports.Passed:
		return Fixed
	case after.Verdict != reports.Failed:
		if before.Verdict == reports.Passed || before.Verdict == reports.Failed {
			return Unjudged
		}
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
		if s.Verdict == reports.Passed {
			passed[s.Name] = true
		}
	}
	return slices.ContainsFunc(after.Scenarios, func(s reports.Scenario) bool { return s.Verdict == reports.Failed && passed[s.Name] })
}
