// Package judge has the judgements about the control plane: functions of values (responses, revisions, what was
// configured) that return nil, a violation, or an inconclusive outcome. They send nothing, so that a table test reaches
// each of them. One file per feature; start with [RefusesParameter].
package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RefusesParameter judges a list that was requested with invalid parameters: the response has status 422 and an error
// that names each of them (sections 4, 7 and 8). request describes the query ("limit=101"), and class its kind ("out of
// range").
func RefusesParameter(a *exchange.Response, request, class string, parameters ...string) error {
	v := outcome.Violation{Class: class, Expected: "422, with an error that names " + strings.Join(parameters, " and ")}
	switch {
	case a.OK():
		v.Kind = outcome.Accepted
		v.Summary = request + " is accepted"
		return outcome.Fails(a, v)
	case a.Status >= http.StatusInternalServerError:
		v.Kind = outcome.ServerError
		v.Summary = fmt.Sprintf("%s returns %d", request, a.Status)
		return outcome.Fails(a, v)
	case a.Status != http.StatusUnprocessableEntity:
		v.Kind = outcome.WrongStatus
		v.Summary = fmt.Sprintf("%s returns %d", request, a.Status)
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
