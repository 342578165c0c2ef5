// Package judge has the judgements about the control plane: functions of values (responses, revisions, what was
// configured) that return nil, a violation, or an inconclusive outcome. They send nothing, so that a table test reaches
// each of them. One file per feature; start with [RefusesParameter].
package judge

import (
	common "github.com/agentconform/agentconform/steps/common/judge"

	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RefusesParameter judges a list that was requested with invalid parameters: the response has status 422 and an error
// that names each of them (sections 4, 7 and 8). request describes the query ("limit=101"), and class its kind ("out of
// range").
func RefusesParameter(a *exchange.Response, request, class string, parameters ...string) error {
	v := outcome.Violation{Class: class, Expected: "422, with an error that names " + strings.Join(parameters, " and ")}
	if a.Status != http.StatusUnprocessableEntity {
		v.Kind = unrefused(a)
		v.Summary = acceptedOrReturns(a, request)
		v.Check = &reports.Check{Statuses: []string{"422"}, Contains: parameters}
		return outcome.Fails(a, v)
	}
	for _, parameter := range parameters {
		if !Names(a, parameter) {
			v.Kind = outcome.WrongDetail
			v.Summary = fmt.Sprintf("The error about %s does not name %s", request, parameter)
			v.Pointer = "/detail"
			return outcome.Fails(a, v)
		}
	}
	return nil
}

// Names reports whether a refusal names a parameter: in a loc, or if it has no loc, anywhere in the body. A refusal
// without a detail cannot name it (CP-ERROR-5), and counts as one that does.
func Names(a *exchange.Response, parameter string) bool {
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

// wrongListField returns the violation by a field of a list that is absent or not of the type ("an array").
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

// IsEmpty judges that a list holds no revision. known is how many the deployment has. How an empty list is written is
// another requirement's concern, so a response without resources is inconclusive.
func IsEmpty(a *exchange.Response, known int) error {
	if !a.Get("resources").Exists() {
		return outcome.Inconclusive("the response has no resources: %s", outcome.Seen(a))
	}
	return HasCount(a, 0, known)
}

// HasCount judges how many revisions a list holds. known is how many the deployment has.
func HasCount(a *exchange.Response, want, known int) error {
	got := len(a.Get("resources").Array())
	if got == want {
		return nil
	}
	v := outcome.Violation{
		Kind:     outcome.MissingItem,
		Summary:  fmt.Sprintf("The list has %s too few", reports.Count(want-got, "revision")),
		Expected: fmt.Sprintf("%d of the %d revisions", want, known),
		Actual:   fmt.Sprintf("%d", got),
		Pointer:  "/resources",
	}
	if got > want {
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("The list has %s too many", reports.Count(got-want, "revision"))
	}
	return outcome.Fails(a, v)
}

// IsNewestFirst judges the order of the revisions in a list. known has the ids of the revisions that the suite has
// created, in the order of creation. Others are not judged.
func IsNewestFirst(a *exchange.Response, rows []gjson.Result, known []string) error {
	keys := exchange.IDKeys(known)
	var listed []listedRevision
	for _, row := range rows {
		number := slices.Index(keys, exchange.IDKey(row.Get("id").String()))
		if number < 0 {
			continue
		}
		created, _ := Instant(row.Get("created_at"))
		listed = append(listed, listedRevision{number, created})
	}
	if len(listed) < 2 {
		return outcome.Inconclusive("the list has %d of the known revisions: an order needs at least 2", len(listed))
	}
	if areNewestFirst(listed) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.WrongOrder,
		Summary:  "The list is not ordered from the newest to the oldest revision",
		Expected: "the revisions from the newest to the oldest",
		Actual:   "another order",
		Pointer:  "/resources",
	})
}

// listedRevision is a revision in a list: its number, counted in the order of creation, and the created_at that is shown,
// or zero.
type listedRevision struct {
	number  int
	created time.Time
}

// areNewestFirst reports whether no revision stands after an older one. Revisions with the same created_at may stand in
// any order.
func areNewestFirst(rows []listedRevision) bool {
	for i, later := range rows {
		for _, earlier := range rows[:i] {
			isTie := !later.created.IsZero() && later.created.Equal(earlier.created)
			if later.number > earlier.number && !isTie {
				return false
			}
		}
	}
	return true
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
			Summary:  "A revision in the list shows another source",
			Expected: "source " + source,
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

// ReturnsNoneAgain judges the page at the offset of the last page: it has no revision that was returned before. last is
// the response of the last page.
func ReturnsNoneAgain(page, last *exchange.Response, ids, before []string) error {
	returned := exchange.IDKeys(before)
	for _, id := range ids {
		if slices.Contains(returned, exchange.IDKey(id)) {
			return outcome.Fails(page, outcome.Violation{
				Kind:     outcome.RepeatedItem,
				Summary:  "The offset of the last page returns a revision again",
				Expected: "no revision that an earlier page has returned",
				Actual:   "the revision " + id + " again",
				Pointer:  "/resources",
				Compared: compared(page, last),
			})
		}
	}
	return nil
}

// NextOffset returns the offset of a page that fetches the next one (section 2). An offset that is not an integer is
// another requirement's concern.
func NextOffset(page *exchange.Response) (int, error) {
	offset := page.Get("offset")
	if !common.IsInteger(offset) {
		return 0, outcome.Inconclusive("the returned offset is not an integer: %s", outcome.Shown(offset))
	}
	if offset.Num < 0 || offset.Num > math.MaxInt32 {
		return 0, fieldFails(page, "offset", outcome.Violation{
			Kind:     outcome.WrongValue,
			Summary:  "The returned offset cannot be used for the next page",
			Expected: "an offset that fetches the next page",
		})
	}
	return int(offset.Num), nil
}

// Listed is a list, and the revisions that it must hold.
type Listed struct {
	Response *exchange.Response
	IDs      []string           // of the revisions in the list
	Want     []string           // the ids that it must hold
	What     string             // describes the request: "with status DEPLOYED"
	With     *exchange.Response // shows the ids, or nil if the suite has created the revisions
}

// HoldsExactly judges that a list holds its revisions, each once, and no others. A list that must be empty has to be
// served, too.
func HoldsExactly(l Listed) error {
	expected := fmt.Sprintf("%s %s, each once", reports.Count(len(l.Want), "revision"), l.What)
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
		Actual:   fmt.Sprintf("%d: %d missing, %d repeated, %d unexpected", len(l.IDs), missing, repeated, unexpected),
		Pointer:  "/resources",
		Compared: compared(l.Response, l.With),
	}
	switch {
	case missing > 0:
		v.Kind = outcome.MissingItem
		v.Summary = fmt.Sprintf("%s lacks %s", l.name(), reports.Count(missing, "revision"))
	case repeated > 0:
		v.Kind = outcome.RepeatedItem
		v.Summary = fmt.Sprintf("%s repeats %s", l.name(), reports.Count(repeated, "revision"))
	case unexpected > 0:
		v.Kind = outcome.ExtraItem
		v.Summary = fmt.Sprintf("%s has %s too many", l.name(), reports.Count(unexpected, "revision"))
	default:
		return nil
	}
	return outcome.Fails(l.Response, v)
}

// name returns the subject of a sentence about the list.
func (l Listed) name() string {
	const longest = 45 // of a description in a summary
	if len(l.What) > longest {
		return "The list"
	}
	return "The list " + l.What
}

// difference counts the wanted ids that are missing or repeated, and the different ids that are not wanted.
func difference(ids, want []string) (missing, repeated, unexpected int) {
	times := map[string]int{}
	for _, id := range exchange.IDKeys(ids) {
		times[id]++
	}
	for _, id := range exchange.IDKeys(want) {
		n := times[id]
		if n == 0 {
			missing++
		}
		if n > 1 {
			repeated++
		}
		delete(times, id)
	}
	return missing, repeated, len(times)
}
