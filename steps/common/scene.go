// Package common has the code that the step definitions of both halves share: their registration ([Definitions]), the
// state of every scenario ([Scene]), and the steps about all responses of a test run ([DefineAllResponses]). Start with
// [Scene].
//
// Each scenario registers only the definitions that match its steps. Registering all of them would cost a tenth more time
// and 100 MB of garbage.
package common

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Scene is the state that every scenario has. Scenarios do not share it.
type Scene struct {
	Scenario *features.Scenario // nil until it is known
	Response *exchange.Response // the last response, of either half
	Cases    []Case             // the requests of the last act, if it sent one for each of several cases
	Stopped  bool               // only the record is judged: the test run was stopped, or others recorded it
	Without  *exchange.Response // the response to the same request, but without a parameter in its Content-Type; or nil
	Remark   string             // a deviation that a passed scenario tolerated
	// Served judges whether the last request of the act was served. The half to which it was sent sets it.
	Served func(ctx context.Context) error

	undo []func()
}

// AtEnd registers a function that is called when the scenario ends, whatever its verdict.
func (s *Scene) AtEnd(f func()) { s.undo = append(s.undo, f) }

// End calls the functions that AtEnd registered, the last one first.
func (s *Scene) End() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
}

// Note adds a remark about something that the scenario tolerated.
func (s *Scene) Note(remark string) {
	if s.Remark != "" {
		remark = s.Remark + "; " + remark
	}
	s.Remark = remark
}

// Case is one of several requests of an act, with its response.
type Case struct {
	Response *exchange.Response // nil before it was sent
	What     string             // the name of the case in messages; "" if it is the only one
	ID       string             // the ID in the request
}

// EachCase judges the request of each case. If the act had no cases, it judges the last request.
func (s *Scene) EachCase(judge func(Case) error) error {
	if len(s.Cases) == 0 {
		return outcome.FirstOf([]Case{{Response: s.Response}}, judge)
	}
	return outcome.FirstOf(s.Cases, judge)
}

// Refused judges that each request of the last act was refused with 4xx.
func (s *Scene) Refused() error {
	return s.EachCase(func(c Case) error { return judge.IsRefused(c.Response, c.What) })
}

// Each judges several values and returns the first error.
func Each[T any](all []T, judge func(T) error) error {
	for _, one := range all {
		if err := judge(one); err != nil {
			return err
		}
	}
	return nil
}

// NilID is the nil UUID as a case. Servers use it for an absent id.
var NilID = Case{ID: uuid.Nil.String(), What: "the nil UUID"}

// NearIDs returns cases with UUIDs that are similar to an ID but belong to no object of its kind. They detect servers
// that compare only a part of an ID, or that find objects of any kind by an ID. One UUID differs in the middle. Another
// differs in its last digit, unless IDs may be counted there. The third is the ID of an object of the other kind. If an
// ID is not a UUID, there is no case for it, because a similar ID may exist.
func NearIDs(id, other, kind string) []Case {
	var all []Case
	u, err := uuid.Parse(id)
	if err == nil {
		middle, end := u, u
		middle[7] ^= 0x15
		all = append(all, Case{ID: middle.String(), What: "the id with another digit"})
		end[len(end)-1] ^= 0x08
		if !isCounted(u) {
			all = append(all, Case{ID: end.String(), What: "the id with another last digit"})
		}
	}
	if uuid.Validate(other) == nil && !exchange.SameID(id, other) {
		all = append(all, Case{ID: other, What: "the id of the " + kind})
	}
	return all
}

// isCounted reports whether the end of a UUID looks like a small number. No version of RFC 9562 produces such an end, so
// the server may count its IDs, and the neighbor of an ID may exist.
func isCounted(u uuid.UUID) bool { return u[10] == 0 && u[11] == 0 && u[12] == 0 }
