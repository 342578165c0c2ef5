package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func retrieveRows() []judgetest.Row {
	unknown := func(status int, body string) error { return IsUnknown(judgetest.Response(status, body)) }
	created := func(status int, body string) error {
		return IsTheCreated(judgetest.Response(status, body), Created{ID: "d", Revision: "r", Source: "git_host"})
	}
	existing := func(body string) error { return IsTheCreated(judgetest.Response(200, body), Created{ID: "d"}) }
	both := func(second *exchange.Response) error {
		first := judgetest.Response(200, `{"id":"a"}`)
		return HaveIDs([]*exchange.Response{first, second}, []string{"a", "b"})
	}
	source := func(status int, body string) error { return HasSource(judgetest.Response(status, body), "git_host") }
	only := func(status int, ids ...string) error {
		return HoldsOnly(respond("GET", "/v2/deployments/d/revisions", status, `{}`), ids, "r")
	}
	complete := func(status string) error {
		return IsComplete(judgetest.Response(200, `{"id":"r","created_at":"c","updated_at":"u",`+status+
			`"source":"s","source_revision_config":{}}`))
	}
	commit := func(status int, config string) error {
		return HasCommit(judgetest.Response(status, `{"source_revision_config":{`+config+`}}`), "abc")
	}
	const commitPointer = "/source_revision_config/repo_commit_sha"
	return []judgetest.Row{
		{Name: "GET of an unknown deployment returns 404 with a detail", Got: unknown(404, `{"detail":"not found"}`)},
		{Name: "GET of an unknown deployment returns 400 with a detail", Got: unknown(400, `{"detail":"not found"}`),
			Kind: outcome.WrongStatus, Actual: "400"},
		{Name: "GET of an unknown deployment returns 200", Got: unknown(200, `{"detail":"x"}`), Kind: outcome.Accepted},
		{Name: "GET of an unknown deployment returns 404 without a detail", Got: unknown(404, `{}`),
			Kind: outcome.WrongDetail, Pointer: "/detail"},

		{Name: "the created deployment", Got: created(200, `{"id":"d","latest_revision_id":"r","source":"git_host"}`)},
		{Name: "the created deployment is refused", Got: created(403, `{"id":"d"}`), Kind: outcome.Refused},
		{Name: "the deployment shows another id", Got: created(200, `{"id":"x","latest_revision_id":"r","source":"git_host"}`),
			Kind: outcome.WrongValue, Pointer: "/id", Actual: `"x"`},
		{Name: "the deployment shows another revision",
			Got:  created(200, `{"id":"d","latest_revision_id":"x","source":"git_host"}`),
			Kind: outcome.WrongValue, Pointer: "/latest_revision_id", Actual: `"x"`},
		{Name: "the deployment has no source", Got: created(200, `{"id":"d","latest_revision_id":"r"}`),
			Kind: outcome.Missing, Pointer: "/source"},
		{Name: "an existing deployment has other revisions", Got: existing(`{"id":"d","latest_revision_id":"x"}`)},
		{Name: "an existing deployment shows another id", Got: existing(`{"id":"x"}`),
			Kind: outcome.WrongValue, Pointer: "/id"},

		{Name: "each of two deployments has its id", Got: both(judgetest.Response(200, `{"id":"b"}`))},
		{Name: "the second deployment has the id of the first", Got: both(judgetest.Response(200, `{"id":"a"}`)),
			Kind: outcome.WrongValue, Pointer: "/id", Actual: `"a"`},
		{Name: "the second deployment is not found", Got: both(judgetest.Response(404, `{"id":"b"}`)), Kind: outcome.Refused},

		{Name: "the source of the request", Got: source(200, `{"source":"git_host"}`)},
		{Name: "another source", Got: source(200, `{"source":"other"}`),
			Kind: outcome.WrongValue, Pointer: "/source", Actual: `"other"`},
		{Name: "no source", Got: source(200, `{}`), Kind: outcome.Missing, Pointer: "/source", Actual: "nothing"},
		{Name: "the source in a refusal", Got: source(404, `{"source":"git_host"}`), Kind: outcome.Refused},

		{Name: "the only revision", Got: only(200, "r")},
		{Name: "two revisions in place of one", Got: only(200, "x", "r"), Kind: outcome.ExtraItem, Pointer: "/resources"},
		{Name: "another revision than the only one", Got: only(200, "x"), Kind: outcome.MissingItem, Pointer: "/resources"},
		{Name: "no revision instead of one", Got: only(200), Kind: outcome.MissingItem, Pointer: "/resources"},
		{Name: "the list of the only revision is refused", Got: only(404, "r"),
			Kind: outcome.Refused, Pointer: "/resources"},

		{Name: "a complete revision", Got: complete(`"status":"QUEUED",`)},
		{Name: "a revision without a status", Got: complete(``), Kind: outcome.Missing, Pointer: "/status", Actual: "nothing"},
		{Name: "a revision with null as status", Got: complete(`"status":null,`),
			Kind: outcome.Missing, Pointer: "/status", Actual: "null"},

		{Name: "the commit of the ref", Got: commit(200, `"repo_commit_sha":"ABC"`)},
		{Name: "the commit of another ref", Got: commit(200, `"repo_commit_sha":"abcd"`),
			Kind: outcome.WrongValue, Pointer: commitPointer, Actual: `"abcd"`},
		{Name: "no commit before the revision is DEPLOYED", Got: HasCommit(judgetest.Response(200,
			`{"status":"BUILDING","source_revision_config":{"repo_commit_sha":null}}`), "abc"), Verdict: reports.Inconclusive},
		{Name: "no commit of a DEPLOYED revision", Got: HasCommit(judgetest.Response(200,
			`{"status":"DEPLOYED","source_revision_config":{"repo_commit_sha":null}}`), "abc"),
			Kind: outcome.WrongValue, Pointer: commitPointer, Actual: "null"},
		{Name: "no commit", Got: commit(200, ``), Kind: outcome.Missing, Pointer: commitPointer, Actual: "nothing"},
		{Name: "the commit in a refusal", Got: commit(404, `"repo_commit_sha":"abc"`), Kind: outcome.Refused},
	}
}

func configRows() []judgetest.Row {
	const refPointer = "/source_revision_config/repo_ref"
	sent := map[string]any{"repo_ref": "main", "graph_config_path": nil, "shared": true}
	config := func(status int, ref string) error {
		return HasConfig(judgetest.Response(status, `{"source_revision_config":{"repo_ref":`+ref+`,"image_uri":"x"}}`), sent)
	}
	deployment := func(latest, ref string) *exchange.Response {
		return judgetest.Response(200, `{"latest_revision_id":"`+latest+`","source_revision_config":{"repo_ref":"`+ref+`"}}`)
	}
	follows := func(all ...*exchange.Response) error { return ConfigFollowsLatest(all, "r2", sent) }
	kept := func(before, now string, paths ...string) error {
		was := respond("GET", "/v2/deployments/d/revisions/r", 200, `{"id":"r","source_revision_config":{`+before+`}}`)
		is := respond("GET", "/v2/deployments/d/revisions/r", 200, `{"id":"r","source_revision_config":{`+now+`}}`)
		if len(paths) == 0 {
			return ConfigUnchanged(is, was)
		}
		return FieldsKept(is, was, paths)
	}
	ref := SourceFields[0]
	other := judgetest.Response(200, `{"id":"x"}`)
	return []judgetest.Row{
		{Name: "the config of the request", Got: config(200, `"main"`)},
		{Name: "another ref than that of the request", Got: config(200, `"dev"`),
			Kind: outcome.WrongValue, Pointer: refPointer, Actual: `"dev"`},
		{Name: "the config of the request in a refusal", Got: config(404, `"main"`), Kind: outcome.Refused},
		{Name: "no ref", Got: HasConfig(judgetest.Response(200, `{}`), sent), Kind: outcome.Missing, Pointer: refPointer},
		{Name: "a request without a config", Got: HasConfig(judgetest.Response(200, `{}`), map[string]any{"repo_ref": nil}),
			Verdict: reports.Inconclusive},

		{Name: "the config follows the latest revision", Got: follows(deployment("r1", "old"), deployment("r2", "main"))},
		{Name: "the config does not follow the latest revision", Got: follows(deployment("r2", "main"), deployment("r2", "old")),
			Kind: outcome.WrongValue, Pointer: refPointer, Actual: `"old"`},
		{Name: "the new revision is never the latest", Got: follows(deployment("r1", "main")), Verdict: reports.Inconclusive},

		{Name: "the first revision keeps its config", Got: kept(`"repo_ref":"main"`, `"repo_ref":"main"`)},
		{Name: "the first revision gets a commit", Got: kept(`"repo_ref":"main","repo_commit_sha":""`,
			`"repo_ref":"main","repo_commit_sha":"abc"`)},
		{Name: "the first revision gets another commit", Got: kept(`"repo_commit_sha":"a"`, `"repo_commit_sha":"b"`),
			Kind: outcome.Changed, Pointer: "/source_revision_config/repo_commit_sha", Actual: `"b"`},
		{Name: "the first revision is another one", Got: ConfigUnchanged(other, judgetest.Response(200, `{"id":"r"}`)),
			Verdict: reports.Blocked},

		{Name: "a field is kept", Got: kept(`"repo_ref":"1"`, `"repo_ref":"1"`, ref)},
		{Name: "a field gets another type", Got: kept(`"repo_ref":"1"`, `"repo_ref":1`, ref),
			Kind: outcome.Changed, Pointer: refPointer, Actual: "1"},
		{Name: "a field gets another value", Got: kept(`"repo_ref":"1"`, `"repo_ref":"2"`, ref),
			Kind: outcome.Changed, Pointer: refPointer, Actual: `"2"`},
		{Name: "a field is removed", Got: kept(`"repo_ref":"1"`, ``, ref),
			Kind: outcome.Changed, Pointer: refPointer, Actual: "nothing"},
		{Name: "a field without a value gets one", Got: kept(`"repo_ref":""`, `"repo_ref":"2"`, ref),
			Verdict: reports.Inconclusive},
	}
}

func timeRows() []judgetest.Row {
	revision := func(status int, body string) *exchange.Response { return judgetest.Response(status, body) }
	at := func(created string) *exchange.Response {
		return revision(200, `{"status":"QUEUED","created_at":"2026-01-01T00:00:`+created+`Z"}`)
	}
	same := func(all ...Reread) error { return CreatedAtUnchanged(all) }
	order := func(created, updated string) error {
		a := judgetest.Response(200, `{"created_at":"`+created+`","updated_at":"`+updated+`"}`)
		return UpdatedAfterCreated([]*exchange.Response{judgetest.Response(200,
			`{"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`), a})
	}
	return []judgetest.Row{
		{Name: "created_at is the same", Got: same(Reread{at("00.1"), at("00.123")})},
		{Name: "created_at changes", Got: same(Reread{nil, at("05")}, Reread{at("00"), at("01")}),
			Kind: outcome.Changed, Pointer: "/created_at", Actual: `"2026-01-01T00:00:01Z"`},
		{Name: "created_at of a revision that was never polled", Got: same(Reread{nil, at("00")}),
			Verdict: reports.Inconclusive},
		{Name: "created_at is absent", Got: same(Reread{at("00"), revision(200, `{}`)}), Verdict: reports.Inconclusive},
		{Name: "created_at of a revision that is not found", Got: same(Reread{at("00"), revision(404, `{}`)}),
			Verdict: reports.Blocked},

		{Name: "updated_at is created_at", Got: order("2026-01-01T00:00:01Z", "2026-01-01T01:00:01+01:00")},
		{Name: "updated_at is the same second without its fraction", Got: order("2026-01-01T00:00:01.5Z", "2026-01-01T00:00:01Z")},
		{Name: "updated_at is later", Got: order("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z")},
		{Name: "updated_at is earlier", Got: order("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z"),
			Kind: outcome.WrongValue, Pointer: "/updated_at", Actual: `"2026-01-01T00:00:00Z"`},
		{Name: "updated_at is not a time", Got: order("2026-01-01T00:00:00Z", "now"), Verdict: reports.Inconclusive},
		{Name: "created_at is not a time", Got: order("", "2026-01-01T00:00:00Z"), Verdict: reports.Inconclusive},
	}
}
