package judge

import (
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Join is a join of a run. While it is pending, it has neither a response nor an error.
type Join struct {
	Over       bool
	Unanswered bool // it is pending, or the request timed out
	Exchange   int  // ID of the exchange if the suite canceled the join, or 0
	Ended      time.Time
	Response   *exchange.Response
	Err        error // error of a request without a response
}

// JoinReturns judges that a join returns any status after the run has completed (section 4). since is the time since
// the start of the run.
func JoinReturns(j Join, r Run, since time.Duration) error {
	if j.Over {
		return j.Err
	}
	return unreturnedJoin(j, r.Created, outcome.Violation{
		Summary:  "The join of a run does not return after the run has completed",
		Expected: "a response once the run has completed",
		Actual:   fmt.Sprintf("no response %s after the start of the run", since.Round(time.Millisecond)),
	})
}

// unreturnedJoin returns the violation of a join that does not return. The evidence is the join if the suite canceled it, or else
// a.
func unreturnedJoin(j Join, a *exchange.Response, v outcome.Violation) error {
	v.Kind = outcome.NoResponse
	v.Hint = "raise timeouts.run and timeouts.request if the target needs longer"
	if j.Exchange == 0 {
		return outcome.Fails(a, v)
	}
	v.Exchange, v.Check = j.Exchange, outcome.Statuses("1XX", "2XX", "3XX", "4XX", "5XX")
	return outcome.Fails(nil, v)
}

// JoinIsServed judges that the join of a run of the user returns 2xx.
func JoinIsServed(a *exchange.Response) error {
	if err := AcceptsCredentials(a); err != nil {
		return err
	}
	if a.OK() {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     notServed(a),
		Summary:  fmt.Sprintf("The join of a run by its user returns %d", a.Status),
		Expected: "2xx",
	})
}

// JoinIsNotEarly judges that a join does not return before the run has ended. It allows for a clock that is a little
// off.
func JoinIsNotEarly(j Join, r Run) error {
	if !j.Over {
		return outcome.Inconclusive("the join did not return, so it cannot be judged whether it returns early")
	}
	took := j.Ended.Sub(r.Created.Sent)
	if took >= r.Hold*19/20 {
		return nil
	}
	return outcome.Fails(j.Response, outcome.Violation{
		Kind:     outcome.TooEarly,
		Summary:  "The join of a run returns before the run has ended",
		Expected: fmt.Sprintf("a response after %s, when the run ends", r.Hold),
		Actual:   fmt.Sprintf("a response after %s", took.Round(time.Millisecond)),
	})
}

// JoinIsNotHeldBack judges that a join of the run r does not wait for the next run, which was pending behind it. A join
// that returns within the limit after the earliest end of r has not waited. For a later join, end is the state that shows
// that the next run has completed. Because r ended before the next run began, the join was late by at least the time
// between the two.
func JoinIsNotHeldBack(j Join, r, next Run, end *exchange.Response, limit time.Duration) error {
	if j.Over && j.Ended.Sub(r.Created.Sent) <= r.Hold+limit {
		return nil
	}
	if !j.Over || end == nil || !next.CompleteIn(end) {
		return outcome.Inconclusive("the join or the run that is pending behind its run did not end in time")
	}
	late := j.Ended.Sub(end.Ended().Add(-next.Hold))
	if late <= limit {
		return nil
	}
	return outcome.Fails(j.Response, outcome.Violation{
		Kind:     outcome.NoResponse,
		Summary:  "The join of a run waits for a later run, which was pending behind it",
		Expected: fmt.Sprintf("a response within %s after the end of the run", limit),
		Actual:   fmt.Sprintf("a response %s after the end of the run, or later", late.Round(time.Millisecond)),
	})
}

// DroppedJoinKeepsRun judges that a run has completed although the client has dropped its join. state is the state after
// the end of the run.
func DroppedJoinKeepsRun(state *exchange.Response, r Run) error {
	if r.CompleteIn(state) {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.Missing,
		Summary:  "A run does not complete after the client has dropped its join",
		Expected: "the input and the ai message of the run",
		Pointer:  atMessages,
	})
}

// JoinIsPrompt judges that the join of a completed run returns 2xx within the limit.
func JoinIsPrompt(a *exchange.Response, limit time.Duration) error {
	if err := JoinIsServed(a); err != nil {
		return err
	}
	if a.Took <= limit {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.NoResponse,
		Summary:  "The join of a completed run does not return at once",
		Expected: "a response within " + limit.String(),
		Actual:   fmt.Sprintf("a response after %s", a.Took.Round(time.Millisecond)),
	})
}

// ForeignJoinDoesNotWait judges that a join of another user's run in progress is refused, or returns before the end of
// the run. It is inconclusive if the join was sent after the end.
func ForeignJoinDoesNotWait(a *exchange.Response, end time.Time, hold time.Duration) error {
	switch {
	case a.Status >= http.StatusBadRequest || a.Ended().Before(end):
		return nil
	case !a.Sent.Before(end):
		return outcome.Inconclusive("the target is too slow to judge whether the join waited for the run")
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.Accepted,
		Summary:  "The join of another user's run waits for the run",
		Expected: "400 or above, or a response before the run ends",
		Actual:   fmt.Sprintf("a response after %s, for a run of %s", a.Took.Round(time.Millisecond), hold),
	})
}
