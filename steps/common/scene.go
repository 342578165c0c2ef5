// Package common holds what the sentences of both halves share: which definitions godog is given for a scenario, what
// every scenario carries, and the sentences that judge all answers of a run at its end.
package common

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Scene is what every scenario carries, whatever it is about. Each scenario has its own.
type Scene struct {
	Scenario *features.Scenario // nil until it is known which one it is
	Answer   *exchange.Response // the last one, of whichever half
	Cases    []Case             // the requests of the last act, where it had one for each case
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

// Case is one of several requests, and how it was answered.
type Case struct {
	Answer *exchange.Response // nil until it was sent
	What   string             // the case, for people; "" where there is no other
	ID     string             // that is asked for
}

// EachCase judges the request of each case, or the last one where the act had no cases.
func (s *Scene) EachCase(judge func(Case) error) error {
	if len(s.Cases) == 0 {
		return outcome.FirstOf([]Case{{Answer: s.Answer}}, judge)
	}
	return outcome.FirstOf(s.Cases, judge)
}

// Refused wants each request of the last act to be refused.
func (s *Scene) Refused() error {
	return s.EachCase(func(c Case) error { return judge.IsRefused(c.Answer, c.What) })
}

// Each holds each of several things to the same, until one is an error.
func Each[T any](all []T, holds func(T) error) error {
	for _, one := range all {
		if err := holds(one); err != nil {
			return err
		}
	}
	return nil
}

// NearIDs are requests by UUIDs that are like an id, and that nothing has in its place: what is looked up by less than
// the whole id, or among all ids, is seen. One differs in its middle, since ids that are counted up may differ at the
// end; the other is of something of another kind. An id that is no UUID gives none: what looks like it may exist.
func NearIDs(id, other, kind string) (all []Case) {
	if u, err := uuid.Parse(id); err == nil {
		u[7] ^= 0x15
		all = append(all, Case{ID: u.String(), What: "the id with another digit"})
	}
	if uuid.Validate(other) == nil && !strings.EqualFold(id, other) {
		all = append(all, Case{ID: other, What: "the id of the " + kind})
	}
	return all
}
