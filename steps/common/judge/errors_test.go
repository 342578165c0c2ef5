package judge

import (
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func TestJudgements(t *testing.T) {
	judgetest.Run(t, "testdata/messages.golden", detailRows(), refusalRows(), serverErrorRows())
}

func detailRows() []judgetest.Row {
	response := func(body string) *exchange.Response { return judgetest.Response(422, body) }
	item := func(loc, msg, kind string) *exchange.Response {
		return response(`{"detail":[{"loc":["query","x"],"msg":"m","type":"t"},{"loc":` + loc + `,"msg":` + msg + `,"type":` + kind + `}]}`)
	}
	return []judgetest.Row{
		{Name: "an error with a detail", Got: HasAnyDetail(response(`{"detail":null}`))},
		{Name: "an error without a detail", Got: HasAnyDetail(response(`{}`)), Kind: outcome.Missing, Pointer: "/detail"},
		{Name: "an error that is not an object", Got: HasAnyDetail(response(`[]`))},

		{Name: "a string detail", Got: HasDetail(response(`{"detail":"no"}`))},
		{Name: "a detail that is a list", Got: HasDetail(response(`{"detail":["no"]}`)), Kind: outcome.WrongDetail, Pointer: "/detail"},

		{Name: "two errors in a detail", Got: ValidationError(item(`["query",2]`, `"m"`, `"t"`))},
		{Name: "a validation error without a detail", Got: ValidationError(response(`{}`))},
		{Name: "2.0 in loc", Got: ValidationError(item(`[2.0]`, `"m"`, `"t"`))},
		{Name: "2.5 in loc", Got: ValidationError(item(`[2.5]`, `"m"`, `"t"`)), Kind: outcome.WrongForm, Pointer: "/detail/1/loc", Actual: "2.5"},
		{Name: "null in loc", Got: ValidationError(item(`[null]`, `"m"`, `"t"`)), Kind: outcome.WrongForm, Pointer: "/detail/1/loc"},
		{Name: "a loc that is a string", Got: ValidationError(item(`"query"`, `"m"`, `"t"`)), Kind: outcome.WrongForm, Pointer: "/detail/1/loc"},
		{Name: "a msg that is a number", Got: ValidationError(item(`[]`, `1`, `"t"`)), Kind: outcome.WrongForm, Pointer: "/detail/1/msg", Actual: "1"},
		{Name: "a type that is null", Got: ValidationError(item(`[]`, `"m"`, `null`)), Kind: outcome.WrongForm, Pointer: "/detail/1/type"},
		{Name: "a boolean in loc", Got: ValidationError(item(`[true]`, `"m"`, `"t"`)), Kind: outcome.WrongForm, Pointer: "/detail/1/loc"},
		{Name: "an error without msg", Got: ValidationError(response(`{"detail":[{"loc":[],"type":"t"}]}`)), Kind: outcome.WrongForm, Pointer: "/detail/0/msg"},
		{Name: "an empty list of errors", Got: ValidationError(response(`{"detail":[]}`)), Kind: outcome.WrongForm, Pointer: "/detail"},
		{Name: "a detail that is text", Got: ValidationError(response(`{"detail":"no"}`)), Kind: outcome.WrongForm, Pointer: "/detail", Actual: "no"},
	}
}

func refusalRows() []judgetest.Row {
	refused := func(status int) error { return IsRefused(judgetest.Response(status, `{}`), "limit=2.5") }
	const charset = "application/json; charset=utf-8"
	withCharset := func(status, without int) error {
		return AcceptsContentType(judgetest.Response(status, `{}`), judgetest.Response(without, `{}`), charset)
	}
	return []judgetest.Row{
		{Name: "a charset is accepted", Got: AcceptsContentType(judgetest.Response(200, `{}`), nil, charset)},
		{Name: "a charset returns 415", Got: withCharset(415, 200), Kind: outcome.WrongStatus, Actual: "415"},
		{Name: "a charset returns 500", Got: withCharset(500, 201), Kind: outcome.ServerError, Actual: "500"},
		{Name: "a request is refused with and without a charset", Got: withCharset(415, 409), Verdict: reports.Skipped},

		{Name: "a request is refused with 400", Got: refused(400)},
		{Name: "a request is refused with 499", Got: refused(499)},
		{Name: "a request is served", Got: refused(200), Kind: outcome.Accepted, Actual: "200"},
		{Name: "a request is redirected", Got: refused(307), Kind: outcome.WrongStatus, Actual: "307"},
		{Name: "a request crashes the server", Got: refused(500), Kind: outcome.ServerError, Actual: "500"},
	}
}

func serverErrorRows() []judgetest.Row {
	one := func(status int, optional bool) Operation {
		return Operation{Response: judgetest.Response(status, `{}`), Name: "get-run", Request: "GET /threads/{thread_id}/runs/{run_id}", Optional: optional}
	}
	return []judgetest.Row{
		{Name: "no server error", Got: NoServerError([]Operation{one(200, false), one(499, false)})},
		{Name: "an optional operation returns 501", Got: NoServerError([]Operation{one(501, true)})},
		{Name: "an operation returns 500 twice", Got: NoServerError([]Operation{one(500, false), one(500, true)}),
			Verdict: reports.Failed, Kind: outcome.ServerError, Class: "500", Actual: "500"},
		{Name: "the server ends between requests", Got: SurvivesRequests("exit status 1", nil)},
		{Name: "the server ends with a request", Got: SurvivesRequests("exit status 1", []Operation{one(0, false)}),
			Kind: outcome.ServerError, Class: "ended", Actual: "exit status 1"},
		{Name: "an operation returns 501", Got: NoServerError([]Operation{one(501, false)}), Kind: outcome.ServerError, Class: "501"},
	}
}
