package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func createRows() []judgetest.Row {
	const id = "01234567-89ab-cdef-0123-456789ABCDEF"
	creates := func(status int) error { return IsCreated(respond("POST", "/v2/deployments", status, `{}`)) }
	ids := func(first, latest string) error {
		return HasUUIDs(judgetest.Response(200, `{"id":`+first+`,"latest_revision_id":`+latest+`}`))
	}
	refuses := func(status int, body string) error {
		return RefusesInvalid(respond("POST", "/v2/deployments", status, body), "wrong type")
	}
	nothing := func(before, now bool, found ...string) error {
		return CreatesNothing(respond("POST", "/v2/deployments", 422, `{}`), found, before, now)
	}
	return []judgetest.Row{
		{Name: "a creation returns 200", Got: creates(200)},
		{Name: "a creation returns 201", Got: creates(201)},
		{Name: "a creation returns 202", Got: creates(202)},
		{Name: "a creation returns 204", Got: creates(204), Kind: outcome.WrongStatus, Actual: "204"},
		{Name: "a creation is refused", Got: creates(422), Kind: outcome.Refused},
		{Name: "a creation crashes the server", Got: creates(503), Kind: outcome.ServerError},

		{Name: "both ids are UUIDs", Got: ids(`"`+id+`"`, `"`+id+`"`)},
		{Name: "an id without hyphens", Got: ids(`"0123456789abcdef0123456789abcdef"`, `"`+id+`"`),
			Kind: outcome.WrongForm, Pointer: "/id"},
		{Name: "an id with another letter", Got: ids(`"0123456g-89ab-cdef-0123-456789abcdef"`, `"`+id+`"`),
			Kind: outcome.WrongForm, Pointer: "/id"},
		{Name: "an id with a line break", Got: ids(`"`+id+`\n"`, `"`+id+`"`), Kind: outcome.WrongForm, Pointer: "/id"},
		{Name: "an array with a UUID as latest_revision_id", Got: ids(`"`+id+`"`, `["`+id+`"]`),
			Kind: outcome.WrongForm, Pointer: "/latest_revision_id"},
		{Name: "no latest_revision_id", Got: HasUUIDs(judgetest.Response(200, `{"id":"`+id+`"}`)),
			Kind: outcome.Missing, Pointer: "/latest_revision_id", Actual: "nothing"},

		{Name: "a mistake is refused with 422", Got: refuses(422, `{"detail":[{"loc":["body"],"msg":"m","type":"t"}]}`)},
		{Name: "a mistake is refused with another status", Got: refuses(400, `no`)},
		{Name: "a mistake is refused with 422 and a text", Got: refuses(422, `{"detail":"m"}`),
			Kind: outcome.WrongForm, Pointer: "/detail"},
		{Name: "a mistake is accepted", Got: refuses(201, `{}`),
			Kind: outcome.Accepted, Class: "wrong type", Actual: "201"},
		{Name: "a mistake crashes the server", Got: refuses(500, `{}`), Kind: outcome.ServerError, Class: "wrong type"},
		{Name: "a mistake without a class is accepted", Got: RefusesInvalid(judgetest.Response(200, `{}`), ""),
			Kind: outcome.Accepted},

		{Name: "a refused creation created nothing", Got: nothing(true, true)},
		{Name: "nobody knows what a refused creation created", Got: nothing(false, false)},
		{Name: "a refused creation created two deployments", Got: nothing(true, true, "a", "b"),
			Kind: outcome.Changed, Actual: "deployment a, b"},
		{Name: "the list of deployments fails after a refusal", Got: nothing(true, false), Verdict: reports.Inconclusive},
	}
}

func readOnlyRows() []judgetest.Row {
	sent := []byte(`{"id":"1","latest_revision_id":"2","created_at":"3","updated_at":"4","status":"SKIPPED",
		"source_revision_config":{"repo_commit_sha":"5"}}`)
	ignores := func(second string) error {
		deployment := respond("GET", "/v2/deployments/d", 200, second)
		return IgnoresReadOnly(sent, judgetest.Response(200, `{"id":"d"}`), deployment)
	}
	tagged := func(status int, ref, push string) TagDeployment {
		now := judgetest.Response(200, `{"source_revision_config":{`+ref+`},"source_config":{`+push+`}}`)
		return TagDeployment{Act: judgetest.Response(status, ``), Now: now, Tag: "refs/tags/v1", Sent: true}
	}
	const tag, other, pushes = `"repo_ref":"refs/tags/v1"`, `"repo_ref":"refs/tags/v2"`, `"build_on_push":true`
	const pointer = "/source_config/build_on_push"
	notSent := tagged(201, tag, ``)
	notSent.Sent = false
	noLonger := tagged(201, tag, ``)
	noLonger.WasTrue = true
	notFound := tagged(201, tag, ``)
	notFound.Now = judgetest.Response(404, `{}`)
	return []judgetest.Row{
		{Name: "read-only fields are ignored", Got: ignores(`{"id":"r","status":"QUEUED"}`)},
		{Name: "read-only fields are absent", Got: ignores(`{}`)},
		{Name: "a read-only id is set", Got: ignores(`{"id":"1"}`), Kind: outcome.WrongValue, Pointer: "/id", Actual: `"1"`},

		{Name: "a tag does not build on push", Got: NeverBuildsTagOnPush(tagged(201, tag, `"build_on_push":false`))},
		{Name: "a tag builds on push", Got: NeverBuildsTagOnPush(tagged(201, tag, pushes)),
			Kind: outcome.WrongValue, Pointer: pointer, Actual: `build_on_push true, with repo_ref "refs/tags/v1"`},
		{Name: "a short tag builds on push", Got: NeverBuildsTagOnPush(tagged(422, `"repo_ref":"v1"`, pushes)),
			Kind: outcome.WrongValue, Pointer: pointer},
		{Name: "another ref builds on push", Got: NeverBuildsTagOnPush(tagged(201, other, pushes))},
		{Name: "no ref is shown", Got: NeverBuildsTagOnPush(tagged(201, ``, pushes)), Verdict: reports.Inconclusive},
		{Name: "no build_on_push is shown", Got: NeverBuildsTagOnPush(tagged(201, tag, ``)), Verdict: reports.Inconclusive},
		{Name: "no build_on_push is shown that nobody sent", Got: NeverBuildsTagOnPush(notSent)},
		{Name: "no build_on_push is shown by a server that showed true", Got: NeverBuildsTagOnPush(noLonger)},
		{Name: "no ref is shown after a refusal", Got: NeverBuildsTagOnPush(tagged(422, ``, pushes))},
		{Name: "the deployment from a tag is not found", Got: NeverBuildsTagOnPush(notFound), Verdict: reports.Inconclusive},
	}
}
