package judge

import (
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func runRows() []judgetest.Row {
	has := func(status int, body string) error { return HoldsID(judgetest.Response(status, body), "run_id", "") }
	accepted := func(took time.Duration) error {
		r := run("one")
		r.Created = at(200, `{}`, 0, took)
		return RunIsAcceptedInTime(r, start.Add(10*time.Second))
	}
	differ := func(second string) error {
		r := run("one")
		r.ID, r.Created = second, judgetest.Response(200, `{"run_id":"`+second+`"}`)
		return RunsDiffer(run("one"), r)
	}
	const runID = "0a1b2c3d-4e5f-4000-8000-00000000abcd"
	inBraces := func(status int, body string) error {
		return IsRunOrError(judgetest.Response(status, body), "the id in braces", runID)
	}
	isRun := func(status int, body string) error { return IsRun(judgetest.Response(status, body), run("one")) }
	shown := run("one")
	shown.ID = shownID
	return []judgetest.Row{
		{Name: "valid credentials", Got: AcceptsCredentials(judgetest.Response(404, `{}`))},
		{Name: "valid credentials are refused with 401", Got: AcceptsCredentials(judgetest.Response(401, `{}`)), Verdict: reports.Blocked},
		{Name: "valid credentials are refused with 403", Got: AcceptsCredentials(judgetest.Response(403, `{}`)), Verdict: reports.Blocked},

		{Name: "a creation with an id", Got: has(200, `{"run_id":"r1"}`)},
		{Name: "a creation without an id", Got: has(200, `{"run_id":""}`), Kind: outcome.Missing, Pointer: "/run_id"},
		{Name: "a refused creation with an id", Got: has(404, `{"run_id":"r1"}`), Kind: outcome.Refused},
		{Name: "a creation that fails with 499", Got: has(499, `{}`), Kind: outcome.Refused},
		{Name: "a creation that fails with 500", Got: has(500, `{}`), Kind: outcome.ServerError},
		{Name: "a creation that is redirected", Got: has(302, `{}`), Kind: outcome.WrongStatus},
		{Name: "a run with an id", Got: RunIsAccepted(judgetest.Response(200, `{}`), "r1")},
		{Name: "a run without an id", Got: RunIsAccepted(judgetest.Response(200, `{}`), ""), Kind: outcome.Missing, Pointer: "/run_id"},

		{Name: "another run has another id", Got: differ("r2")},
		{Name: "another run has the id of the earlier one", Got: differ("r1"), Kind: outcome.WrongValue, Pointer: "/run_id"},

		{Name: "a run that is accepted in time", Got: accepted(9 * time.Second)},
		{Name: "a run that is accepted at its end", Got: accepted(10 * time.Second),
			Kind: outcome.NoResponse, Actual: "a response after 10s, for a run of 10s"},

		{Name: "the run is returned", Got: isRun(200, `{"run_id":"r1"}`)},
		{Name: "the run is returned with its id in capitals",
			Got: IsRun(judgetest.Response(200, `{"run_id":"`+inCapitals+`"}`), shown)},
		{Name: "a run id in braces is refused", Got: inBraces(404, `{}`)},
		{Name: "a run id in braces is that of the run", Got: inBraces(200, `{"run_id":"`+runID+`"}`)},
		{Name: "a run id in braces is shown in braces", Got: inBraces(200, `{"run_id":"{`+runID+`}"}`)},
		{Name: "a run id in braces returns another run", Got: inBraces(200, `{"run_id":"1a1b2c3d-4e5f-4000-8000-00000000abcd"}`),
			Kind: outcome.WrongValue, Pointer: "/run_id"},
		{Name: "a run id in braces returns nothing", Got: inBraces(200, `{}`), Kind: outcome.Accepted, Pointer: "/run_id"},
		{Name: "another run is returned", Got: isRun(200, `{"run_id":"r2"}`), Kind: outcome.WrongValue, Pointer: "/run_id"},
		{Name: "a run is returned without its id", Got: isRun(200, `{}`), Kind: outcome.Missing, Pointer: "/run_id"},
		{Name: "the run is not found", Got: isRun(404, `{"run_id":"r1"}`), Kind: outcome.Refused, Pointer: "/run_id"},
		{Name: "the run is refused to its owner", Got: isRun(401, `{}`), Verdict: reports.Blocked},

		{Name: "a wrong id is refused", Got: IsError(judgetest.Response(400, `{}`), "a wrong id")},
		{Name: "a wrong id is served", Got: IsError(judgetest.Response(399, `{}`), "a wrong id"),
			Kind: outcome.Accepted, Class: "a wrong id"},
		{Name: "an unknown run is served", Got: IsError(judgetest.Response(200, `{}`), ""), Kind: outcome.Accepted, Actual: "200"},
	}
}

func joinRows() []judgetest.Row {
	one := run("one")
	noResponse := &exchange.NoResponse{Cause: "no response within 10s", Timeout: true}
	answered := func(j Join) error { return JoinReturns(j, one, 3*time.Second) }
	served := func(status int) error { return JoinIsServed(judgetest.Response(status, `{}`)) }
	early := func(ended time.Duration) error {
		return JoinIsNotEarly(Join{Over: true, Ended: start.Add(ended), Response: judgetest.Response(200, `{}`)}, one)
	}
	prompt := func(status int, took time.Duration) error {
		return JoinIsPrompt(at(status, `{}`, 0, took), time.Second)
	}
	short := one // ends after one second
	short.Hold = time.Second
	heldBack := func(ended time.Duration, shown ...messages.Message) error { // the later run is over after twelve seconds
		end := stateOf(shown...)
		end.Sent, end.Took = start.Add(12*time.Second), 0
		join := Join{Over: true, Ended: start.Add(ended), Response: judgetest.Response(200, `{}`)}
		return JoinIsNotHeldBack(join, short, one, end, time.Second)
	}
	foreign := func(status int, sent, took time.Duration) error {
		return ForeignJoinDoesNotWait(at(status, `{}`, sent, took), start.Add(10*time.Second), 10*time.Second)
	}
	return []judgetest.Row{
		{Name: "the join returns", Got: answered(Join{Over: true})},
		{Name: "the join does not return", Got: answered(Join{Unanswered: true}), Kind: outcome.NoResponse, Actual: "no response 3s after"},
		{Name: "the join is served", Got: served(204)},
		{Name: "the join is refused", Got: served(404), Kind: outcome.Refused},
		{Name: "the server refuses the join of the user", Got: served(403), Verdict: reports.Blocked},

		{Name: "the join returns at the end of the run", Got: early(9500 * time.Millisecond)},
		{Name: "the join returns before the end of the run", Got: early(9499 * time.Millisecond),
			Kind: outcome.TooEarly, Actual: "a response after 9.499s"},
		{Name: "the join that could be early does not return", Got: JoinIsNotEarly(Join{}, one), Verdict: reports.Inconclusive},

		{Name: "the join returns before a later run can have completed", Got: heldBack(2*time.Second, human("one"))},
		{Name: "the join returns before a later run has completed", Got: heldBack(3*time.Second, human("one"), ai("one"))},
		{Name: "the join returns with a later run", Got: heldBack(3001*time.Millisecond, human("one"), ai("one")),
			Kind: outcome.NoResponse, Actual: "a response 1.001s after"},
		{Name: "the later run has not completed", Got: heldBack(3*time.Second, human("one")),
			Verdict: reports.Inconclusive},

		{Name: "the run completes after its join was dropped", Got: DroppedJoinKeepsRun(stateOf(human("one"), ai("one")), one)},
		{Name: "the run does not complete after its join was dropped", Got: DroppedJoinKeepsRun(stateOf(human("one")), one),
			Kind: outcome.Missing, Pointer: atMessages},

		{Name: "the join of a completed run returns at once", Got: prompt(200, time.Second)},
		{Name: "the join of a completed run returns late", Got: prompt(200, time.Second+time.Millisecond),
			Kind: outcome.NoResponse, Actual: "a response after 1.001s"},
		{Name: "the join of a completed run is refused", Got: prompt(500, 0), Kind: outcome.ServerError},

		{Name: "the foreign join is refused after the run", Got: foreign(400, 0, 20*time.Second)},
		{Name: "the foreign join returns before the end", Got: foreign(200, 0, 9*time.Second)},
		{Name: "the foreign join waits", Got: foreign(399, 0, 10*time.Second),
			Kind: outcome.Accepted, Actual: "a response after 10s"},
		{Name: "the foreign join was sent late", Got: foreign(200, 10*time.Second, time.Second), Verdict: reports.Inconclusive},

		{Name: "a join without a response", Got: isNoResponse(answered(Join{Over: true, Unanswered: true, Err: noResponse}), noResponse)},
	}
}

// isNoResponse returns nil if an error is about a request without a response, because the suite judges such requests
// elsewhere.
func isNoResponse(err error, want *exchange.NoResponse) error {
	if err == error(want) {
		return nil
	}
	return outcome.SuiteError("the error of the join was lost: %v", err)
}
