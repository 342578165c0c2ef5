package outcome

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestJudge checks the verdict and the cause for the errors of steps, under each keyword. The cause is the requirement in
// the error, or else the innermost fixture, or else the step.
func TestJudge(t *testing.T) {
	const given, when, then = true, false, false
	live := context.Background()
	ended, end := context.WithCancelCause(live)
	end(errors.New("interrupted"))
	broken := Fails(nil, Violation{Expected: "a", Actual: "b"})
	nested := OfFixture("the agent server", fmt.Errorf("fixture: x: %w", OfFixture("a deployment", broken)))
	ofRequirement := OfFixture("a run", Fails(nil, Violation{Expected: "a", Actual: "b"}).ByRequirement("AS-A-1"))
	target := exchange.Request{Base: "http://t"}
	silent := &exchange.NoResponse{Request: target, Cause: "no response within 1s", Timeout: true}
	by := func(kind reports.BlockerKind, name string) []reports.Blocker {
		return []reports.Blocker{{Kind: kind, Name: name}}
	}
	for name, c := range map[string]struct {
		ctx     context.Context
		given   bool
		err     error
		verdict reports.Verdict
		reason  string
		by      []reports.Blocker
	}{
		"a violation under Then": {live, then, broken, reports.Failed, "expected a, got b", nil},
		"a violation under When": {live, when, broken, reports.Failed, "expected a, got b", nil},
		"a violation under Given": {live, given, broken, reports.Blocked, "expected a, got b",
			by(reports.ByPrecondition, "the step")},
		"a wrapped violation under Given": {live, given, fmt.Errorf("fixture: x: %w", broken), reports.Blocked,
			"fixture: x: expected a, got b", by(reports.ByPrecondition, "the step")},
		"a fixture of a fixture": {live, given, nested, reports.Blocked, "", by(reports.ByFixture, "a deployment")},
		"a fixture elsewhere": {live, then, AsPrecondition(nested), reports.Blocked, "",
			by(reports.ByFixture, "a deployment")},
		"a requirement": {live, given, Blocked("x").ByRequirement("CP-A-1"), reports.Blocked, "x",
			by(reports.ByRequirement, "CP-A-1")},
		"a requirement in a fixture": {live, given, ofRequirement, reports.Blocked, "", by(reports.ByRequirement, "AS-A-1")},
		"not configured":             {live, given, Needs("key"), reports.Skipped, "set key", nil},
		"nothing observed": {live, then, Inconclusive("x"), reports.Inconclusive, "x",
			by(reports.ByObservation, "the step")},
		"silence under When":  {live, when, silent, reports.Failed, "no response within 1s", nil},
		"silence under Given": {live, given, silent, reports.Blocked, "no response", by(reports.ByPrecondition, "the step")},
		"a closed connection under When": {live, when, &exchange.NoResponse{Cause: "closed", Closed: true}, reports.Failed,
			"closed", nil},
		"a target that cannot be reached": {live, when, &exchange.NoResponse{Request: target, Cause: "cannot connect"}, reports.Inconclusive,
			"cannot connect", by(reports.ByTarget, "http://t")},
		"a target that is busy": {live, given, &exchange.NoResponse{Request: target, Cause: "status 429", Busy: 429}, reports.Blocked,
			"status 429", by(reports.ByTarget, "http://t")},
		"the test run has ended": {ended, when, context.Cause(ended), reports.Inconclusive, "not finished: interrupted",
			by(reports.ByRun, "ended")},
		"an error of the suite": {live, then, errors.New("nil map"), reports.Inconclusive, "the suite itself failed here",
			by(reports.BySuite, "error")},
		"an error of the suite under Given": {live, given, errors.New("nil map"), reports.Inconclusive,
			"the suite itself failed here", by(reports.BySuite, "error")},
	} {
		o := Judge(c.ctx, c.given, "the step", c.err)
		assert.Equal(t, c.verdict, o.Verdict, name)
		assert.Contains(t, o.Reason, c.reason, name)
		assert.Equal(t, c.by, o.BlockedBy, name)
	}
	join := &exchange.NoResponse{Request: exchange.Request{Waits: true}, Timeout: true}
	for none, hint := range map[*exchange.NoResponse]string{silent: "raise timeouts.request", join: "raise timeouts.run", {Closed: true}: ""} {
		assert.Contains(t, Judge(live, when, "the step", none).Violations[0].Hint, hint)
	}
	titled := Judge(live, when, "the step", Titled("The join of a completed run gets no response", silent))
	assert.Equal(t, "The join of a completed run gets no response", titled.Violations[0].Summary)
	assert.NoError(t, Titled("a title", nil))
	assert.Nil(t, Judge(live, then, "the step", nil))
	assert.Empty(t, broken.BlockedBy, "an outcome that scenarios share is not changed")
}

// TestFirstOf checks that the first error has the count and the exchanges of all errors.
func TestFirstOf(t *testing.T) {
	judge := func(id int) error {
		if id == 1 {
			return nil
		}
		return Fails(&exchange.Response{ID: id}, Violation{Expected: "a", Actual: "b"})
	}
	assert.NoError(t, FirstOf([]int{1}, judge))
	for name, c := range map[string]struct{ all, shows []int }{
		"one of two": {[]int{1, 5}, []int{5}},
		"three":      {[]int{1, 2, 3, 1, 4}, []int{2, 3, 4}},
	} {
		o, is := errors.AsType[*Outcome](FirstOf(c.all, judge))
		assert.True(t, is, name)
		assert.Equal(t, len(c.shows), o.Violations[0].Count, name)
		assert.Equal(t, c.shows, o.Violations[0].Shows(), name)
	}
}
