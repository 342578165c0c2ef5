// Package judge has the judgements about the control plane: functions of values (responses, revisions, what was
// configured) that return nil, a violation, or an inconclusive outcome. They send nothing, so that a table test reaches
// each of them. One file per feature; start with [RefusesParameter].
package judge

import (
	common "github.com/agentconform/agentconform/steps/common/judge"

	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RefusesParameter judges a list request with invalid parameters: the response must have status 422 and an error that
// names each of them (sections 4, 7 and 8). request is the query ("limit=101") or describes the id, and class the kind of
// the value ("out of range").
func RefusesParameter(a *exchange.Response, request, class string, parameters ...string) error {
	v := outcome.Violation{Class: class, Expected: "422, with an error that names " + strings.Join(parameters, " and ")}
	if a.Status != http.StatusUnprocessableEntity {
		v.Kind = unrefused(a)
		subject := request
		if !strings.Contains(request, "=") { // it describes an id, and is not a query
			subject = "The list by " + request
		}
		v.Summary = acceptedOrReturns(a, subject)
		v.Check = &reports.Check{Statuses: []string{"422"}, Contains: parameters}
		return outcome.Fails(a, v)
	}
	for _, parameter := range parameters {
		if !names(a, parameter) {
			v.Kind = outcome.WrongDetail
			v.Summary = fmt.Sprintf("The error about %s does not name %s", request, parameter)
			v.Pointer = "/detail"
			return outcome.Fails(a, v)
		}
	}
	return nil
}

// RefusesOneOf judges a list request with several invalid parameters. A server may stop at the first mistake, so the
// error must name at least one of them.
func RefusesOneOf(a *exchange.Response, request, class string, parameters ...string) error {
	for _, parameter := range parameters {
		if names(a, parameter) {
			return RefusesParameter(a, request, class, parameter)
		}
	}
	return RefusesParameter(a, request, class, parameters[0])
}

// names reports whether a refusal names a parameter: in a loc, or if there is no loc, anywhere in the body. A refusal
// without a detail cannot name it. CP-ERROR-5 judges that, so names returns true.
func names(a *exchange.Response, parameter string) bool {
	if !a.Get("detail").Exists() && a.Get("@this").IsObject() {
		return true
	}
	var parts []string
	for _, item := range a.Get("detail").Array() {
		loc := item.Get("loc")
		if !loc.IsArray() {
			continue
		}
		for _, part := range loc.Array() {
			parts = append(parts, part.String())
		}
	}
	return slices.Contains(parts, parameter) || len(parts) == 0 && strings.Contains(string(a.Body), parameter)
}

// HasListForm judges that a list has an array of resources and an integer offset (section 2).
func HasListForm(a *exchange.Response) error {
	if resources := a.Get("resources"); !resources.IsArray() {
		return wrongListField(a, "resources", "an array")
	}
	if offset := a.Get("offset"); !common.IsInteger(offset) {
		return wrongListField(a, "offset", "an integer")
	}
	return nil
}

// wrongListField returns the violation by a field of a list that is absent or has the wrong type ("an array").
func wrongListField(a *exchange.Response, field, kind string) error {
	v := outcome.Violation{
		Kind:     outcome.WrongForm,
		Summary:  fmt.Sprintf("%s in the list is not %s", field, kind),
		Expected: kind + " in " + field,
	}
	if !a.Get(field).Exists() {
		v.Kind = outcome.Missing
		v.Summary = "The list has no " + field
	}
	return fieldFails(a, field, v)
}

// IsEmpty judges that a list contains no revision. known has the ids of the deployment's revisions. A response without
// resources is inconclusive, because another requirement judges the form of an empty list.
func IsEmpty(a *exchange.Response, known []string) error {
	if !a.Get("resources").Exists() {
		return outcome.Inconclusive("the response has no resources: %s", outcome.Seen(a))
	}
	return HasCount(a, 0, known)
}

// HasCount judges the number of revisions in a list. known has the ids of the deployment's revisions.
func HasCount(a *exchange.Response, want int, known []string) error {
	got := len(a.Get("resources").Array())
	if got == want {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  fmt.Sprintf("%s lacks %s", nameOf(a.Request), reports.Count(want-got, "revision")),
		Expected: fmt.Sprintf("%s, of %d in total", reports.Count(want, "revision"), len(known)),
		Actual:   reports.Count(got, "revision"),
		Pointer:  "/resources",
	}
	if want == len(known) {
		all := Listed{Response: a, Want: known}
		for _, row := range a.Get("resources").Array() {
			all.IDs = append(all.IDs, row.Get("id").String())
		}
		v.Actual = all.differences()
	}
	if got > want {
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("%s has %s too many", nameOf(a.Request), reports.Count(got-want, "revision"))
	}
	return outcome.Fails(a, v)
}

// IsNewestFirst judges the order of the revisions in a list. known has the ids of the revisions that the suite has
// created, in the order of creation. Other revisions are not judged.
func IsNewestFirst(a *exchange.Response, rows []gjson.Result, known []string) error {
	keys := exchange.IDKeys(known)
	var listed []listedRevision
	for _, row := range rows {
		number := slices.Index(keys, exchange.IDKey(row.Get("id").String()))
		if number < 0 {
			continue
		}
		created, _ := Instant(row.Get("created_at"))
		listed = append(listed, listedRevision{row.Get("id").String(), number, created})
	}
	if len(listed) < 2 {
		return outcome.Inconclusive("the list has %d of the known revisions: an order needs at least 2", len(listed))
	}
	earlier, later := wrongPair(listed)
	if later.id == "" {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.WrongOrder,
		Summary:  "The list of revisions is not ordered from the newest to the oldest",
		Expected: fmt.Sprintf("revision %s first, which is newer", safe.ShortIDs(later.id)),
		Actual:   fmt.Sprintf("revision %s, then revision %s", safe.ShortIDs(earlier.id), safe.ShortIDs(later.id)),
		Pointer:  "/resources",
	})
}

// listedRevision is a revision in a list: its id, its number in the order of creation, and its created_at in the list, or
// zero.
type listedRevision struct {
	id      string
	number  int
	created time.Time
}

// wrongPair returns two revisions in the wrong order: the older one is listed first. It returns zero values if there are
// none. Revisions with the same created_at may have any order.
func wrongPair(rows []listedRevision) (first, second listedRevision) {
	for i, later := range rows {
		for _, earlier := range rows[:i] {
			isTie := !later.created.IsZero() && later.created.Equal(earlier.created)
			if later.number > earlier.number && !isTie {
				return earlier, later
			}
		}
	}
	return first, second
}

// HasSources judges that each revision in a list shows the source of the deployment (section 2).
func HasSources(a *exchange.Response, rows []gjson.Result, source string) error {
	for i, row := range rows {
		got := row.Get("source")
		if got.String() == source {
			continue
		}
		v := outcome.Violation{
			Kind:     outcome.WrongValue,
			Summary:  showing("A revision in the list", "source", got, fmt.Sprintf("%q", source)),
			Expected: fmt.Sprintf("source %q", source),
			Actual:   outcome.Shown(got),
			Pointer:  fmt.Sprintf("/resources/%d/source", i),
		}
		if !got.Exists() {
			v.Kind = outcome.Missing
			v.Summary = "A revision in the list has no source"
		}
		return outcome.Fails(a, v)
	}
	return nil
}

// ReturnsNoneAgain judges the page at the offset of the last page: it must not contain a revision that was returned
// before. last is the response of the last page.
func ReturnsNoneAgain(page, last *exchange.Response, ids, before []string) error {
	returned := exchange.IDKeys(before)
	for _, id := range ids {
		if slices.Contains(returned, exchange.IDKey(id)) {
			return outcome.Fails(page, outcome.Violation{
				Kind:     outcome.RepeatedItem,
				Summary:  "The page at the last returned offset repeats a revision",
				Expected: "only revisions that no earlier page has",
				Actual:   "the revision " + id + " again",
				Pointer:  "/resources",
				Compared: compared(page, last),
			})
		}
	}
	return nil
}

// NextOffset returns the offset for the page after the given one (section 2). Another requirement judges an offset that
// is not an integer.
func NextOffset(page *exchange.Response) (int, error) {
	offset := page.Get("offset")
	if !common.IsInteger(offset) {
		return 0, outcome.Inconclusive("the returned offset is not an integer: %s", outcome.Shown(offset))
	}
	if offset.Num < 0 || offset.Num > math.MaxInt32 {
		return 0, fieldFails(page, "offset", outcome.Violation{
			Kind:     outcome.WrongValue,
			Summary:  "The list returns an invalid offset",
			Expected: "an offset from 0 to 2147483647",
		})
	}
	return int(offset.Num), nil
}

// Listed is a list, and the revisions that it must contain.
type Listed struct {
	Response *exchange.Response
	IDs      []string           // ids of the revisions in the list
	Want     []string           // ids that the list must contain
	What     string             // describes the request: "with status DEPLOYED"
	With     *exchange.Response // the response that shows these ids, or nil if the suite has created the revisions
	Whole    []string           // the ids of the list without limit and offset, if it is a page
}

// HoldsExactly judges that a list contains the expected revisions, each once, and no others. A list that must be empty
// must also be served.
func HoldsExactly(l Listed) error {
	expected := reports.Count(len(l.Want), "revision")
	if len(l.What) > longest {
		expected += " " + l.What
	}
	if !l.Response.OK() {
		return outcome.Fails(l.Response, outcome.Violation{
			Kind:     unserved(l.Response),
			Summary:  fmt.Sprintf("%s returns %d", l.name(), l.Response.Status),
			Expected: expected,
			Check:    outcome.Statuses("2XX"),
			Compared: compared(l.Response, l.With),
		})
	}
	missing, repeated, unexpected := difference(l.IDs, l.Want)
	v := outcome.Violation{
		Expected: expected,
		Actual:   l.differences(),
		Pointer:  "/resources",
		Compared: compared(l.Response, l.With),
	}
	switch {
	case len(missing) > 0:
		v.Kind = outcome.MissingItem
		v.Summary = fmt.Sprintf("%s lacks %s", l.name(), reports.Count(len(missing), "revision"))
		if len(unexpected) > 0 {
			v.Summary += " and has " + reports.Count(len(unexpected), "wrong revision")
		}
	case len(repeated) > 0:
		v.Kind = outcome.RepeatedItem
		v.Summary = fmt.Sprintf("%s repeats %s", l.name(), reports.Count(len(repeated), "revision"))
	case len(unexpected) > 0:
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("%s has %s too many", l.name(), reports.Count(len(unexpected), "revision"))
	default:
		return nil
	}
	if l.isFirstAgain() {
		v.Summary = l.name() + " returns the first page again"
	}
	return outcome.Fails(l.Response, v)
}

// isFirstAgain reports whether a page that begins at a later offset has the first revisions of the complete list.
func (l Listed) isFirstAgain() bool {
	n := len(l.IDs)
	return n > 0 && n <= len(l.Whole) && slices.Equal(exchange.IDKeys(l.IDs), exchange.IDKeys(l.Whole[:n])) &&
		(len(l.Want) == 0 || !exchange.SameID(l.Want[0], l.IDs[0]))
}

// longest is the maximum length of a description in a title in bytes.
const longest = 80

// name returns the beginning of a title about the list.
func (l Listed) name() string {
	if len(l.What) > longest {
		return "The list"
	}
	return "The list " + l.What
}

// differences describes the list by its size and the wrong revisions: "2 revisions; missing: 1f9c (QUEUED)".
func (l Listed) differences() string {
	text := reports.Count(len(l.IDs), "revision")
	missing, repeated, unexpected := difference(l.IDs, l.Want)
	return text + l.named("missing", missing) + l.named("repeated", repeated) + l.named("unexpected", unexpected)
}

// named lists the first ids for a description. It adds their statuses if the responses show them.
func (l Listed) named(what string, ids []string) string {
	const most = 3
	var names []string
	for _, id := range ids[:min(len(ids), most)] {
		status := rowOf(l.Response, id).Get("status").String()
		if l.With != nil {
			status = cmp.Or(status, rowOf(l.With, id).Get("status").String())
		}
		name := safe.ShortIDs(id)
		if status != "" {
			name += " (" + safe.Prefix(status, 20) + ")"
		}
		names = append(names, name)
	}
	if len(ids) > most {
		names = append(names, fmt.Sprintf("and %d more", len(ids)-most))
	}
	if len(names) == 0 {
		return ""
	}
	return "; " + what + ": " + strings.Join(names, ", ")
}

// difference returns the wanted ids that are missing or repeated, and the other ids of the list.
func difference(ids, want []string) (missing, repeated, unexpected []string) {
	times := map[string]int{}
	for _, id := range exchange.IDKeys(ids) {
		times[id]++
	}
	for _, id := range exchange.IDKeys(want) {
		n := times[id]
		if n == 0 {
			missing = append(missing, id)
		}
		if n > 1 {
			repeated = append(repeated, id)
		}
		delete(times, id)
	}
	return missing, repeated, slices.Sorted(maps.Keys(times))
}
