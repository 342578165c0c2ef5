package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// coverageView is what a run touched of the contract: two heat maps and their details.
type coverageView struct {
	Operations, Statuses, Parameters share
	Undeclared                       int // combinations of operation and status that the contract does not declare
	StatusMap, ParameterMap          heatMap
	Details                          []operationView
	Enums                            []reports.EnumCoverage
}

// share is how many of all were seen.
type share struct{ Seen, All int }

func (s share) String() string { return fmt.Sprintf("%d of %d", s.Seen, s.All) }

func (s *share) count(seen bool) {
	s.All++
	if seen {
		s.Seen++
	}
}

// heatMap is a table of counts. Each cell says in text what its shade says.
type heatMap struct {
	Label   string
	Columns []string
	Rows    []heatRow
	Totals  []int // by column
	Total   int
}

type heatRow struct {
	Name  string
	Cells []heatCell
	Total int
}

type heatCell struct {
	Class string // "none", "zero", "h1" to "h4"
	Text  string
	Title string
}

// operationView is the coverage of one operation.
type operationView struct {
	reports.OperationCoverage
	Statuses   []reports.StatusCoverage
	Parameters []reports.ParameterCoverage
	Contract   []string // requirements about its contract
}

func coverageOf(r *reports.Result) *coverageView {
	if len(r.Coverage.Operations) == 0 {
		return nil
	}
	v := &coverageView{Enums: r.Coverage.Enums}
	for _, o := range r.Coverage.Operations {
		view := operationView{OperationCoverage: o}
		v.Operations.count(o.Exchanges > 0)
		for _, s := range r.Coverage.Statuses {
			if s.Operation == o.Operation {
				view.Statuses = append(view.Statuses, s)
			}
		}
		for _, p := range r.Coverage.Parameters {
			if p.Operation == o.Operation {
				view.Parameters = append(view.Parameters, p)
				v.Parameters.count(len(p.Values) > 0)
			}
		}
		for _, q := range r.Requirements {
			if strings.HasSuffix(q.ID, "-CONTRACT-"+o.Operation) {
				view.Contract = append(view.Contract, q.ID)
			}
		}
		v.Details = append(v.Details, view)
	}
	v.StatusMap, v.ParameterMap = v.statusMap(), v.parameterMap()
	return v
}

func (v *coverageView) statusMap() heatMap {
	var columns []string
	for _, o := range v.Details {
		for _, s := range o.Statuses {
			columns = append(columns, s.Status)
		}
	}
	m := newHeatMap("Answers by operation and status", columns)
	for _, o := range v.Details {
		row := heatRow{Name: o.Operation}
		for i, status := range m.Columns {
			n, declared, known := 0, false, false
			var types []string
			for _, s := range o.Statuses {
				if s.Status == status {
					n, declared, known = n+s.Count, declared || s.Declared, true
					types = append(types, cmp.Or(s.ContentType, "no content type"))
				}
			}
			cell := cellOf(n, known, strings.Join(types, ", "))
			if known {
				v.Statuses.count(n > 0)
			}
			if known && !declared {
				v.Statuses.All, v.Statuses.Seen = v.Statuses.All-1, v.Statuses.Seen-min(n, 1)
				v.Undeclared++
				cell.Text, cell.Class = cell.Text+" !", cell.Class+" undeclared"
			}
			row.Cells = append(row.Cells, cell)
			row.Total += n
			m.Totals[i] += n
		}
		m.Total += row.Total
		m.Rows = append(m.Rows, row)
	}
	return m
}

func (v *coverageView) parameterMap() heatMap {
	var columns []string
	for _, o := range v.Details {
		for _, p := range o.Parameters {
			columns = append(columns, p.Parameter)
		}
	}
	m := newHeatMap("Values tried by operation and parameter", columns)
	for _, o := range v.Details {
		if len(o.Parameters) == 0 {
			continue
		}
		row := heatRow{Name: o.Operation}
		for i, name := range m.Columns {
			at := slices.IndexFunc(o.Parameters, func(p reports.ParameterCoverage) bool { return p.Parameter == name })
			n := 0
			if at >= 0 {
				n = len(o.Parameters[at].Values)
			}
			row.Cells = append(row.Cells, cellOf(n, at >= 0, ""))
			row.Total += n
			m.Totals[i] += n
		}
		m.Total += row.Total
		m.Rows = append(m.Rows, row)
	}
	return m
}

func newHeatMap(label string, columns []string) heatMap {
	slices.Sort(columns)
	columns = slices.Compact(columns)
	return heatMap{Label: label, Columns: columns, Totals: make([]int, len(columns))}
}

// cellOf shades a count by its power of ten.
func cellOf(n int, known bool, title string) heatCell {
	switch {
	case !known:
		return heatCell{Class: "none", Text: "–"}
	case n == 0:
		return heatCell{Class: "zero", Text: "0", Title: title}
	}
	return heatCell{Class: fmt.Sprintf("h%d", min(len(fmt.Sprint(n)), 4)), Text: fmt.Sprint(n), Title: title}
}
