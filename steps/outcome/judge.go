package outcome

import (
	"context"
	"errors"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Judge returns the outcome for the error of a step, or nil. Under Given a violation becomes blocked, because another
// requirement owns that behavior and fails in its own scenarios. If a blocked or inconclusive outcome has no cause, its
// cause is the fixture or else the step.
func Judge(ctx context.Context, given bool, step string, err error) *Outcome {
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
		o.By(reports.ByPrecondition, step)
	case o.Verdict == reports.Inconclusive:
		o.By(reports.ByObservation, step)
	}
	return o
}

// classify returns the outcome in an error. For any other error it returns an outcome that depends on the cause: an
// address that is not allowed, no response, the end of the test run, or an error of the suite.
func classify(ctx context.Context, err error) *Outcome {
	o, is := errors.AsType[*Outcome](err)
	if is {
		copied := *o // scenarios may share it
		return &copied
	}
	refused, is := errors.AsType[*exchange.RefusedAddress](err)
	if is {
		blocked := Blocked("%v: %s", err, refused.Remedy)
		if refused.Key == "" {
			return blocked
		}
		return blocked.By(reports.ByKey, refused.Key)
	}
	none, is := errors.AsType[*exchange.NoResponse](err)
	switch {
	case is && (none.Timeout || none.Closed):
		title := none.Request.Name() + " gets no response"
		if titled, has := errors.AsType[*titledError](err); has {
			title = titled.title
		}
		v := Violation{Kind: NoResponse, Summary: title, Expected: "a response",
			Actual: none.Cause, Exchange: none.ID,
			Check: Statuses("1XX", "2XX", "3XX", "4XX", "5XX"), Operation: none.Request.Method + " " + none.Request.Path}
		if none.Timeout {
			v.Hint = none.Longer()
		}
		return Fails(nil, v)
	case is:
		return Inconclusive("%s", none.Error()).By(reports.ByTarget, none.Request.Base)
	case ctx.Err() != nil:
		return Inconclusive("not finished: %v", context.Cause(ctx)).By(reports.ByRun, "ended")
	}
	return SuiteError("%v", err)
}

// AsBlocked returns a blocked outcome for a violation that the step does not judge. The violation is kept if it names
// the requirement that owns it. Other errors are returned unchanged.
func AsBlocked(err error) error {
	o, is := errors.AsType[*Outcome](err)
	if !is || o.Verdict != reports.Failed {
		return err
	}
	// err.Error includes the context of the violation, such as the fixture.
	blocked := &Outcome{Verdict: reports.Blocked, Reason: err.Error(), BlockedBy: o.BlockedBy}
	if o.IsBy(reports.ByRequirement) {
		blocked.Violations = o.Violations
	}
	return OfFixture(fixtureOf(err), blocked)
}

// AsPrecondition returns the outcome that Judge would return for the error under Given. Steps under When and Then use it
// for requests that only prepare the judgement.
func AsPrecondition(err error) error {
	none, is := errors.AsType[*exchange.NoResponse](err)
	switch {
	case is && none.Busy != 0:
		return Blocked("%s", none).By(reports.ByTarget, none.Request.Base)
	case is && (none.Timeout || none.Closed):
		return OfFixture(fixtureOf(err), Blocked("%s", err))
	}
	return AsBlocked(err)
}

// Unless returns a violation, unless one of the causes explains it. Then it returns an outcome that is blocked by that
// cause, so that one fault fails only the requirement that owns it.
func Unless(ctx context.Context, violation error, causes ...func(context.Context) error) error {
	if violation == nil {
		return nil
	}
	for _, cause := range causes {
		if err := cause(ctx); err != nil {
			return AsPrecondition(err)
		}
	}
	return violation
}

// titledError is an error with the title of the violation that it becomes if it is a missing response.
type titledError struct {
	title string
	err   error
}

func (e *titledError) Error() string { return e.err.Error() }
func (e *titledError) Unwrap() error { return e.err }

// Titled returns the error with the title of the violation that it becomes if it is a missing response. The name of the
// request does not say in which state the object was.
func Titled(title string, err error) error {
	if err == nil {
		return nil
	}
	return &titledError{title, err}
}

// fixtureError is an error with the name of the fixture in which it occurred.
type fixtureError struct {
	name string
	err  error
}

func (e *fixtureError) Error() string { return e.err.Error() }
func (e *fixtureError) Unwrap() error { return e.err }

// fixtureOf returns the name of the fixture in which an error occurred, or "". If fixtures are made from others, it
// returns the innermost one.
func fixtureOf(err error) string {
	name := ""
	f, is := errors.AsType[*fixtureError](err)
	for is {
		name = f.name
		f, is = errors.AsType[*fixtureError](f.err)
	}
	return name
}

// OfFixture returns the error with the name of the fixture in which it occurred. An empty name means no fixture.
func OfFixture(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return &fixtureError{name, err}
}
