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

// operationView is the coverage of one operation.
type operationView struct {
	reports.OperationCoverage
	Statuses   []reports.StatusCoverage
	Parameters []reports.ParameterCoverage
	Contract   []string // requirements about its contract
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
	N     int
	Class string // "none", "zero", "h1" to "h4"
	Text  string
	Title string
}

func coverageOf(r *reports.Result) *coverageView {
	if len(r.Coverage.Operations) == 0 {
		return nil
	}
	v := &coverageView{Enums: r.Coverage.Enums}
	var statuses, parameters []string
	for _, o := range r.Coverage.Operations {
		view := operationView{OperationCoverage: o}
		v.Operations.count(o.Exchanges > 0)
		for _, s := range r.Coverage.Statuses {
			if s.Operation == o.Operation {
				view.Statuses, statuses = append(view.Statuses, s), append(statuses, s.Status)
			}
		}
		for _, p := range r.Coverage.Parameters {
			if p.Operation == o.Operation {
				view.Parameters, parameters = append(view.Parameters, p), append(parameters, p.Parameter)
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
	v.StatusMap = v.heatMap("Answers by operation and status", statuses, v.statusCell)
	v.ParameterMap = v.heatMap("Values tried by operation and parameter", parameters, parameterCell)
	return v
}

// heatMap makes a row of each operation that has anything in these columns.
func (v *coverageView) heatMap(label string, columns []string, cell func(operationView, string) heatCell) heatMap {
	slices.Sort(columns)
	columns = slices.Compact(columns)
	m := heatMap{Label: label, Columns: columns, Totals: make([]int, len(columns))}
	for _, o := range v.Details {
		row, has := heatRow{Name: o.Operation}, false
		for i, column := range columns {
			c := cell(o, column)
			has = has || c.Class != "none"
			row.Cells = append(row.Cells, c)
			row.Total += c.N
			m.Totals[i] += c.N
		}
		if has {
			m.Total += row.Total
			m.Rows = append(m.Rows, row)
		}
	}
	return m
}

// statusCell counts the answers with a status.
func (v *coverageView) statusCell(o operationView, status string) heatCell {
	n, declared := 0, false
	var types []string
	for _, s := range o.Statuses {
		if s.Status == status {
			n, declared = n+s.Count, declared || s.Declared
			types = append(types, cmp.Or(s.ContentType, "no content type"))
		}
	}
	c := cellOf(n, types != nil, strings.Join(types, ", "))
	switch {
	case declared:
		v.Statuses.count(n > 0)
	case types != nil:
		v.Undeclared++
		c.Text, c.Class = c.Text+" !", c.Class+" undeclared"
	}
	return c
}

// parameterCell counts the values that were tried.
func parameterCell(o operationView, name string) heatCell {
	for _, p := range o.Parameters {
		if p.Parameter == name {
			return cellOf(len(p.Values), true, "")
		}
	}
	return cellOf(0, false, "")
}

// cellOf shades a count by its power of ten.
func cellOf(n int, known bool, title string) heatCell {
	switch {
	case !known:
		return heatCell{Class: "none", Text: "–"}
	case n == 0:
		return heatCell{Class: "zero", Text: "0", Title: title}
	}
	return heatCell{N: n, Class: fmt.Sprintf("h%d", min(len(fmt.Sprint(n)), 4)), Text: fmt.Sprint(n), Title: title}
}
