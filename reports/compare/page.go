package compare

import (
	"cmp"
	"io"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// HTML writes the comparison as a page: the results are its columns, the capabilities with their requirements its rows.
// Errors are those of w.
func (t *Table) HTML(w io.Writer) error {
	p := html.Matrix{Title: t.headline()}
	switch t.NotJudged {
	case 0:
	case 1:
		p.Untested = "1 requirement that no result has tested is not listed."
	default:
		p.Untested = reports.Count(t.NotJudged, "requirement") + " that no result has tested are not listed."
	}
	for _, c := range t.Columns {
		o := overview.Of(c.Result)
		p.Columns = append(p.Columns, html.MatrixColumn{Label: safe.Ellipsis(c.Label, 100), Verdict: o.Display().String(),
			Suite: safe.Ellipsis(c.Result.Suite.Version, 40), Tone: string(o.Display().Tone), Link: c.Report})
	}
	support := t.support()
	groups, groupOf := t.groups()
	rest := &html.MatrixGroup{} // requirements without a capability
	for _, r := range t.Rows {
		group := cmp.Or(groupOf[r.ID], rest)
		group.Rows = append(group.Rows, t.matrixRow(r))
	}
	for _, group := range append(groups, rest) {
		for i := range t.Columns {
			cell := html.MatrixCell{}
			s, has := support[i][group.Name]
			switch {
			case !has && t.Columns[i].Result.Filtered():
				cell = notSelected
			case has:
				cell = html.MatrixCell{Class: reports.Slug(string(s.Class)), Text: string(s.Class),
					Numbers: s.Share(), Link: t.Columns[i].Report}
				if cell.Link != "" {
					cell.Link += "#support"
				}
			}
			group.Cells = append(group.Cells, cell)
		}
		group.Same = areSame(group.Cells)
		if len(group.Rows) > 0 {
			p.Groups = append(p.Groups, *group)
		}
	}
	return html.WriteMatrix(w, p)
}

// notSelected is the cell of a requirement or a capability that a filter excluded from a test run.
var notSelected = html.MatrixCell{Class: reports.Slug(string(overview.NotTested)), Text: "not selected"}

// support returns the capabilities of each result by name.
func (t *Table) support() []map[string]overview.Support {
	all := make([]map[string]overview.Support, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = map[string]overview.Support{}
		for _, s := range overview.Of(c.Result).Support() {
			all[i][s.Name] = s
		}
	}
	return all
}

// groups returns a group without rows for each capability, and the group of each requirement by its ID. The capabilities of
// the last result come first.
func (t *Table) groups() (all []*html.MatrixGroup, of map[string]*html.MatrixGroup) {
	named, of := map[string]bool{}, map[string]*html.MatrixGroup{}
	for _, column := range slices.Backward(t.Columns) {
		for _, c := range column.Result.Capabilities {
			if named[c.Name] {
				continue
			}
			named[c.Name] = true
			group := &html.MatrixGroup{MatrixRow: html.MatrixRow{Name: c.Name, Title: c.Title}}
			all = append(all, group)
			for _, id := range c.Requirements {
				if of[id] == nil {
					of[id] = group
				}
			}
		}
	}
	return all, of
}

func (t *Table) matrixRow(r Row) html.MatrixRow {
	row := html.MatrixRow{Name: r.ID, Level: string(r.Level)}
	var selected []html.MatrixCell
	for i, c := range r.Cells {
		column, cell := t.Columns[i], html.MatrixCell{}
		if q := column.Result.Requirement(r.ID); q != nil {
			row.Title = q.Title
		}
		switch {
		case c.Verdict == "" && column.Result.Filtered():
			cell = notSelected
		case c.Verdict != "":
			word := string(overview.Word(c.Verdict))
			cell = html.MatrixCell{Class: reports.Slug(word), Text: word, Link: column.Report}
			if c.Verdict == reports.Blocked {
				cell.Class = "blocked"
			}
			if c.Verdict != reports.Passed {
				cell.Reason = safe.Ellipsis(c.Reason, 500)
			}
			if cell.Link != "" {
				cell.Link += "#" + r.ID
			}
		}
		row.Cells = append(row.Cells, cell)
		if c.Verdict != "" || !column.Result.Filtered() {
			selected = append(selected, cell)
		}
	}
	row.Same = areSame(selected)
	return row
}

// areSame reports whether all cells have the same class and numbers.
func areSame(cells []html.MatrixCell) bool {
	return !slices.ContainsFunc(cells, func(c html.MatrixCell) bool { return c.Class != cells[0].Class || c.Numbers != cells[0].Numbers })
}
