package common

import (
	"context"
	"slices"

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
