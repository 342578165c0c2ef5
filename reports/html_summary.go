package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports/safe"
)

// todo is a line of the list of what stands between the target and conformance.
type todo struct {
	ID      string
	Verdict Verdict
	What    string
}

// notJudged are requirements that were skipped for one reason.
type notJudged struct {
	Reason string
	IDs    []string
	Left   int
}

// maxTodo keeps that list on the first screen.
const maxTodo = 10

type barPart struct {
	Verdict Verdict
	N       int
	Start   string // where it begins, in percent
	Percent string
}

// todosOf lists what is short of conformant, failures first, each with what is wrong in one sentence.
func todosOf(r *Result) ([]todo, int) {
	o := overviewOf(r)
	var all []todo
	for _, q := range slices.Concat(o.failed, o.blocked, o.inconclusive) {
		if !binding(q.Level, r.Run.Strict) {
			continue
		}
		what := cmp.Or(q.Reason, q.Title)
		if f := o.findings[q.ID]; len(f) > 0 {
			what = f[0].Summary
		}
		all = append(all, todo{q.ID, q.Verdict, safe.Cut(what, 200)})
	}
	return all[:min(len(all), maxTodo)], max(len(all)-maxTodo, 0)
}

func notJudgedOf(r *Result) []notJudged {
	var all []notJudged
	for i, g := range byReason(overviewOf(r).skipped) {
		if i == maxTodo {
			break
		}
		n := notJudged{Reason: safe.Cut(g.reason, 300), Left: max(len(g.requirements)-maxTodo, 0)}
		for _, q := range g.requirements[:len(g.requirements)-n.Left] {
			n.IDs = append(n.IDs, q.ID)
		}
		all = append(all, n)
	}
	return all
}

func barParts(r *Result) []barPart {
	var parts []barPart
	before, all := 0, float64(len(r.Requirements))
	for _, v := range []Verdict{Passed, Failed, Blocked, Inconclusive, Skipped} {
		n := 0
		for _, q := range r.Requirements {
			if q.Verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, barPart{v, n, fmt.Sprintf("%.2f", 100*float64(before)/all), fmt.Sprintf("%.2f", 100*float64(n)/all)})
			before += n
		}
	}
	return parts
}
