// Package common holds what the sentences of both halves share: which definitions godog is given for a scenario, what
// every scenario carries, and the sentences that judge all answers of a run at its end.
package common

import (
	"context"
	"math"
	"slices"

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
	Remark   string             // on a scenario that passes: something tolerated
	// Served judges whether the request that was just tried is served: that is for the half to say to which it went.
	Served func(ctx context.Context) error

	undo []func()
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
	if s.Remark != "" {
		remark = s.Remark + "; " + remark
	}
	s.Remark = remark
}

// Refused wants the last answer to be a refusal.
func (s *Scene) Refused() error { return outcome.Want(s.Answer.Refused(), s.Answer, "status 4xx") }

// Each holds each of several things to the same, until one is an error.
func Each[T any](all []T, holds func(T) error) error {
	for _, one := range all {
		if err := holds(one); err != nil {
			return err
		}
	}
	return nil
}

// Times acts so many times, until one is an error.
func Times(n int, act func() error) error {
	for range n {
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// IsInteger tells whether a value is an integer of JSON: 2, 2.0 and 2e0 are the same number.
func IsInteger(v gjson.Result) bool {
	return v.Type == gjson.Number && v.Num == math.Trunc(v.Num)
}

// HasDetail holds an answer to a string as its detail.
func HasDetail(a *client.Answer) error {
	return outcome.Want(a.Get("detail").Type == gjson.String, a, "JSON with a string detail", "/detail")
}
