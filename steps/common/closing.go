package common

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// listRevisions is the id of the operation in the contract.
const listRevisions = "list-revisions"

// closing judges, when all other scenarios have ended, what they have seen.
type closing struct {
	target *target.Target
	shard  bool // the run is one of several, each of which sees only a part

	answers   []*client.Answer
	side      spec.Side
	operation string
}

// DefineClosing registers the sentences about all answers of a run for one scenario, and what both halves judge. In a shard,
// answers that this one has not seen may have come to another.
func DefineClosing(r *Registrar, scene *Scene, t *target.Target, shard bool) {
	r.Then(`the request is served`, scene.isServed)
	r.Then(`the request is refused`, scene.Refused)
	(&closing{target: t, shard: shard}).define(r)
}

// notSeen is the outcome where there was no answer of the kind that is to be judged.
func (w *closing) notSeen(what string, args ...any) *outcome.Outcome {
	if w.shard {
		return outcome.NotSelected("shard", what+" (in this shard)", args...)
	}
	return outcome.Inconclusive(what, args...)
}

// define holds the sentences about refusals and about all answers of a run (sections 2, 4 and 7).
func (w *closing) define(r *Registrar) {
	r.Given(`a list of revisions that was not found in this run`, w.aListNotFound)
	r.Given(`a list of revisions that was refused as invalid in this run`, w.aListRefused)
	r.Given(`(?:a|an) (control plane|agent server) that answered in this run`, w.aSideThatAnswered)
	r.Given(`an answer to "([^"]+)" that was seen in this run`, w.anAnswerSeen, Needs(w.isAsked))
	r.When(`all such answers are looked at`, func() error { return nil })
	r.When(`all its answers are looked at`, func() error { return nil })
	r.When(`all answers to "([^"]+)" are held to the contract`, func(string) error { return nil })
	r.Then(`each is JSON with a text as detail`, w.eachHasDetail)
	r.Then(`each has the form of a validation error`, w.eachIsValidationError)
	r.Then(`none is a server error`, w.noServerError)
	r.Then(`the contract has nothing against them`, w.contractIsKept)
}

func (w *closing) aListNotFound() error { return w.errorsOf(http.StatusNotFound) }

func (w *closing) aListRefused() error { return w.errorsOf(http.StatusUnprocessableEntity) }

func (w *closing) errorsOf(status int) error {
	w.answers = w.target.Collector.ErrorAnswers(listRevisions, status)
	if len(w.answers) == 0 {
		return w.notSeen("no list of revisions was answered %d in this run", status)
	}
	return nil
}

func (w *closing) aSideThatAnswered(side string) error {
	w.side = spec.Side(strings.ReplaceAll(side, " ", "-"))
	if answers, _ := w.target.Collector.ServerErrors(w.side); answers == 0 {
		return w.notSeen("the %s gave no answer in this run", side)
	}
	return nil
}

func (w *closing) anAnswerSeen(operation string) error {
	w.operation = operation
	if err := w.isAsked(operation); err != nil {
		return err
	}
	if w.target.Collector.Answered(operation) == 0 {
		return w.notSeen("%s was not answered in this run", operation)
	}
	return nil
}

// isAsked skips the call by which threads are not listed here.
func (w *closing) isAsked(operation string) error {
	if listing := w.target.Config.Agent.Listing; operation == "list-threads" && listing != "get" || operation == "search-threads" && listing != "search" {
		return outcome.Inapplicable("agent.listing", "threads are listed by the other call: agent.listing is %s", listing)
	}
	return nil
}

func (w *closing) eachHasDetail() error {
	for _, a := range w.answers {
		if detail := a.Get("detail"); detail.Type != gjson.String {
			return outcome.Violated(a, "JSON with a text as detail", "%s", outcome.Seen(a)).At("/detail")
		}
	}
	return nil
}

func (w *closing) eachIsValidationError() error {
	for _, a := range w.answers {
		if problem := ValidationError(a); problem != nil {
			return problem
		}
	}
	return nil
}

// ValidationError holds an answer to the form of HTTPValidationError (section 2), with at least one reason.
func ValidationError(a *client.Answer) error {
	detail := a.Get("detail")
	if !detail.IsArray() || len(detail.Array()) == 0 {
		return outcome.Violated(a, "detail as an array with at least one reason", "%s", outcome.Seen(a)).At("/detail")
	}
	for i, item := range detail.Array() {
		at := "/detail/" + strconv.Itoa(i)
		loc := item.Get("loc")
		if !loc.IsArray() {
			return outcome.Violated(a, "loc as an array", "%s", outcome.Shown(loc)).At(at + "/loc")
		}
		for _, part := range loc.Array() {
			if part.Type != gjson.String && (part.Type != gjson.Number || strings.ContainsAny(part.Raw, ".eE")) {
				return outcome.Violated(a, "loc of texts and whole numbers", "%s", outcome.Shown(loc)).At(at + "/loc")
			}
		}
		for _, field := range []string{"msg", "type"} {
			if value := item.Get(field); value.Type != gjson.String {
				return outcome.Violated(a, "a text as "+field, "%s", outcome.Shown(value)).At(at + "/" + field)
			}
		}
	}
	return nil
}

// noServerError makes a finding of each operation that was answered with a server error.
func (w *closing) noServerError() error {
	_, failures := w.target.Collector.ServerErrors(w.side)
	o := &outcome.Outcome{Verdict: reports.Failed}
	for _, f := range failures {
		v := outcome.Violation{
			Summary: fmt.Sprintf("%s answers with a server error", f.Operation), Expected: "a status below 500",
			Actual: fmt.Sprintf("status %d, %d times", f.Status, f.Count), Operation: f.Operation, Count: f.Count,
			Key: strconv.Itoa(f.Status),
		}
		if f.Answer != nil {
			v.Exchange = f.Answer.ID
			v.Actual = outcome.Seen(f.Answer)
		}
		o.Violations = append(o.Violations, v)
	}
	return o.OrNil()
}

// contractIsKept makes a finding of each fault that the contract found in the answers of an operation.
func (w *closing) contractIsKept(context.Context) error {
	o := &outcome.Outcome{Verdict: reports.Failed}
	for _, v := range w.target.Collector.Violations(w.operation) {
		o.Violations = append(o.Violations, outcome.Violation{
			Summary:  fmt.Sprintf("answers of %s with status %d break the contract (%s)", v.Operation, v.Status, v.Keyword),
			Expected: v.Expected, Actual: v.Actual, Operation: v.Operation, Pointer: v.Pointer,
			Exchange: v.Exchange, Count: v.Count, Key: v.Key(),
		})
	}
	return o.OrNil()
}
