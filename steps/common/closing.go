package common

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common/judge"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// allResponses is the state of a scenario that judges the responses of a test run, after all scenarios that send
// requests (sections 2, 4 and 7).
type allResponses struct {
	scene  *Scene
	target *target.Target

	responses []*exchange.Response
	side      spec.Side
	requests  []evidence.RequestKind // the kinds of requests whose responses are judged
	operation string
}

// DefineAllResponses registers the steps about all responses of a test run for one scenario, and the steps that
// both halves share.
func DefineAllResponses(r *Definitions, scene *Scene, t *target.Target) {
	r.Then(`the request returns 2xx`, func(ctx context.Context) error { return scene.Served(ctx) })
	r.Then(`(?:the request|each of these requests) is refused with 4xx`, scene.Refused)
	r.Then(`the request is accepted as one without the charset`, func() error {
		return judge.AcceptsContentType(scene.Response, scene.Without, scene.Response.Request.Header.Get("Content-Type"))
	})
	w := &allResponses{scene: scene, target: t}
	r.Given(`a list of revisions that returned (404|422) in the test run`, w.findLists)
	r.Given(`(?:a|an) (control plane|agent server) that responded in the test run`, w.findSide)
	r.Given(`at least one response to "([^"]+)" in the test run`, w.findOperation)
	r.Given(`a new revision whose status was seen in the test run`, w.findStatus)
	r.When(`all such responses are read`, func() error { return nil })
	r.When(`all its responses to requests that (keep the contract|keep the contract or have an invalid parameter|`+
		`break the contract in another way|break the contract) are read`, w.readResponses)
	r.When(`all responses to "([^"]+)" are compared with the contract`, func(string) error { return nil })
	r.Then(`each is JSON with a string "detail"`, func() error { return Each(w.responses, judge.HasDetail) })
	r.Then(`each has a "detail"`, func() error { return Each(w.responses, judge.HasAnyDetail) })
	r.Then(`each is an HTTPValidationError`, func() error { return Each(w.responses, judge.ValidationError) })
	r.Then(`none has a status of 500 or above`, w.hasNoServerError)
	r.Then(`all responses match the contract`, func() error { return outcome.All(w.violations()) })
	r.Then(`no response has an unknown revision status`, w.hasOnlyKnownStatuses)
}

// AllOf returns the pattern that matches all requirements of a half of the interface.
func AllOf(side spec.Side) []string {
	return map[spec.Side][]string{spec.ControlPlane: {"CP-*"}, spec.AgentServer: {"AS-*"}}[side]
}

// senders has, for each operation, the patterns of the requirements whose scenarios always send it.
var senders = map[string][]string{
	"create-deployment": {"CP-CREATE-*"}, "get-deployment": {"CP-GET-*"}, "update-deployment": {"CP-UPDATE-*"},
	"list-revisions": {"CP-LIST-*"}, "get-revision": {"CP-REV-*", "CP-POLL-*"},
	"create-thread": {"AS-THREAD-*"}, "list-threads": {"AS-THREAD-*"}, "search-threads": {"AS-THREAD-*"},
	"create-run": {"AS-RUN-*"}, "join-run": {"AS-RUN-*"}, "get-run": {"AS-RUN-*"}, "get-state": {"AS-STATE-*"},
}

// findLists finds the lists of revisions that returned a status.
func (w *allResponses) findLists(status int) error {
	for _, o := range w.target.Collector.Responses("list-revisions", status, status+1) {
		if o.Whole {
			w.responses = append(w.responses, o.AsAnswer())
		}
	}
	if len(w.responses) == 0 {
		return outcome.LacksEvidence(senders["list-revisions"], "no list of revisions returned %d in this test run", status)
	}
	return nil
}

// findSide chooses a half of the interface. It is inconclusive if that half has sent no response.
func (w *allResponses) findSide(side string) error {
	w.side = spec.Side(strings.ReplaceAll(side, " ", "-"))
	kinds := []evidence.RequestKind{evidence.Kept, evidence.Parameter, evidence.Broken, evidence.Raised}
	if len(w.target.Collector.ResponsesTo(w.side, kinds...)) == 0 {
		return outcome.LacksEvidence(AllOf(w.side), "the %s sent no response in this test run", side)
	}
	return nil
}

// kinds are the kinds of requests whose responses are judged, as the steps name them. Section 7 specifies the
// responses to invalid parameters, and to no other request that breaks the contract.
var kinds = map[string][]evidence.RequestKind{
	"keep the contract": {evidence.Kept},
	"keep the contract or have an invalid parameter": {evidence.Kept, evidence.Parameter},
	"break the contract":                             {evidence.Parameter, evidence.Broken},
	"break the contract in another way":              {evidence.Broken},
}

// readResponses chooses the kinds of requests. It is inconclusive if none of them has a response.
func (w *allResponses) readResponses(kind string) error {
	w.requests = kinds[kind]
	if len(w.target.Collector.ResponsesTo(w.side, w.requests...)) == 0 {
		side := strings.ReplaceAll(string(w.side), "-", " ")
		return outcome.LacksEvidence(AllOf(w.side), "the %s sent no response to such a request in this test run", side)
	}
	return nil
}

// findOperation chooses an operation. It must have a response that could violate the contract: a success, or a status for
// which the contract has a body. For the agent server, any refusal is enough. Of the two operations that list threads only
// one is judged.
func (w *allResponses) findOperation(operation string) error {
	w.operation = operation
	calls := map[string]string{"list-threads": "GET /threads", "search-threads": "POST /threads/search"}
	used := "list-threads"
	if w.target.Searches() {
		used = "search-threads"
	}
	if calls[operation] != "" && operation != used {
		return outcome.Inapplicable("a second endpoint that lists threads",
			"threads are listed with %s; only AS-AUTHZ-3 sends %s, too", calls[used], calls[operation])
	}
	responses := w.target.Collector.Responses(operation, 1, 500)
	if slices.ContainsFunc(responses, showsContract) || len(w.target.Collector.Violations(operation)) > 0 {
		return nil
	}
	if len(responses) == 0 {
		return outcome.LacksEvidence(senders[operation], "%s had no response in this test run, or only 5xx", operation)
	}
	return outcome.LacksEvidence(senders[operation], "%s returned no 2xx in this test run, only refusals such as %d, for which "+
		"the contract allows any body", operation, responses[0].Status)
}

// showsContract reports whether the contract restricts the body of a response: that of a success, and those of the refusals
// that section 4 defines for List Revisions.
func showsContract(o *evidence.Observation) bool {
	isDefined := o.Status == http.StatusNotFound || o.Status == http.StatusUnprocessableEntity
	return o.Status/100 == 2 || o.Op.ID == "list-revisions" && isDefined
}

// findStatus chooses GET of a revision. It must have returned a revision of this test run, because earlier revisions do
// not show the statuses before DEPLOYED.
func (w *allResponses) findStatus() error {
	w.operation = "get-revision"
	if len(w.target.Collector.Responses(w.operation, 200, 300)) == 0 {
		return outcome.LacksEvidence(senders[w.operation], "no GET of a revision returned 200 in this test run")
	}
	return nil
}

// hasNoServerError judges that no operation returned a server error.
func (w *allResponses) hasNoServerError() error {
	raised := w.target.Collector.ResponsesTo(w.side, evidence.Raised)
	if slices.Contains(w.requests, evidence.Kept) && len(raised) > 0 {
		const format = "not judged: the join of a run whose graph raised an error returned %d (%d times)"
		w.scene.Note(fmt.Sprintf(format, raised[0].Status, len(raised)))
	}
	if end := w.target.EndedEarly(); end != nil && slices.Contains(w.requests, evidence.Kept) {
		err := judge.SurvivesRequests(end.How, w.operations(w.target.Collector.Unanswered(w.side, end.At)))
		if err != nil {
			return err
		}
	}
	return judge.NoServerError(w.operations(w.target.Collector.ServerErrorsTo(w.side, w.requests...)))
}

// operations returns exchanges with the operations to which their requests were sent.
func (w *allResponses) operations(exchanges []*evidence.Observation) []judge.Operation {
	var all []judge.Operation
	for _, x := range exchanges {
		// A server need not have vendor extensions, and needs only one of the two operations that list threads.
		isListing := x.Op.ID == "list-threads" || x.Op.ID == "search-threads"
		one := judge.Operation{Response: x.AsAnswer(), Optional: x.Op.Field || isListing,
			Name: x.Method + " " + w.target.Redact.Text(x.Path)}
		if x.Op.ID != "" {
			one.Name, one.Request = x.Op.ID, x.Op.Request()
		}
		all = append(all, one)
	}
	return all
}

// violations returns the contract violations of the operation. Each is a finding.
func (w *allResponses) violations() []outcome.Violation {
	var all []outcome.Violation
	for _, v := range w.target.Collector.Violations(w.operation) {
		var words []string // neutral words that the violation may be about
		if name := path.Base(v.Pointer); name == spec.AnySource || name == spec.NeutralField {
			words = []string{name}
		}
		all = append(all, outcome.Violation{
			Kind: outcome.Contract, Class: v.Keyword + " " + strconv.Itoa(v.Status),
			Summary:  v.Title(w.target.Collector.Observation(v.Exchange).Op),
			Expected: v.Expected, Actual: v.Actual, Operation: v.Operation, Pointer: v.Pointer,
			Exchange: v.Exchange, Count: v.Count, Words: words,
		})
	}
	return all
}

// hasOnlyKnownStatuses judges that revisions have only statuses of the interface. It returns one violation for each
// status that is not one of them.
func (w *allResponses) hasOnlyKnownStatuses() error {
	var all []outcome.Violation
	for _, v := range w.violations() {
		if v.Pointer == "/status" {
			v.Kind = outcome.WrongForm
			v.Class = "unknown status"
			v.Count = 1
			v.Summary = "A revision has a status that the interface does not define"
			all = append(all, v)
		}
	}
	return outcome.All(all)
}
