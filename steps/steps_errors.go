package steps

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// listRevisions is the id of the operation in the contract.
const listRevisions = "list-revisions"

// defineErrors holds the sentences about refusals and about all answers of a run (sections 2, 4 and 7).
func (w *World) defineErrors(b *book) {
	b.given(`a list of revisions that was not found in this run`, w.aListNotFound)
	b.given(`a list of revisions that was refused as invalid in this run`, w.aListRefused)
	b.given(`(?:a|an) (control plane|agent server) that answered in this run`, w.aSideThatAnswered)
	b.given(`an answer to "([^"]+)" that was seen in this run`, w.anAnswerSeen)
	b.requires(`an answer to "([^"]+)" that was seen in this run`, w.isAsked)
	b.when(`all such answers are looked at`, func() error { return nil })
	b.when(`all its answers are looked at`, func() error { return nil })
	b.when(`all answers to "([^"]+)" are held to the contract`, func(string) error { return nil })
	b.then(`each is JSON with a text as detail`, w.eachHasDetail)
	b.then(`each has the form of a validation error`, w.eachIsValidationError)
	b.then(`none is a server error`, w.noServerError)
	b.then(`the contract has nothing against them`, w.contractIsKept)
}

func (w *World) aListNotFound() error { return w.errorsOf(http.StatusNotFound) }

func (w *World) aListRefused() error { return w.errorsOf(http.StatusUnprocessableEntity) }

func (w *World) errorsOf(status int) error {
	w.answers = w.lastAnswers(listRevisions, status)
	if len(w.answers) == 0 {
		return w.run.notSeen("no list of revisions was answered %d in this run", status)
	}
	return nil
}

func (w *World) aSideThatAnswered(side string) error {
	w.subject = []string{strings.ReplaceAll(side, " ", "-")}
	if answers, _ := w.run.collector.ServerErrors(spec.Side(w.subject[0])); answers == 0 {
		return w.run.notSeen("the %s gave no answer in this run", side)
	}
	return nil
}

func (w *World) anAnswerSeen(operation string) error {
	w.subject = []string{operation}
	if err := w.isAsked(operation); err != nil {
		return err
	}
	if w.run.collector.Answered(operation) == 0 {
		return w.run.notSeen("%s was not answered in this run", operation)
	}
	return nil
}

// isAsked skips the call by which threads are not listed here.
func (w *World) isAsked(operation string) error {
	if listing := w.run.config.Agent.Listing; operation == "list-threads" && listing != "get" || operation == "search-threads" && listing != "search" {
		return inapplicable("threads are listed by the other call: agent.listing is %s", listing)
	}
	return nil
}

func (w *World) eachHasDetail() error {
	for _, a := range w.answers {
		if detail := a.Get("detail"); detail.Type != gjson.String {
			return violated(a, "JSON with a text as detail", "%s", seen(a)).at("/detail")
		}
	}
	return nil
}

func (w *World) eachIsValidationError() error {
	for _, a := range w.answers {
		if problem := validationError(a); problem != nil {
			return problem
		}
	}
	return nil
}

// validationError holds an answer to the form of HTTPValidationError (section 2), with at least one reason.
func validationError(a *client.Answer) error {
	detail := a.Get("detail")
	if !detail.IsArray() || len(detail.Array()) == 0 {
		return violated(a, "detail as an array with at least one reason", "%s", seen(a)).at("/detail")
	}
	for i, item := range detail.Array() {
		at := "/detail/" + strconv.Itoa(i)
		loc := item.Get("loc")
		if !loc.IsArray() {
			return violated(a, "loc as an array", "%s", shown(loc)).at(at + "/loc")
		}
		for _, part := range loc.Array() {
			if part.Type != gjson.String && (part.Type != gjson.Number || strings.ContainsAny(part.Raw, ".eE")) {
				return violated(a, "loc of texts and whole numbers", "%s", shown(loc)).at(at + "/loc")
			}
		}
		for _, field := range []string{"msg", "type"} {
			if value := item.Get(field); value.Type != gjson.String {
				return violated(a, "a text as "+field, "%s", shown(value)).at(at + "/" + field)
			}
		}
	}
	return nil
}

// names tells whether a refusal names a parameter: in a loc where there is one, else anywhere in the body. That a
// loc is missing is another requirement's concern.
func names(a *client.Answer, parameter string) bool {
	located := false
	for _, item := range a.Get("detail").Array() {
		loc := item.Get("loc")
		if !loc.IsArray() {
			continue
		}
		for _, part := range loc.Array() {
			located = true
			if part.String() == parameter {
				return true
			}
		}
	}
	return !located && strings.Contains(string(a.Body), parameter)
}

func (w *World) refusedNaming(parameter string) error { return w.refusedNamingAll(parameter) }

func (w *World) refusedNamingBoth(first, second string) error {
	return w.refusedNamingAll(first, second)
}

func (w *World) refusedNamingAll(parameters ...string) error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if a.Status != http.StatusUnprocessableEntity {
		return violated(a, "status 422", "%s", seen(a))
	}
	for _, p := range parameters {
		if !names(a, p) {
			return violated(a, "a refusal that names "+p, "%s", seen(a)).at("/detail")
		}
	}
	return nil
}

func (w *World) notFoundNaming() error {
	if err := w.notFound(); err != nil {
		return err
	}
	text := string(w.answer.Body)
	if detail := w.answer.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	if !strings.Contains(strings.ToLower(text), w.deployment.id) {
		return violated(w.answer, "a detail that names "+w.deployment.id, "%s", seen(w.answer)).at("/detail")
	}
	return nil
}

// noServerError makes a finding of each operation that was answered with a server error.
func (w *World) noServerError() error {
	_, failures := w.run.collector.ServerErrors(spec.Side(w.subject[0]))
	o := &outcome{verdict: reports.Failed}
	for _, f := range failures {
		v := violation{
			summary: fmt.Sprintf("%s answers with a server error", f.Operation), expected: "a status below 500",
			actual: fmt.Sprintf("status %d, %d times", f.Status, f.Count), operation: f.Operation, count: f.Count,
			key: strconv.Itoa(f.Status),
		}
		if f.Answer != nil {
			v.exchange = f.Answer.ID
			v.actual = seen(f.Answer)
		}
		o.violations = append(o.violations, v)
	}
	return o.orNil()
}

// contractIsKept makes a finding of each fault that the contract found in the answers of an operation.
func (w *World) contractIsKept(context.Context) error {
	o := &outcome{verdict: reports.Failed}
	for _, v := range w.run.collector.Violations(w.subject[0]) {
		o.violations = append(o.violations, violation{
			summary:  fmt.Sprintf("answers of %s with status %d break the contract (%s)", v.Operation, v.Status, v.Keyword),
			expected: v.Expected, actual: v.Actual, operation: v.Operation, pointer: v.Pointer,
			exchange: v.Exchange, count: v.Count, key: v.Key(),
		})
	}
	return o.orNil()
}

// orNil returns the outcome with its reason, or nothing where there was no violation.
func (o *outcome) orNil() error {
	if len(o.violations) == 0 {
		return nil
	}
	var reasons []string
	for _, v := range o.violations {
		reasons = append(reasons, v.summary)
	}
	slices.Sort(reasons)
	o.reason = strings.Join(slices.Compact(reasons), "; ")
	return o
}
