package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// coverageView is the coverage of the contract: a heat map of the responses, and details.
type coverageView struct {
	Operations, Statuses, Parameters share           // parts of the interface
	Undeclared                       int             // combinations of operation and status that the interface does not declare
	Columns                          []string        // statuses, the columns of the heat map
	Details                          []operationView // operations of the interface
	Extensions                       []operationView // operations of other servers that received requests
	Enums                            []reports.EnumCoverage
}

// share is a number of covered items and the total number.
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
	Contract   []string   // IDs of the requirements about its contract
	Cells      []heatCell // one for each column
}

// heatCell is a number of responses, as a text and as a shade.
type heatCell struct {
	Class, Text, Title string // Class is "none", "zero", or "h1" to "h4"
}

// coverageOf returns the coverage of a result, or nil if the result has no operations.
func coverageOf(r *reports.Result) *coverageView {
	if len(r.Coverage.Operations) == 0 {
		return nil
	}
	v := &coverageView{Enums: r.Coverage.Enums}
	for _, o := range r.Coverage.Operations {
		if o.Extension {
			if o.Exchanges > 0 {
				v.Extensions = append(v.Extensions, operationView{OperationCoverage: o})
			}
			continue
		}
		view := operationOf(r, o)
		v.Operations.count(o.Exchanges > 0)
		for _, s := range view.Statuses {
			v.Columns = append(v.Columns, s.Status)
		}
		for _, p := range view.Parameters {
			v.Parameters.count(len(p.Values) > 0)
		}
		v.Details = append(v.Details, view)
	}
	slices.Sort(v.Columns)
	v.Columns = slices.Compact(v.Columns)
	for view := range reports.Each(v.Details) {
		for _, status := range v.Columns {
			view.Cells = append(view.Cells, v.cell(*view, status))
		}
	}
	return v
}

// operationOf returns the coverage of one operation, without the cells.
func operationOf(r *reports.Result, o reports.OperationCoverage) operationView {
	view := operationView{OperationCoverage: o}
	for _, s := range r.Coverage.Statuses {
		if s.Operation == o.Operation {
			view.Statuses = append(view.Statuses, s)
		}
	}
	for _, p := range r.Coverage.Parameters {
		if p.Operation == o.Operation {
			view.Parameters = append(view.Parameters, p)
		}
	}
	for _, q := range r.Requirements {
		if strings.HasSuffix(q.ID, "-CONTRACT-"+o.Operation) {
			view.Contract = append(view.Contract, q.ID)
		}
	}
	return view
}

// cell counts the responses of an operation with a status. The shade depends on the number of digits.
func (v *coverageView) cell(o operationView, status string) heatCell {
	n, declared := 0, false
	var types []string
	for _, s := range o.Statuses {
		if s.Status == status {
			n, declared = n+s.Count, declared || s.Declared
			types = append(types, cmp.Or(s.ContentType, "no content type"))
		}
	}
	c := heatCell{fmt.Sprintf("h%d", min(len(fmt.Sprint(n)), 4)), fmt.Sprint(n), strings.Join(types, ", ")}
	switch {
	case types == nil:
		return heatCell{Class: "none", Text: "–"}
	case n == 0:
		c.Class = "zero"
	}
	if declared {
		v.Statuses.count(n > 0)
	} else {
		v.Undeclared++
		c.Text, c.Class = c.Text+" !", c.Class+" undeclared"
	}
	return c
}
