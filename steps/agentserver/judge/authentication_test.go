package judge

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func refusalRows() []judgetest.Row {
	rejects := func(status int) bool { return status == 401 }
	served := func(status int, refusesOnly bool) error {
		return IsServed(judgetest.Response(status, `{}`), refusesOnly, rejects)
	}
	refuses := func(status int, statuses ...int) error {
		return RefusesCaller(judgetest.Response(status, `{}`), "a caller with an unknown token", "invalid", statuses, "")
	}
	detail := func(body string) error {
		return RefusalHasDetail(judgetest.Response(401, body), []string{"Who are you?", "Go away."})
	}
	return []judgetest.Row{
		{Name: "the user is served", Got: served(200, true)},
		{Name: "the user is refused", Got: served(401, true), Kind: outcome.Refused},
		{Name: "the request of the user fails", Got: served(500, true), Verdict: reports.Blocked},
		{Name: "the request of another caller fails", Got: served(500, false), Kind: outcome.ServerError},

		{Name: "an unknown token is refused with the status", Got: refuses(403, 401, 403)},
		{Name: "an unknown token is refused with any status", Got: refuses(404)},
		{Name: "an unknown token is refused with another status", Got: refuses(404, 401, 403),
			Kind: outcome.WrongStatus, Class: "invalid", Actual: "404"},
		{Name: "an unknown token is served", Got: refuses(200, 401), Kind: outcome.Accepted, Class: "invalid"},
		{Name: "an unknown token is served, if no status is known", Got: refuses(399), Kind: outcome.Accepted, Class: "invalid"},
		{Name: "an unknown token crashes the server", Got: refuses(500), Kind: outcome.ServerError, Class: "invalid"},
		{Name: "an unknown token has status 499", Got: refuses(499, 401), Kind: outcome.WrongStatus, Class: "invalid"},
		{Name: "an unknown token has status 400", Got: refuses(400, 401), Kind: outcome.WrongStatus, Class: "invalid"},

		{Name: "the refusal has the detail", Got: detail(`{"detail":"Go away."}`)},
		{Name: "the refusal has the detail elsewhere", Got: detail(`{"error":"Who are you?"}`)},
		{Name: "the refusal has the detail in a list", Got: detail(`{"detail":["Go away."]}`)},
		{Name: "the refusal has no detail", Got: detail(`{"detail":"x"}`), Kind: outcome.WrongDetail},
		{Name: "the refusal has the detail within another one", Got: detail(`{"detail":"Sorry. Go away."}`),
			Kind: outcome.WrongDetail, Pointer: "/detail", Actual: "Sorry. Go away."},
	}
}

// known returns a user with the known fields, given as pairs of name and value.
func known(name string, pairs ...any) User {
	u := User{Name: name, Known: map[string]any{}}
	for i := 0; i < len(pairs); i += 2 {
		u.Known[pairs[i].(string)] = pairs[i+1]
	}
	return u
}

func reportRows() []judgetest.Row {
	fields := func(said string, others ...string) error {
		return ReportsFields(Report{State: stateOf(), Said: said}, map[string]any{"identity": "ada", "role": "author"}, others...)
	}
	reported := func(own, other User, said ...string) error {
		var all []Report
		for _, text := range said {
			all = append(all, Report{State: stateOf(), Said: text, Of: own, Other: other})
		}
		return ReportOwnCallers(all...)
	}
	ada, bob := known("Ada", "identity", "ada", "level", 3, "team", "abc"), known("Bob", "identity", "bob", "level", 4, "team", "abc")
	leak := func(name, class, actual string, got error) judgetest.Row {
		return judgetest.Row{Name: name, Got: got, Kind: outcome.Leak, Class: class, Pointer: atMessages, Actual: actual}
	}
	south := known("South", "identity", "ada", "team", "xyz")
	nobody := known("Ada")
	secret := known("Bob", "email", "bob@example.com", "level", 4, "short", "abc")
	studio := func(said string) error { return ReportsNoOwner(Report{State: stateOf(), Said: said, Other: ada}) }
	return []judgetest.Row{
		{Name: "a studio user's run reports another user", Got: studio(`{"identity":"studio"}`)},
		{Name: "a studio user's run reports no user", Got: studio("null")},
		{Name: "a studio user's run reports the owner of the thread", Got: studio(`{"identity":"ada"}`),
			Kind: outcome.WrongValue, Class: "studio user", Pointer: atMessages, Actual: `identity "ada" of Ada`},
		{Name: "a studio user's run has no answer", Got: studio(""), Verdict: reports.Inconclusive},

		{Name: "the run reports its caller", Got: fields(`{"identity":"ada","role":"author"}`)},
		{Name: "the run reports the identity of another user", Got: fields(`{"identity":"bob","role":"author"}`, "bob"),
			Kind: outcome.Leak, Class: "identity", Pointer: atMessages, Actual: `identity "bob"`},
		{Name: "the run reports no role", Got: fields(`{"identity":"ada"}`),
			Kind: outcome.WrongValue, Class: "role", Pointer: atMessages, Actual: "an answer without role"},
		{Name: "the run reports another identity", Got: fields(`{"identity":"bob","role":"author"}`),
			Kind: outcome.WrongValue, Class: "identity", Pointer: atMessages, Actual: `identity "bob"`},
		{Name: "the run lacks a field", Got: fields(`{"identity":"ada"}`), Kind: outcome.WrongValue, Class: "role", Pointer: atMessages},

		{Name: "each run reports its caller", Got: reported(ada, bob, `{"identity":"ada","level":3,"team":"abc"}`)},
		{Name: "one of two runs reports its caller", Got: reported(ada, bob, `{"identity":"ada"}`, "hello")},
		{Name: "no run reports its caller", Got: reported(ada, bob, "hello", "you"), Verdict: reports.Blocked},
		{Name: "only a field is reported", Got: reported(ada, bob, `{"level":3}`), Verdict: reports.Blocked},
		{Name: "a field is reported, and no identity is known",
			Got: reported(known("Ada", "level", 3), known("Bob", "level", 4), `{"level":3}`)},
		{Name: "a field is reported, and both users have the same identity", Got: reported(ada, south, `{"identity":"ada","team":"abc"}`)},
		leak("a run reports the team of another user with the same identity", "team", `team "xyz" of South`,
			reported(ada, south, `{"identity":"ada","team":"xyz"}`)),
		leak("a run reports another identity than its own", "identity", `identity "bob" of Bob`, reported(ada, bob, `{"identity":"bob"}`)),
		leak("a run reports a number of another user", "level", "level 4 of Bob", reported(ada, bob, `{"identity":"ada","level":4}`)),
		{Name: "a number of another user in a text", Got: reported(ada, bob, "You are ada, one of 4")},
		leak("the second run reports another user", "identity", "Bob", reported(ada, bob, `{"identity":"ada"}`, `{"identity":"bob"}`)),
		leak("a run reports a long text of another user", "email", "bob@example.com", reported(nobody, secret, "I know bob@example.com")),
		{Name: "a run reports a short text of another user", Got: reported(nobody, secret, "I know abc"), Verdict: reports.Blocked},
	}
}

func TestUsersDiffer(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b User
		want bool
	}{
		{"nothing is known", known("a"), known("b"), false},
		{"equal fields", known("a", "role", "author"), known("b", "role", "author"), false},
		{"other identities", known("a", "identity", "x"), known("b", "identity", "y"), true},
		{"one identity", known("a"), known("b", "identity", "y"), true},
		{"the first identity only", known("a", "identity", "y"), known("b"), true},
		{"another field of both", known("a", "level", 1), known("b", "level", 2), true},
		{"a number of one", known("a"), known("b", "level", 2), false},
		{"a short text of one", known("a"), known("b", "role", "12345678901"), false},
		{"a long text of one", known("a"), known("b", "role", "123456789012"), true},
		{"null of one", known("a", "role", 1), known("b", "role", nil), false},
	} {
		assert.Equal(t, c.want, UsersDiffer(c.a, c.b), c.name)
	}
}

func disguiseRows() []judgetest.Row {
	nothing := judgetest.Response(404, `{"thread_id":"t1"}`)
	show := func(body string) error {
		d := Disguised{Response: judgetest.Response(200, body), Plain: nothing, Owner: "AS-AUTH-1"}
		return DisguisesShowNothing([]Disguised{{Response: nothing, Plain: nothing}, d}, "t1", run("one"))
	}
	anonymous := func(path string, header http.Header) error {
		a := judgetest.Response(200, `{"run_id":"r1"}`)
		a.Request.Path, a.Request.Header, a.Request.Caller = path, header, exchange.Caller{Invalid: true}
		return DisguisesShowNothing([]Disguised{{Response: a, Plain: nothing}}, "t1", run("one"))
	}
	inCapitals := func(member string) error {
		r := run("one")
		r.ID = shownID
		d := Disguised{Response: judgetest.Response(200, `{"`+member+`":"`+inCapitals+`"}`), Plain: nothing, Owner: "AS-AUTH-1"}
		return DisguisesShowNothing([]Disguised{d}, shownID, r)
	}
	both := func(plain *exchange.Response) error {
		d := Disguised{Response: judgetest.Response(200, `{"run_id":"r1"}`), Plain: plain, Owner: "AS-AUTH-1"}
		return DisguisesShowNothing([]Disguised{d}, "t1", run("one"))
	}
	return []judgetest.Row{
		{Name: "nothing of the run is shown", Got: show(`[{"thread_id":"t2","detail":"t1 r1"}]`)},
		{Name: "the thread is shown", Got: show(`{"thread_id":"t1"}`), Kind: outcome.Leak},
		{Name: "the thread is listed to a stranger", Got: show(`[{"thread_id":"t2"},{"thread_id":"t1"}]`), Kind: outcome.Leak},
		{Name: "the run is shown", Got: show(`{"run_id":"r1"}`), Kind: outcome.Leak},
		{Name: "the state is shown without credentials, with a slash at its end", Got: anonymous("/threads/"+shownID+"/state/", nil),
			Kind: outcome.Leak},
		{Name: "the run is shown without credentials, to two headers",
			Got: anonymous("/threads/t1/runs/r1", http.Header{"X-User": {"a"}, "Accept": {"b"}, "X-Original-Url": {"c"}}), Kind: outcome.Leak},
		{Name: "the thread is shown in capitals", Got: inCapitals("thread_id"), Kind: outcome.Leak},
		{Name: "the run is shown in capitals", Got: inCapitals("run_id"), Kind: outcome.Leak},
		{Name: "the text of the run is shown", Got: show(`{"x":["number one"]}`), Kind: outcome.Leak},
		{Name: "the run is shown without the disguise", Got: both(judgetest.Response(200, `{"run_id":"r1"}`)), Verdict: reports.Blocked},
		{Name: "the run is not shown without the disguise", Got: both(nothing), Kind: outcome.Leak},
	}
}
