package compare

import (
	"fmt"
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
	if t.NotJudged > 0 {
		p.Untested = reports.Count(t.NotJudged, "requirement")
	}
	support := make([]map[string]overview.Support, len(t.Columns))
	for i, c := range t.Columns {
		o := overview.Of(c.Result)
		p.Columns = append(p.Columns, html.MatrixColumn{Label: safe.Ellipsis(c.Label, 100), Verdict: o.Display().String(),
			Suite: safe.Ellipsis(c.Result.Suite.Version, 40), Tone: string(o.Display().Tone), Link: c.Report})
		support[i] = map[string]overview.Support{}
		for _, s := range o.Support() {
			support[i][s.Name] = s
		}
	}
	rows := t.Rows
	for _, c := range t.capabilities() {
		group := html.MatrixGroup{MatrixRow: html.MatrixRow{Name: c.Name, Title: c.Title}}
		isOwn := func(r Row) bool { return slices.Contains(c.Requirements, r.ID) }
		for _, r := range rows {
			if isOwn(r) {
				group.Rows = append(group.Rows, t.matrixRow(r))
			}
		}
		if len(group.Rows) == 0 {
			continue
		}
		rows = slices.DeleteFunc(slices.Clone(rows), isOwn)
		for i := range t.Columns {
			s, has := support[i][c.Name]
			cell := html.MatrixCell{}
			if has {
				cell = html.MatrixCell{Class: reports.Slug(string(s.Class)), Text: string(s.Class), Numbers: fmt.Sprintf("%d/%d", s.Numbers[overview.Passed], s.All)}
			}
			group.Cells = append(group.Cells, cell)
		}
		group.Same = areSame(group.Cells)
		p.Groups = append(p.Groups, group)
	}
	rest := html.MatrixGroup{} // of results without capabilities
	for _, r := range rows {
		rest.Rows = append(rest.Rows, t.matrixRow(r))
	}
	p.Groups = append(p.Groups, rest)
	return html.WriteMatrix(w, p)
}

// capabilities returns those of all results, each once, first those of the last result.
func (t *Table) capabilities() (all []reports.Capability) {
	for _, column := range slices.Backward(t.Columns) {
		for _, c := range column.Result.Capabilities {
			if !slices.ContainsFunc(all, func(known reports.Capability) bool { return known.Name == c.Name }) {
				all = append(all, c)
			}
		}
	}
	return all
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
			cell.Class, cell.Text = reports.Slug(string(overview.NotTested)), "not selected"
		case c.Verdict != "":
			cell = html.MatrixCell{Class: reports.Slug(string(overview.Word(c.Verdict))), Text: string(overview.Word(c.Verdict)), Link: column.Report}
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
