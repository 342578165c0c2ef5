package controlplane

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/spec"
)

// defaultLimit is how many revisions a list holds at most without limit (section 8).
const defaultLimit = 20

// value is one value of a parameter of a list, or its absence.
type value struct {
	name   string // "limit 21", "no limit"
	query  string // "limit=21", or "" where it is absent
	number int    // what it means
}

func number(parameter string, n int) value {
	text := strconv.Itoa(n)
	return value{parameter + " " + text, parameter + "=" + text, n}
}

// listRevisions is the operation in the contract.
func (w *lists) listRevisions() spec.Operation {
	return w.Target.Collector.Operation(spec.ControlPlane, "list-revisions")
}

// limits are an absent limit, and those that the contract allows at and next to its bounds and its default.
func (w *lists) limits() []value {
	all := []value{{name: "no limit", number: defaultLimit}}
	numbers := []int{defaultLimit - 1, defaultLimit + 1}
	for _, c := range spec.BoundaryCases(w.listRevisions(), "limit") {
		if n, err := strconv.Atoi(c.Value); err == nil && c.Valid {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		all = append(all, number("limit", n))
	}
	return all
}

// offsets are an absent offset, and those at both ends of a list of so many revisions and at the end of a page of the default size.
func (w *lists) offsets(revisions int) []value {
	all := []value{{name: "no offset"}}
	numbers := []int{0, 1, defaultLimit, max(revisions-1, 0), revisions}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		all = append(all, number("offset", n))
	}
	return all
}

// invalid are the values of a parameter that the contract does not allow.
func (w *lists) invalid(parameter string) []spec.Case {
	all := slices.DeleteFunc(spec.BoundaryCases(w.listRevisions(), parameter), func(c spec.Case) bool { return c.Valid })
	slices.SortFunc(all, func(a, b spec.Case) int { return cmp.Compare(a.Value, b.Value) })
	return slices.CompactFunc(all, func(a, b spec.Case) bool { return a.Value == b.Value })
}
