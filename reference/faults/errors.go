package faults

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
)

func errorBodies() []Fault {
	alsoInContract := map[string]string{"CP-CONTRACT-list-revisions": sameInContract}
	return []Fault{
		{
			Name: "not-found-is-a-text", Breaks: "the 404 of list revisions is plain text", Fails: "CP-ERROR-1", Also: alsoInContract,
			Apply: onStatus(listRevisions, http.StatusNotFound, func(_ *http.Request, a *answer) { a.plain(text(a.object(), "detail")) }),
		},
		{
			Name: "not-found-has-an-object", Breaks: "the 404 of list revisions has an object as detail", Fails: "CP-ERROR-1", Also: alsoInContract,
			Apply: onStatus(listRevisions, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) { o["detail"] = map[string]any{"message": o["detail"]} })
			}),
		},
		{
			Name: "not-found-has-a-message", Breaks: "the 404 of list revisions has message instead of detail", Fails: "CP-ERROR-1", Also: alsoInContract,
			Apply: onStatus(listRevisions, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) { o["message"] = o["detail"]; delete(o, "detail") })
			}),
		},
		{
			Name: "first-problem-only", Breaks: "the 422 of list revisions reports only the first of several invalid parameters", Fails: "CP-ERROR-2",
			Apply: onStatus(listRevisions, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) {
					if problems, _ := o["detail"].([]any); len(problems) > 1 {
						o["detail"] = problems[:1]
					}
				})
			}),
		},
		{
			Name: "detail-is-a-text", Breaks: "the 422 of list revisions has a string detail", Fails: "CP-ERROR-2", Also: alsoInContract,
			Apply: onStatus(listRevisions, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				var names []string
				for _, problem := range items(a.object()["detail"]) {
					names = append(names, lastOf(problem["loc"]))
				}
				a.refuse(http.StatusUnprocessableEntity, "Invalid: "+strings.Join(names, ", "))
			}),
		},
		{
			Name: "loc-is-a-text", Breaks: "loc of a validation error is a dotted string instead of an array", Fails: "CP-ERROR-2", Also: alsoInContract,
			Apply: onProblems(func(problem map[string]any) { problem["loc"] = "query." + lastOf(problem["loc"]) }),
		},
		{
			Name: "loc-ends-with-null", Breaks: "loc of a validation error ends with null", Fails: "CP-ERROR-2", Also: alsoInContract,
			Apply: onProblems(func(problem map[string]any) {
				if loc, ok := problem["loc"].([]any); ok {
					problem["loc"] = append(loc, nil)
				}
			}),
		},
		{
			Name: "problems-have-no-type", Breaks: "a validation error has no type", Fails: "CP-ERROR-2", Also: alsoInContract,
			Apply: onProblems(func(problem map[string]any) { delete(problem, "type") }),
		},
		{
			Name: "first-request-fails", Breaks: "the first request after the start returns 500", Fails: "CP-ERROR-3", Once: true,
			Apply: fresh(func() Layer {
				var warm atomic.Bool
				return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					if !warm.Swap(true) {
						writeJSON(w, http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)
						return
					}
					next.ServeHTTP(w, r)
				})
			}),
		},
		{
			Name: "change-of-source-fails", Breaks: "an update that changes source returns 500", Fails: "CP-ERROR-3",
			Apply: onStatus(updateDeployment, http.StatusBadRequest, func(_ *http.Request, a *answer) {
				if strings.Contains(string(a.body), "source of a deployment") {
					a.refuse(http.StatusInternalServerError, "Internal Server Error")
				}
			}),
		},
		{
			Name: "read-only-fields-fail", Breaks: "an update with the read-only field created_at returns 503", Fails: "CP-ERROR-3",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) && bodyOf(r)["created_at"] != nil {
					writeJSON(w, http.StatusServiceUnavailable, `{"detail":"Service Unavailable"}`)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "broken-json-fails", Breaks: "create and update return 500 for a body that is not valid JSON", Fails: "CP-ERROR-4",
			Also: map[string]string{"CP-CREATE-4": "the request must be refused with 4xx", "CP-UPDATE-11": "the request must be refused with 4xx"},
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) || updateDeployment.is(r) {
					if text := readBody(r); len(text) > 0 && !json.Valid(text) {
						writeJSON(w, http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)
						return
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
	}
}

// lastOf returns the last element of a list if it is a string.
func lastOf(loc any) string {
	list, _ := loc.([]any)
	if len(list) == 0 {
		return ""
	}
	last, _ := list[len(list)-1].(string)
	return last
}
