// Package judge has the judgements that both halves share: the form of refusals and the absence of server errors. They
// are functions of values that return nil or an outcome, and send nothing. Start with [ValidationError]; errors_test.go
// has a table of cases for each.
package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// IsInteger reports whether a value is an integer of JSON: 2, 2.0 and 2e0 are the same number.
func IsInteger(v gjson.Result) bool {
	return v.Type == gjson.Number && v.Num == math.Trunc(v.Num)
}

// LacksDetail reports whether a refusal is a JSON object without a detail. The interface makes the detail optional
// (section 2).
func LacksDetail(a *exchange.Response) bool {
	return a.IsJSON() && gjson.ParseBytes(a.Body).IsObject() && !a.Get("detail").Exists()
}

// HasAnyDetail judges that a refusal has a detail of any form.
func HasAnyDetail(a *exchange.Response) error {
	if !LacksDetail(a) {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: outcome.Missing, Pointer: "/detail",
		Summary: "A refusal has no detail", Expected: "a detail"})
}

// HasDetail judges that a refusal has a string as its detail (section 7).
func HasDetail(a *exchange.Response) error {
	if a.Get("detail").Type == gjson.String {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: outcome.WrongDetail, Pointer: "/detail",
		Summary: fmt.Sprintf("The detail of a %d is not a string", a.Status), Expected: "a string in detail"})
}

// ValidationError judges the form of an HTTPValidationError: detail is a non-empty array of objects with loc, msg and type
// (section 2). The interface makes detail optional.
func ValidationError(a *exchange.Response) error {
	if LacksDetail(a) {
		return nil
	}
	detail := a.Get("detail")
	if !detail.IsArray() || len(detail.Array()) == 0 {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.WrongForm, Pointer: "/detail",
			Summary: "The detail of a 422 is not a list of errors", Expected: "a non-empty array in detail"})
	}
	for i, item := range detail.Array() {
		if err := validationItem(a, "detail."+strconv.Itoa(i), item); err != nil {
			return err
		}
	}
	return nil
}

// validationItem judges one error of a detail. path is its path in the body.
func validationItem(a *exchange.Response, path string, item gjson.Result) error {
	loc := item.Get("loc")
	if !loc.IsArray() {
		return wrongForm(a, path+".loc", "loc in an error of a 422 is not an array", "an array in loc")
	}
	for _, part := range loc.Array() {
		if part.Type != gjson.String && !IsInteger(part) {
			return wrongForm(a, path+".loc", "loc in an error of a 422 has an item of the wrong type", "only strings and integers in loc")
		}
	}
	for _, field := range []string{"msg", "type"} {
		if item.Get(field).Type != gjson.String {
			return wrongForm(a, path+"."+field, field+" in an error of a 422 is not a string", "a string in "+field)
		}
	}
	return nil
}

// wrongForm returns the violation of a value at a path of the body.
func wrongForm(a *exchange.Response, path, summary, expected string) error {
	return outcome.Fails(a, outcome.Violation{Kind: outcome.WrongForm, Pointer: outcome.PointerOf(path), Summary: summary,
		Expected: expected, Actual: outcome.Shown(a.Get(path))})
}

// IsRefused judges that a request was refused with 4xx. what describes the request if there are several ("limit=2.5").
// Otherwise it is empty.
func IsRefused(a *exchange.Response, what string) error {
	if a.IsRefused() {
		return nil
	}
	request := a.Request.Name()
	if what != "" {
		request += " with " + what
	}
	v := outcome.Violation{Kind: outcome.Accepted, Summary: fmt.Sprintf("%s returns %d", request, a.Status), Expected: "4xx",
		Check: outcome.Statuses("4XX")}
	if !a.OK() {
		v.Kind = outcome.WrongStatus
	}
	if a.Status >= http.StatusInternalServerError {
		v.Kind = outcome.ServerError
	}
	return outcome.Fails(a, v)
}

// AcceptsContentType judges that a request with a parameter in its Content-Type is accepted, if the same request without
// the parameter was. without is the response to the latter, or nil if it was not sent.
func AcceptsContentType(a, without *exchange.Response, contentType string) error {
	if a.OK() {
		return nil
	}
	if without == nil || !without.OK() {
		return outcome.Inapplicable("this request", "the target does not accept the same request without the parameter either")
	}
	v := outcome.Violation{Kind: outcome.WrongStatus, Expected: "2xx, as without the parameter", Check: outcome.Statuses("2XX"),
		Summary: fmt.Sprintf("%s with Content-Type %s returns %d", a.Request.Method, contentType, a.Status)}
	if a.Status >= http.StatusInternalServerError {
		v.Kind = outcome.ServerError
	}
	return outcome.Fails(a, v).Comparing(a, without)
}

// Operation is a response with the operation of its request.
type Operation struct {
	Response *exchange.Response
	Name     string // operation of the contract, or method and path
	Request  string // method and path for a title: "GET /threads/{thread_id}/state"
	Optional bool   // the operation is optional: the server may return 501
}

// NoServerError judges that no response has a status of 500 or above (section 7). It returns one violation for each
// operation and status.
func NoServerError(all []Operation) error {
	found := map[string]*outcome.Violation{}
	for _, o := range all {
		status := o.Response.Status
		if status < http.StatusInternalServerError || o.Optional && status == http.StatusNotImplemented {
			continue
		}
		key := fmt.Sprint(o.Name, " ", status)
		if found[key] == nil {
			found[key] = &outcome.Violation{Kind: outcome.ServerError, Class: strconv.Itoa(status),
				Summary: fmt.Sprintf("%s returns %d", cmp.Or(o.Request, o.Name), status), Expected: "a status below 500", Check: outcome.Statuses("2XX", "3XX", "4XX"),
				Actual: outcome.Got(o.Response), Operation: o.Name, Exchange: o.Response.ID, Count: 1}
			continue
		}
		found[key].Count++
		found[key].Repeats = append(found[key].Repeats, o.Response.ID)
	}
	var violations []outcome.Violation
	for _, key := range slices.Sorted(maps.Keys(found)) {
		violations = append(violations, *found[key])
	}
	return outcome.All(violations)
}

// SurvivesRequests judges that the server did not end while it handled requests (section 7). how describes its end.
// requests has the requests without a response at that time.
func SurvivesRequests(how string, requests []Operation) error {
	if len(requests) == 0 {
		return nil
	}
	first := requests[0]
	v := outcome.Violation{Kind: outcome.ServerError, Class: "ended",
		Summary:  fmt.Sprintf("The server ends (%s) while it handles %s", how, cmp.Or(first.Request, first.Name)),
		Expected: "a response", Actual: "no response: the server ended (" + how + ")", Operation: first.Name,
		Exchange: first.Response.ID, Count: len(requests)}
	for _, other := range requests[1:] {
		v.Repeats = append(v.Repeats, other.Response.ID)
	}
	return outcome.All([]outcome.Violation{v})
}
