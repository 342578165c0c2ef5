package judge

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// KeepsOrder checks that the page with limit=2 and offset=1 is a part of the complete list. Otherwise it is unknown which
// revisions belong to a page, because no MUST requires an order. Another requirement judges the length of a page.
func KeepsOrder(all, page []string) error {
	if len(page) != 2 || len(all) <= 2 || exchange.SameIDs(page, all[1:3]) {
		return nil
	}
	return outcome.Inconclusive("the page with limit=2&offset=1 is not the part of the whole list that begins there "+
		"(CP-LIST-6, CP-LIST-15)").ByRequirement("CP-LIST-6", "CP-LIST-15")
}

// StandsForValue judges a list with a different spelling of a value: it must equal the list with that value, or be
// refused. The list's What is the query in the spelling of the interface: "limit=2".
func StandsForValue(l Listed) error {
	a := l.Response
	if a.IsRefused() || a.OK() && exchange.SameIDs(l.IDs, l.Want) {
		return nil
	}
	v := outcome.Violation{
		Kind:     unrefused(a),
		Summary:  returns(a),
		Expected: fmt.Sprintf("%s, as with %s, or 4xx", reports.Count(len(l.Want), "revision"), l.What),
	}
	if a.OK() {
		v.Kind = outcome.WrongValue
		v.Summary = nameOf(a.Request) + " differs from the list with " + l.What
		v.Actual = l.differences()
	}
	return outcome.Fails(a, v)
}

// IsNotFound judges a list request for an unknown deployment: the response must have status 404 and a detail that
// contains the id (section 7). request describes the request if there are several ("limit=1"). Otherwise it is empty.
func IsNotFound(a *exchange.Response, request, id string) error {
	v := outcome.Violation{Expected: "404, with a detail that names " + safe.ShortIDs(id)}
	name := unknownName(a.Request, request)
	if a.Status != http.StatusNotFound {
		v.Kind = unrefused(a)
		v.Check = &reports.Check{Statuses: []string{"404"}, Contains: []string{id}}
		v.Summary = fmt.Sprintf("%s returns %d", name, a.Status)
		return outcome.Fails(a, v)
	}
	text := string(a.Body)
	if detail := a.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	if containsID(text, id) {
		return nil
	}
	v.Kind = outcome.WrongDetail
	v.Summary = "The 404 for an unknown deployment does not name its id"
	return outcome.Fails(a, v)
}

// HoldsOwnOrRefuses judges a list request with a different form of an id: the list must contain a revision of the
// deployment, or be refused. form describes the id ("an id in braces"), and known has the ids of the deployment's
// revisions.
func HoldsOwnOrRefuses(a *exchange.Response, form string, ids, known []string) error {
	own := exchange.IDKeys(known)
	isOwn := func(id string) bool { return slices.Contains(own, exchange.IDKey(id)) }
	if a.IsRefused() || a.OK() && slices.ContainsFunc(ids, isOwn) {
		return nil
	}
	v := outcome.Violation{
		Kind:     unserved(a),
		Summary:  fmt.Sprintf("The list of revisions by %s returns %d", form, a.Status),
		Expected: "4xx, or a list with revisions of the deployment",
		Pointer:  "/resources",
	}
	if a.OK() {
		v.Kind = outcome.MissingItem
		v.Summary = "The list of revisions by " + form + " lacks all revisions"
	}
	return outcome.Fails(a, v)
}

// ShowsOwnOrRefuses judges a GET with a different form of an id: it must show the object with that id, or be refused.
// form describes the id ("the id in braces").
func ShowsOwnOrRefuses(a *exchange.Response, form, id string) error {
	if a.IsRefused() || a.OK() && exchange.MeansSame(a.Get("id").String(), id) {
		return nil
	}
	v := outcome.Violation{
		Kind:     unserved(a),
		Summary:  fmt.Sprintf("GET by %s returns %d", form, a.Status),
		Expected: "4xx, or the id " + id,
		Pointer:  "/id",
	}
	if a.OK() {
		v.Kind = outcome.WrongValue
		v.Summary = "GET by " + form + " returns another object"
	}
	return outcome.Fails(a, v)
}
