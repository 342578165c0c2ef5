package outcome

import (
	"context"
	"errors"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Judge turns what a step returned into an outcome, by the kind of sentence it stands under: what goes wrong under
// Given is blocked, since the requirement that owns that behaviour fails by itself. The sentence is what blocks, or
// what has shown nothing, where the step names no other cause.
func Judge(ctx context.Context, given bool, sentence string, err error) *Outcome {
	if err == nil {
		return nil
	}
	if given {
		err = AsPrecondition(err)
	}
	o := classify(ctx, err)
	if len(o.BlockedBy) > 0 {
		return o
	}
	fixture := fixtureOf(err)
	switch {
	case o.Verdict == reports.Blocked && fixture != "":
		o.By(reports.ByFixture, fixture)
	case o.Verdict == reports.Blocked:
		o.By(reports.ByPrecondition, sentence)
	case o.Verdict == reports.Inconclusive:
		o.By(reports.ByObservation, sentence)
	}
	return o
}

// classify gives an outcome to the errors that are none: no answer, an ended run, a mistake of the suite itself.
func classify(ctx context.Context, err error) *Outcome {
	var o *Outcome
	var none *exchange.NoResponse
	var refused *exchange.RefusedAddress
	switch {
	case errors.As(err, &o):
		same := *o // it may be shared by scenarios
		return &same
	case errors.As(err, &refused):
		return Blocked("%v", err).By(reports.ByKey, refused.Key)
	case errors.As(err, &none) && (none.Timeout || none.Closed):
		return Fails(nil, Violation{Kind: NoResponse, Summary: "The server does not respond", Expected: "a response",
			Actual: none.Cause, Exchange: none.ID, Operation: none.Request.Method + " " + none.Request.Path})
	case errors.As(err, &none):
		return Inconclusive("%s", none.Error()).By(reports.ByTarget, none.Request.Base)
	case ctx.Err() != nil:
		return Inconclusive("not finished: %v", context.Cause(ctx)).By(reports.ByRun, "ended")
	}
	return SuiteError("%v", err)
}

// AsBlocked says of a violation that a step came upon that it is not what the step is to judge: it blocks what needs
// the opposite, and stays where a requirement owns it.
func AsBlocked(err error) error {
	var o *Outcome
	if !errors.As(err, &o) || o.Verdict != reports.Failed {
		return err
	}
	blocked := &Outcome{Verdict: reports.Blocked, Reason: err.Error(), BlockedBy: o.BlockedBy} // with what was being done
	if o.IsBy(reports.ByRequirement) {
		blocked.Violations = o.Violations
	}
	return OfFixture(fixtureOf(err), blocked)
}

// AsPrecondition gives what went wrong while a precondition was brought about outside of its sentence the verdict
// that it would have had there.
func AsPrecondition(err error) error {
	none, is := errors.AsType[*exchange.NoResponse](err)
	switch {
	case is && none.Busy != 0:
		return Blocked("%s", none).By(reports.ByTarget, none.Request.Base)
	case is && (none.Timeout || none.Closed):
		return OfFixture(fixtureOf(err), Blocked("%s", err)) // with what was being done
	}
	return AsBlocked(err)
}

// Unless blocks what looks wrong where its cause is another requirement's: one fault fails once, in the
// requirement that names it.
func Unless(ctx context.Context, wrong error, causes ...func(context.Context) error) error {
	if wrong == nil {
		return nil
	}
	for _, cause := range causes {
		if err := cause(ctx); err != nil {
			return AsPrecondition(err)
		}
	}
	return wrong
}

// fixtureError is what went wrong with something that scenarios share.
type fixtureError struct {
	name string
	err  error
}

func (e *fixtureError) Error() string { return e.err.Error() }
func (e *fixtureError) Unwrap() error { return e.err }

// fixtureOf names the fixture in which an error came up: the innermost, where fixtures are made from others.
func fixtureOf(err error) (name string) {
	for f := (*fixtureError)(nil); errors.As(err, &f); err = f.err {
		name = f.name
	}
	return name
}

// OfFixture says with which fixture the error came up; the name is empty where it was none.
func OfFixture(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return &fixtureError{name, err}
}
