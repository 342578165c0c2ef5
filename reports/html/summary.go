package html

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
)

// todo is a line of the list of what remains for conformance: a failure, or all requirements that
// could not be judged for one reason.
type todo struct {
	IDs     []string
	Left    int
	Verdict reports.Verdict
	What    string
}

// maxTodo and maxIDs keep that list on the first screen.
const (
	maxTodo = 10
	maxIDs  = 5
)

// namedCause is what several requirements have in common, with the first of them.
type namedCause struct {
	What string
	IDs  []string
	Left int
}

// namedCauses lists the causes of failures: those of what could not be judged are in the list of what is to do.
func namedCauses(r *reports.Result, all []overview.Cause) []namedCause {
	failed := map[string]bool{}
	for _, q := range overview.Of(r).Failed {
		failed[q.ID] = true
	}
	var named []namedCause
	for _, c := range all {
		if len(named) == maxTodo || !slices.ContainsFunc(c.Requirements, func(id string) bool { return failed[id] }) {
			continue
		}
		if len(all) == 1 {
			c.What = "" // the distance says it
		}
		ids := c.Requirements[:min(len(c.Requirements), maxIDs)]
		named = append(named, namedCause{safe.Ellipsis(c.What, 200), ids, len(c.Requirements) - len(ids)})
	}
	return named
}

type barPart struct {
	overview.CountPart
	Start   string // where it begins, in percent
	Percent string
}

// todosOf lists what remains for conformance, failures first, each with what is wrong in one sentence.
func todosOf(r *reports.Result) ([]todo, int) {
	o := overview.Of(r)
	var all []todo
	for _, q := range o.Failed {
		what := cmp.Or(q.Reason, q.Title)
		if f := o.Findings[q.ID]; len(f) > 0 {
			what = overview.WhatIsWrong(f[0])
		}
		all = append(all, todo{IDs: []string{q.ID}, Verdict: q.Verdict, What: safe.Ellipsis(what, 200)})
	}
	notBinding := func(q *reports.Requirement) bool { return !q.Decides(r.Run.Strict) }
	for _, open := range [][]*reports.Requirement{o.Blocked, o.Inconclusive, o.NotRun} {
		for _, g := range overview.ByCause(slices.DeleteFunc(open, notBinding)) {
			ids, left := someIDs(g.Requirements)
			all = append(all, todo{ids, left, g.Requirements[0].Verdict, safe.Ellipsis(g.Reason, 200)})
		}
	}
	broken := slices.DeleteFunc(reports.BrokenClaims(r), func(q *reports.Requirement) bool { return q.Decides(r.Run.Strict) && q.Verdict != reports.Skipped })
	for _, g := range overview.ByCause(broken) {
		ids, left := someIDs(g.Requirements)
		all = append(all, todo{ids, left, g.Requirements[0].Verdict, safe.Ellipsis("claimed, "+g.Reason, 200)})
	}
	return all[:min(len(all), maxTodo)], max(len(all)-maxTodo, 0)
}

// someIDs names the first requirements, and tells how many there are beyond.
func someIDs(requirements []*reports.Requirement) ([]string, int) {
	var ids []string
	for _, q := range requirements[:min(len(requirements), maxIDs)] {
		ids = append(ids, q.ID)
	}
	return ids, max(len(requirements)-maxIDs, 0)
}

func barParts(r *reports.Result) []barPart {
	var parts []barPart
	before, all := 0, float64(max(r.Suite.Requirements, len(r.Requirements)))
	for _, c := range overview.CountsOf(r).Parts() {
		parts = append(parts, barPart{c, fmt.Sprintf("%.2f", 100*float64(before)/all), fmt.Sprintf("%.2f", 100*float64(c.N)/all)})
		before += c.N
	}
	return parts
}
