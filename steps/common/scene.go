// Package common holds what the sentences of both halves share: which definitions godog is given for a scenario, what every scenario carries, and the sentences that judge all answers of a run at its end.
package common

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Scene is what every scenario carries, whatever it is about. Each scenario has its own.
type Scene struct {
	Scenario *features.Scenario // nil until it is known which one it is
	Answer   *client.Answer     // the last one, of whichever half
	Stopped  bool               // the run was stopped, and only what it has recorded is judged

	remark string
	undo   []func()
	served func(ctx context.Context) error
}

// AtEnd has f called when the scenario ends, whatever its verdict.
func (s *Scene) AtEnd(f func()) { s.undo = append(s.undo, f) }

// End calls what was to be done at the end, the last first.
func (s *Scene) End() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
}

// Note adds a remark to a scenario that passes: something tolerated.
func (s *Scene) Note(remark string) {
	if s.remark != "" {
		remark = s.remark + "; " + remark
	}
	s.remark = remark
}

// Remark is what was noted.
func (s *Scene) Remark() string { return s.remark }

// Last returns the last answer. That there is none is a mistake in the feature.
func (s *Scene) Last() (*client.Answer, error) {
	if s.Answer == nil {
		return nil, outcome.SuiteError("the scenario judges an answer without a request")
	}
	return s.Answer, nil
}

// Refused wants the last answer to be a refusal.
func (s *Scene) Refused() error {
	a, err := s.Last()
	if err != nil {
		return err
	}
	if !a.Refused() {
		return outcome.Violated(a, "status 4xx", "%s", outcome.Seen(a))
	}
	return nil
}

// JudgeServed says how to judge whether the request that was just tried is served: that is for the half to say to which
// it went.
func (s *Scene) JudgeServed(judge func(ctx context.Context) error) { s.served = judge }

// isServed judges whether the request that was tried is served.
func (s *Scene) isServed(ctx context.Context) error {
	if s.served == nil {
		return outcome.SuiteError("the scenario judges a request that it has not tried")
	}
	return s.served(ctx)
}

// IsInteger tells whether a value is an integer of JSON: 2, 2.0 and 2e0 are the same number.
func IsInteger(v gjson.Result) bool {
	return v.Type == gjson.Number && v.Num == math.Trunc(v.Num)
}

// Names tells whether a refusal names a parameter: in a loc where there is one, else anywhere in the body. That a
// loc is missing is another requirement's concern.
func Names(a *client.Answer, parameter string) bool {
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

// RefusedNaming holds an answer to a refusal with 422 whose errors name the parameters (sections 4, 7 and 8).
func RefusedNaming(a *client.Answer, parameters ...string) error {
	if a.Status != http.StatusUnprocessableEntity {
		return outcome.Violated(a, "status 422", "%s", outcome.Seen(a))
	}
	for _, p := range parameters {
		if !Names(a, p) {
			return outcome.Violated(a, "an error that names "+p, "%s", outcome.Seen(a)).At("/detail")
		}
	}
	return nil
}

// DetailContains holds a refusal to a detail that contains an id (section 7).
func DetailContains(a *client.Answer, id string) error {
	text := string(a.Body)
	if detail := a.Get("detail"); detail.Type == gjson.String {
		text = detail.Str
	}
	if !strings.Contains(strings.ToLower(text), id) {
		return outcome.Violated(a, "a detail that names "+id, "%s", outcome.Seen(a)).At("/detail")
	}
	return nil
}
