package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/cases"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// beside holds the sentences about parameters of a list that stand beside each other (sections 4 and 8).
type beside struct {
	*lists
	filter string         // of all cases
	all    []gjson.Result // that the filter keeps, in the order of the whole list
	first  *client.Answer // its first page
	pages  []page
}

// page is one case: what was asked for, and how it was answered.
type page struct {
	limit, offset value
	answer        *client.Answer
}

func (w *beside) define(r *common.Definitions) {
	r.When(`the client lists its revisions with (no filter), beside each limit and each offset`, w.clientListsParts)
	r.When(`the client lists its revisions with (remote_reconciled (?:true|false)|(?:a status that occurs|a status that does not occur|all statuses)(?: and remote_reconciled (?:true|false))?), beside each limit and each offset`, w.clientListsParts)
	r.Then(`each page is the part of that list that its limit and offset name`, w.eachIsItsPart)
}

// filters are those of the examples, in the order in which limits and offsets are spread over them.
var filters = []string{"no filter", "remote_reconciled true", "remote_reconciled false", "a status that occurs", "a status that does not occur", "all statuses",
	"a status that occurs and remote_reconciled true", "a status that occurs and remote_reconciled false",
	"all statuses and remote_reconciled true", "all statuses and remote_reconciled false"}

// clientListsParts reads the whole list that the filter keeps, and then parts of it.
func (w *beside) clientListsParts(ctx context.Context, filter string) error {
	known, err := w.known(ctx)
	if err != nil {
		return err
	}
	if w.filter, err = w.queryOf(filter, known); err != nil {
		return err
	}
	if w.all, w.first, err = w.Plane.ListAll(ctx, w.Deployment.ID, and(w.filter)); err != nil {
		return err
	}
	if !w.first.OK() {
		return outcome.Violated(w.first, "status 2xx", "%s", outcome.Seen(w.first))
	}
	if err := w.pagesKeepTheOrder(ctx); err != nil {
		return err
	}
	limits, offsets := w.limits(), w.offsets(len(w.all))
	for _, row := range rowsOf(filter, len(limits), len(offsets)) {
		each := page{limit: limits[row[0]], offset: offsets[row[1]]}
		if err := w.List(ctx, join(each.limit.query, each.offset.query, w.filter), false); err != nil {
			return err
		}
		each.answer = w.Scene.Answer
		w.pages = append(w.pages, each)
	}
	return nil
}

// pagesKeepTheOrder compares one page without a filter with the whole list. Where it holds other revisions, nothing tells which ones belong
// to a page: no MUST says in which order revisions are listed.
func (w *beside) pagesKeepTheOrder(ctx context.Context) error {
	all, first, err := w.Plane.ListAll(ctx, w.Deployment.ID, "")
	if err != nil {
		return err
	}
	p := page{limit: number("limit", 2), offset: number("offset", 1)}
	if p.answer, err = w.Plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), join(p.limit.query, p.offset.query)); err != nil {
		return err
	}
	if n := len(p.answer.Get("resources").Array()); n == 2 && len(all) > n && differs(p, all, first, "") != nil {
		return outcome.Inconclusive("the page with limit=2&offset=1 is not the part of the whole list that begins there (CP-LIST-6, CP-LIST-15)").
			ByRequirement("CP-LIST-6", "CP-LIST-15")
	}
	return nil
}

// rowsOf are the pairs of a limit and an offset that are sent with a filter: with no filter, where the list is longest, each limit beside each
// offset, and with the others as many as bring each value beside each filter.
func rowsOf(filter string, limits, offsets int) (rows [][]int) {
	if filter == filters[0] {
		return cases.Pairwise(limits, offsets)
	}
	for _, row := range cases.Pairwise(len(filters), limits, offsets) {
		if filters[row[0]] == filter {
			rows = append(rows, row[1:])
		}
	}
	return rows
}

// queryOf is the query of a filter of the examples.
func (w *beside) queryOf(filter string, known map[string][]string) (string, error) {
	status, reconciled, _ := strings.Cut(filter, "remote_reconciled ")
	query := ""
	if reconciled != "" {
		query = "remote_reconciled=" + reconciled
	}
	value := ""
	switch strings.TrimSuffix(strings.TrimSpace(status), " and") {
	case "a status that occurs":
		value = w.mostFrequent(known)
	case "a status that does not occur":
		i := slices.IndexFunc(w.Plane.Statuses.Known(), func(s string) bool { return len(known[s]) == 0 })
		if i < 0 {
			return "", outcome.Inconclusive("each of the thirteen statuses occurs")
		}
		value = w.Plane.Statuses.Known()[i]
	case "all statuses":
		value = strings.Join(w.Plane.Statuses.Known(), ",")
	default:
		return query, nil
	}
	return join("status="+url.QueryEscape(value), query), nil
}

// mostFrequent is the status that the most revisions have: its list has the most parts.
func (w *beside) mostFrequent(known map[string][]string) string {
	return slices.MaxFunc(w.Plane.Statuses.Known(), func(a, b string) int { return len(known[a]) - len(known[b]) })
}

// eachIsItsPart compares each page with the part of the whole list, as a set.
func (w *beside) eachIsItsPart(ctx context.Context) error {
	var wrong []*outcome.Outcome
	for _, p := range w.pages {
		wrong = append(wrong, differs(p, w.all, w.first, w.filter))
	}
	return w.UnlessChanged(ctx, outcome.First(wrong))
}

// differs tells what a page holds in place of its part of the whole list, or nothing.
func differs(p page, all []gjson.Result, first *client.Answer, filter string) *outcome.Outcome {
	from := min(p.offset.number, len(all))
	want := plane.IDs(all[from:min(from+p.limit.number, len(all))])
	got := plane.IDs(p.answer.Get("resources").Array())
	if p.answer.OK() && plane.SameIDs(want, got) {
		return nil
	}
	query := "the list with " + asked(p, filter)
	switch {
	case !p.answer.OK():
		return outcome.Violated(p.answer, fmt.Sprintf("%d revisions: %s", len(want), query), "%s", outcome.Seen(p.answer))
	case len(want) == len(got):
		return outcome.Violated(p.answer, fmt.Sprintf("%d revisions from place %d on: %s", len(want), p.offset.number, query), "%d others", len(got)).At("/resources").Comparing(p.answer, first)
	}
	return outcome.Violated(p.answer, fmt.Sprintf("%d revisions: %s", len(want), query), "%d", len(got)).At("/resources").Comparing(p.answer, first)
}

// asked names a case for people.
func asked(p page, filter string) string {
	if text, err := url.QueryUnescape(filter); err == nil {
		filter = strings.ReplaceAll(text, "&", " and ")
	}
	if filter == "" {
		filter = "no filter"
	}
	return p.limit.name + ", " + p.offset.name + ", " + filter
}

func and(filter string) string {
	if filter == "" {
		return ""
	}
	return "&" + filter
}

// join joins the parts of a query that are there.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "&")
}

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
	numbers := []int{defaultLimit - 1, defaultLimit + 1}
	for _, c := range spec.BoundaryCases(w.listRevisions(), "limit") {
		if n, err := strconv.Atoi(c.Value); err == nil && c.Valid {
			numbers = append(numbers, n)
		}
	}
	return valuesOf("limit", defaultLimit, numbers)
}

// offsets are an absent offset, and those at both ends of a list of so many revisions and at the end of a page of the default size.
func (w *lists) offsets(revisions int) []value {
	return valuesOf("offset", 0, []int{0, 1, defaultLimit, max(revisions-1, 0), revisions})
}

// valuesOf are the absence of a parameter, which means the default, and the numbers, each once.
func valuesOf(parameter string, absent int, numbers []int) []value {
	all := []value{{name: "no " + parameter, number: absent}}
	slices.Sort(numbers)
	for _, n := range slices.Compact(numbers) {
		all = append(all, number(parameter, n))
	}
	return all
}

// invalid are the values of a parameter that the contract does not allow.
func (w *lists) invalid(parameter string) []spec.Case {
	all := slices.DeleteFunc(spec.BoundaryCases(w.listRevisions(), parameter), func(c spec.Case) bool { return c.Valid })
	slices.SortFunc(all, func(a, b spec.Case) int { return cmp.Compare(a.Value, b.Value) })
	return slices.CompactFunc(all, func(a, b spec.Case) bool { return a.Value == b.Value })
}

// invalidBeside holds the sentences about an invalid parameter beside valid ones (sections 4, 7 and 8).
type invalidBeside struct {
	*lists
	tried []try
}

// try is one invalid value beside valid ones, and how it was answered.
type try struct {
	parameter string
	invalid   spec.Case
	beside    []string // the valid parameters
	answer    *client.Answer
}

func (w *invalidBeside) define(r *common.Definitions) {
	r.When(`the client lists its revisions with each invalid (limit|offset|remote_reconciled), beside valid values of the other parameters`, w.clientListsInvalid)
	r.When(`the client lists its revisions with each invalid (limit|offset)`, w.clientListsInvalidAlone)
	r.Then(`each of these requests is refused with 422 and an error that names "(\w+)"`, w.eachIsRefusedNaming)
}

// valid are two values of each parameter that the contract allows.
var valid = []struct{ parameter, first, second string }{
	{"limit", "limit=1", "limit=100"},
	{"offset", "offset=0", "offset=1"},
	{"status", "status=DEPLOYED", "status=DEPLOYED%2CBUILD_FAILED"},
	{"remote_reconciled", "remote_reconciled=true", "remote_reconciled=false"},
}

// clientListsInvalid sends each invalid value so that each of the other parameters is there and absent, and each two of them are together.
// The valid values change in turn, and so does the place of the invalid one.
func (w *invalidBeside) clientListsInvalid(ctx context.Context, parameter string) error {
	for i, invalid := range w.invalid(parameter) {
		for _, row := range cases.Pairwise(2, 2, 2)[1:] { // the first has none of them: this is refused by other requirements
			each := try{parameter: parameter, invalid: invalid, beside: validBeside(parameter, row, i)}
			parts := slices.Clone(each.beside)
			parts = slices.Insert(parts, i%(len(parts)+1), parameter+"="+url.QueryEscape(invalid.Value))
			if err := w.List(ctx, strings.Join(parts, "&"), true); err != nil {
				return err
			}
			each.answer = w.Scene.Answer
			w.tried = append(w.tried, each)
		}
	}
	return nil
}

func (w *invalidBeside) clientListsInvalidAlone(ctx context.Context, parameter string) error {
	for _, invalid := range w.invalid(parameter) {
		if err := w.List(ctx, parameter+"="+url.QueryEscape(invalid.Value), true); err != nil {
			return err
		}
		w.tried = append(w.tried, try{parameter: parameter, invalid: invalid, answer: w.Scene.Answer})
	}
	return nil
}

// validBeside are those of the other parameters for which the row has a 1.
func validBeside(parameter string, row []int, turn int) (parts []string) {
	others := slices.DeleteFunc(slices.Clone(valid), func(v struct{ parameter, first, second string }) bool { return v.parameter == parameter })
	for j, v := range others {
		switch {
		case row[j] == 0:
		case (turn+j)%2 == 0:
			parts = append(parts, v.first)
		default:
			parts = append(parts, v.second)
		}
	}
	return parts
}

func (w *invalidBeside) eachIsRefusedNaming(parameter string) error {
	var wrong []*outcome.Outcome
	for _, t := range w.tried {
		if common.RefusedNaming(t.answer, parameter) != nil {
			wanted := fmt.Sprintf("status 422 with an error that names %s: %[1]s=%s (%s)", parameter, t.invalid.Value, t.invalid.Why)
			if len(t.beside) > 0 {
				wanted += " beside " + strings.Join(t.beside, " and ")
			}
			wrong = append(wrong, outcome.Violated(t.answer, wanted, "%s", outcome.Seen(t.answer)).
				SameAs(`the request is refused with 422 and an error that names "(\w+)"`))
		}
	}
	return outcome.First(wrong)
}
