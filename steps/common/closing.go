package common

import (
	"cmp"
	"context"
	"fmt"
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

// closing judges, when all other scenarios have ended, what they have seen (sections 2, 4 and 7).
type closing struct {
	scene  *Scene
	target *target.Target

	answers   []*exchange.Response
	side      spec.Side
	asked     []evidence.Asked // kinds of requests whose answers are judged
	operation string
}

// DefineClosing registers the sentences about all answers of a run for one scenario, and what both halves judge.
func DefineClosing(r *Definitions, scene *Scene, t *target.Target) {
	r.Then(`the request is answered with 2xx`, func(ctx context.Context) error { return scene.Served(ctx) })
	r.Then(`(?:the request|each of these requests) is refused with 4xx`, scene.Refused)
	w := &closing{scene: scene, target: t}
	r.Given(`a list of revisions that was answered with (404|422) in this run`, w.aListAnsweredWith)
	r.Given(`(?:a|an) (control plane|agent server) that answered in this run`, w.aSideThatAnswered)
	r.Given(`at least one answer to "([^"]+)" in this run`, w.anAnswerSeen)
	r.Given(`a new revision whose status was seen in this run`, w.aStatusSeen)
	r.When(`all such answers are read`, func() error { return nil })
	r.When(`all its answers to requests that (keep the contract|keep the contract or have an invalid parameter|`+
		`break the contract in another way|break the contract) are read`, w.answersAreRead)
	r.When(`all answers to "([^"]+)" are compared with the contract`, func(string) error { return nil })
	r.Then(`each is JSON with a string "detail"`, func() error { return Each(w.answers, judge.HasDetail) })
	r.Then(`each has a "detail"`, func() error { return Each(w.answers, judge.HasAnyDetail) })
	r.Then(`each is an HTTPValidationError`, func() error { return Each(w.answers, judge.ValidationError) })
	r.Then(`none has a status of 500 or above`, w.noServerError)
	r.Then(`all answers match the contract`, func() error { return outcome.All(w.violations()) })
	r.Then(`no answer has an unknown status`, w.everyStatusKnown)
}

func (w *closing) aListAnsweredWith(status int) error {
	for _, o := range w.target.Collector.Answers("list-revisions", status, status+1) {
		if o.Whole {
			w.answers = append(w.answers, o.AsAnswer())
		}
	}
	if len(w.answers) == 0 {
		return outcome.Inconclusive("no list of revisions was answered with %d in this run", status)
	}
	return nil
}

func (w *closing) aSideThatAnswered(side string) error {
	w.side = spec.Side(strings.ReplaceAll(side, " ", "-"))
	kinds := []evidence.Asked{evidence.Kept, evidence.Parameter, evidence.Broken, evidence.Raised}
	if len(w.target.Collector.AnswersTo(w.side, kinds...)) == 0 {
		return outcome.Inconclusive("the %s gave no answer in this run", side)
	}
	return nil
}

// kinds are the requests whose answers are judged. Section 7 says how invalid parameters are answered, and nothing of
// any other request that breaks the contract.
var kinds = map[string][]evidence.Asked{
	"keep the contract": {evidence.Kept},
	"keep the contract or have an invalid parameter": {evidence.Kept, evidence.Parameter},
	"break the contract":                             {evidence.Parameter, evidence.Broken},
	"break the contract in another way":              {evidence.Broken},
}

func (w *closing) answersAreRead(asked string) error {
	w.asked = kinds[asked]
	if len(w.target.Collector.AnswersTo(w.side, w.asked...)) == 0 {
		side := strings.ReplaceAll(string(w.side), "-", " ")
		return outcome.Inconclusive("the %s answered no request of this kind in this run", side)
	}
	return nil
}

// anAnswerSeen skips the listing endpoint that is not used.
func (w *closing) anAnswerSeen(operation string) error {
	w.operation = operation
	calls := map[string]string{"list-threads": "GET /threads", "search-threads": "POST /threads/search"}
	used := map[bool]string{false: "list-threads", true: "search-threads"}[w.target.Searches()]
	switch {
	case calls[operation] != "" && operation != used:
		return outcome.Inapplicable("a second endpoint that lists threads",
			"%s is not tested: threads are listed with %s", calls[operation], calls[used])
	case len(w.target.Collector.Answers(operation, 1, 500)) == 0:
		return outcome.Inconclusive("%s was not answered in this run, or only with status 5xx", operation)
	}
	return nil
}

// aStatusSeen needs a revision of this run: what others have deployed shows nothing of the way there.
func (w *closing) aStatusSeen() error {
	if w.operation = "get-revision"; len(w.target.Collector.Answers(w.operation, 200, 300)) == 0 {
		return outcome.Inconclusive("no GET of a revision was answered with 200 in this run")
	}
	return nil
}

// noServerError makes a finding of each operation that was answered with a server error.
func (w *closing) noServerError() error {
	raised := w.target.Collector.AnswersTo(w.side, evidence.Raised)
	if slices.Contains(w.asked, evidence.Kept) && len(raised) > 0 {
		const format = "not judged: the join of a run whose graph raised an error was answered with status %d, %d times"
		w.scene.Note(fmt.Sprintf(format, raised[0].Status, len(raised)))
	}
	var all []judge.Operation
	for _, x := range w.target.Collector.AnswersTo(w.side, w.asked...) {
		// A server needs no vendor extension, and only one of the two operations that list threads.
		isListing := x.Op.ID == "list-threads" || x.Op.ID == "search-threads"
		all = append(all, judge.Operation{Response: x.AsAnswer(), Optional: x.Op.Field || isListing,
			Name: cmp.Or(x.Op.ID, x.Method+" "+w.target.Redact.Text(x.Path))})
	}
	return judge.NoServerError(all)
}

// violations are what the contract says against the answers of the operation: each is a finding.
func (w *closing) violations() (all []outcome.Violation) {
	for _, v := range w.target.Collector.Violations(w.operation) {
		var words []string // neutral ones that it may be about
		if at := path.Base(v.Pointer); at == spec.AnySource || at == spec.NeutralField {
			words = []string{at}
		}
		all = append(all, outcome.Violation{
			Kind: outcome.Contract, Class: v.Keyword + " " + strconv.Itoa(v.Status),
			Summary:  fmt.Sprintf("%s %d: expected %s at %s", v.Operation, v.Status, v.Expected, cmp.Or(v.Pointer, "the body")),
			Expected: v.Expected, Actual: v.Actual, Operation: v.Operation, Pointer: v.Pointer,
			Exchange: v.Exchange, Count: v.Count, Words: words,
		})
	}
	return all
}

// everyStatusKnown makes a finding of a revision's status that is none of the interface, wherever it was seen.
func (w *closing) everyStatusKnown() error {
	var all []outcome.Violation
	for _, v := range w.violations() {
		if v.Pointer == "/status" {
			v.Kind, v.Class, v.Count = outcome.WrongForm, "unknown status", 1
			v.Summary = "The status of a revision is not one of the thirteen"
			all = append(all, v)
		}
	}
	return outcome.All(all)
}
