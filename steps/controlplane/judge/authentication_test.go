package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func accessRows() []judgetest.Row {
	refuses := func(status int) error { return RefusesCredentials(judgetest.Response(status, `{}`), "empty") }
	empty := func(status int) error {
		return RefusesCredentialsOfEmpty(respond("POST", "/v2/deployments", status, `{}`), "")
	}
	opens := func(status int, all *exchange.Response) error {
		return OpensWithScheme(judgetest.Response(status, `{}`), all)
	}
	asUnknown := func(status int, body string, unknown int) error {
		return IsAsForUnknown(numbered(1, status, body), numbered(2, unknown, `{}`), "r-1")
	}
	hides := func(name, body string) error { return HidesName(numbered(1, 404, body), name) }
	shows := func(status int, body string) error {
		return ShowNothing([]*exchange.Response{judgetest.Response(401, `{}`), judgetest.Response(status, body)})
	}
	lists := func(status int, body string) error { return HidesDeployment(numbered(1, status, body), "d-2") }
	return []judgetest.Row{
		{Name: "a list has only other deployments", Got: lists(200, `{"resources":[{"id":"d-1"}]}`)},
		{Name: "a list is refused", Got: lists(403, `{"resources":[{"id":"d-2"}]}`)},
		{Name: "a list has the deployment of another tenant", Got: lists(200, `{"resources":[{"id":"d-1"},{"id":"d-2"}]}`),
			Kind: outcome.Leak, Pointer: "/resources/1/id"},
		{Name: "a refusal does not name the deployment", Got: hides("own-1", `{"detail":"not found"}`)},
		{Name: "the deployment has no name", Got: hides("", `{"detail":"not found"}`)},
		{Name: "a refusal names the deployment", Got: hides("own-1", `{"detail":"own-1 is not yours"}`), Kind: outcome.Leak},
		{Name: "wrong credentials are refused with 401", Got: refuses(401)},
		{Name: "wrong credentials are refused with 403", Got: refuses(403)},
		{Name: "wrong credentials are refused with 404", Got: refuses(404),
			Kind: outcome.WrongStatus, Class: "empty", Actual: "404"},
		{Name: "wrong credentials are accepted", Got: refuses(200), Kind: outcome.Accepted, Class: "empty"},
		{Name: "wrong credentials crash the server", Got: refuses(500), Kind: outcome.ServerError, Class: "empty"},

		{Name: "the empty object is refused with 401", Got: empty(401)},
		{Name: "the empty object is refused with 422", Got: empty(422), Verdict: reports.Skipped},
		{Name: "the empty object is accepted", Got: empty(201), Kind: outcome.Accepted, Actual: "201"},
		{Name: "the empty object crashes the server", Got: empty(500), Kind: outcome.ServerError},

		{Name: "a scheme opens", Got: opens(200, nil)},
		{Name: "a scheme does not open", Got: opens(401, nil), Kind: outcome.Refused, Actual: "401"},
		{Name: "a scheme fails and all credentials open", Got: opens(404, judgetest.Response(200, `{}`)),
			Kind: outcome.Refused, Actual: "404"},
		{Name: "a scheme fails and all credentials fail", Got: opens(404, judgetest.Response(404, `{}`)),
			Verdict: reports.Inconclusive},

		{Name: "a deployment is as unknown as another", Got: asUnknown(404, `{"detail":"r-1"}`, 404)},
		{Name: "an unknown deployment may be served", Got: asUnknown(200, `{"resources":[]}`, 200)},
		{Name: "a deployment has another refusal", Got: asUnknown(403, `{}`, 404),
			Kind: outcome.WrongStatus, Actual: "403"},
		{Name: "a deployment of another tenant is shown", Got: asUnknown(200, `{"latest_revision_id":"r-1"}`, 404),
			Kind: outcome.Leak, Actual: "200"},
		{Name: "a deployment of another tenant is shown to all", Got: asUnknown(200, `{"latest_revision_id":"r-1"}`, 200),
			Kind: outcome.Leak, Actual: "200"},

		{Name: "no response shows the deployment", Got: shows(200, `{"detail":"latest_revision_id"}`)},
		{Name: "an empty list shows nothing", Got: shows(200, `{"resources":[]}`)},
		{Name: "a refusal repeats members", Got: shows(404, `{"latest_revision_id":"r"}`)},
		{Name: "a response shows the latest revision", Got: shows(200, `{"latest_revision_id":"r"}`),
			Kind: outcome.Leak, Pointer: "/latest_revision_id", Actual: "200"},
		{Name: "a response shows a listed revision", Got: shows(200, `{"resources":[{}]}`),
			Kind: outcome.Leak, Pointer: "/resources/0", Actual: "200"},
		{Name: "a response shows a config", Got: shows(200, `{"source_revision_config":{}}`),
			Kind: outcome.Leak, Pointer: "/source_revision_config"},
	}
}
