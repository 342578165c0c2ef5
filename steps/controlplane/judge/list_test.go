package judge

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func listRows() []judgetest.Row {
	const (
		named   = `{"detail":[{"loc":["query","limit"],"msg":"too large","type":"less_than_equal"}]}`
		other   = `{"detail":[{"loc":["query","offset"],"msg":"limit is too large","type":"less_than_equal"}]}`
		noLoc   = `{"detail":[{"msg":"limit is too large"}]}`
		two     = `{"resources":[{"id":"a"},{"id":"b"}],"offset":2}`
		neither = `{"detail":[{"msg":"too large"}]}`
	)
	refuses := func(status int, body string, names ...string) error {
		return RefusesParameter(judgetest.Response(status, body), "limit=101", "out of range", names...)
	}
	oneOf := func(status int, body string) error {
		return RefusesOneOf(judgetest.Response(status, body), "limit=101&offset=-1", "out of range", "limit", "offset")
	}
	form := func(body string) error { return HasListForm(judgetest.Response(200, body)) }
	count := func(want int, known ...string) error { return HasCount(judgetest.Response(200, two), want, known) }
	empty := func(body string) error { return IsEmpty(judgetest.Response(200, body), []string{"a", "b"}) }
	return []judgetest.Row{
		{Name: "limit=101 is refused, and loc names it", Got: refuses(422, named, "limit")},
		{Name: "limit=101 is refused, and a text names it", Got: refuses(422, noLoc, "limit")},
		{Name: "limit=101 is refused without a detail", Got: refuses(422, `{}`, "limit")},
		{Name: "limit=101 is accepted", Got: refuses(200, two, "limit"),
			Kind: outcome.Accepted, Class: "out of range", Actual: "200"},
		{Name: "an id that is not a UUID is accepted",
			Got:  RefusesParameter(judgetest.Response(200, two), "an id that is not a UUID", "not a UUID", "deployment_id"),
			Kind: outcome.Accepted, Class: "not a UUID", Actual: "200"},
		{Name: "limit=101 is refused with 400", Got: refuses(400, named, "limit"),
			Kind: outcome.WrongStatus, Class: "out of range", Actual: "400"},
		{Name: "limit=101 crashes the server", Got: refuses(500, `{}`, "limit"),
			Kind: outcome.ServerError, Class: "out of range", Actual: "500"},
		{Name: "the loc of limit=101 names another parameter", Got: refuses(422, other, "limit"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "422"},
		{Name: "no text names limit", Got: refuses(422, neither, "limit"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "422"},
		{Name: "one of two invalid parameters is not named", Got: refuses(422, named, "limit", "offset"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "422"},
		{Name: "only the second of two invalid parameters is named", Got: oneOf(422, other)},
		{Name: "neither of two invalid parameters is named", Got: oneOf(422, neither),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "422"},
		{Name: "two invalid parameters are refused with 400", Got: oneOf(400, named),
			Kind: outcome.WrongStatus, Class: "out of range", Actual: "400"},

		{Name: "a list with resources and offset", Got: form(two)},
		{Name: "an empty list with an offset", Got: form(`{"resources":[],"offset":0}`)},
		{Name: "a list without resources", Got: form(`{"offset":0}`), Kind: outcome.Missing, Pointer: "/resources"},
		{Name: "a list with null as resources", Got: form(`{"resources":null,"offset":0}`),
			Kind: outcome.WrongForm, Pointer: "/resources", Actual: "null"},
		{Name: "a list without an offset", Got: form(`{"resources":[]}`), Kind: outcome.Missing, Pointer: "/offset"},
		{Name: "a list with a fraction as offset", Got: form(`{"resources":[],"offset":0.5}`),
			Kind: outcome.WrongForm, Pointer: "/offset", Actual: "0.5"},
		{Name: "a list with a string as offset", Got: form(`{"resources":[],"offset":"0"}`),
			Kind: outcome.WrongForm, Pointer: "/offset", Actual: `"0"`},

		{Name: "two of two revisions", Got: count(2, "a", "b")},
		{Name: "two of three revisions", Got: count(3, "a", "b", "c"), Kind: outcome.MissingItem, Pointer: "/resources", Actual: "2 revisions; missing: c"},
		{Name: "two revisions with limit=1", Got: count(1, "a", "b"), Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "2"},

		{Name: "an empty list", Got: empty(`{"resources":[]}`)},
		{Name: "a list that must be empty has two revisions", Got: empty(two),
			Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "2"},
		{Name: "a list that must be empty has no resources", Got: empty(`{}`), Verdict: reports.Inconclusive},
	}
}

func orderRows() []judgetest.Row {
	ordered := func(body string) error {
		a := judgetest.Response(200, `{"resources":[`+body+`]}`)
		return IsNewestFirst(a, a.Get("resources").Array(), []string{"0", "1", "2"})
	}
	at := func(id, second string) string {
		return `{"id":"` + id + `","created_at":"2026-01-01T00:00:` + second + `Z"}`
	}
	wrong := func(name, body string) judgetest.Row {
		return judgetest.Row{Name: name, Got: ordered(body), Kind: outcome.WrongOrder, Pointer: "/resources"}
	}
	sources := func(body string) error {
		a := judgetest.Response(200, body)
		return HasSources(a, a.Get("resources").Array(), "git_host")
	}
	return []judgetest.Row{
		{Name: "newest first", Got: ordered(at("1", "01") + "," + at("0", "00"))},
		wrong("oldest first", at("0", "00")+","+at("1", "01")),
		{Name: "oldest first in one second", Got: ordered(at("0", "00") + "," + at("1", "00"))},
		wrong("oldest first without times", `{"id":"0"},{"id":"1"}`),
		{Name: "ties between others", Got: ordered(at("2", "01") + "," + at("0", "00") + "," + at("1", "00"))},
		wrong("an older one between two ties", at("1", "01")+","+at("0", "00")+","+at("2", "01")),
		{Name: "the same time in another zone",
			Got: ordered(at("0", "00") + `,{"id":"1","created_at":"2026-01-01T01:00:00+01:00"}`)},
		wrong("one of them shows no time", at("0", "00")+`,{"id":"1"}`),
		wrong("three, the last two exchanged", at("2", "02")+","+at("0", "00")+","+at("1", "01")),
		{Name: "newest first among unknown revisions", Got: ordered(at("1", "01") + `,{"id":"x"},` + at("0", "00"))},
		{Name: "one known revision", Got: ordered(at("1", "01") + `,{"id":"x"}`), Verdict: reports.Inconclusive},

		{Name: "each listed revision has the source", Got: sources(`{"resources":[{"source":"git_host"},{"source":"git_host"}]}`)},
		{Name: "the second listed revision has another source",
			Got:  sources(`{"resources":[{"source":"git_host"},{"source":"external_container"}]}`),
			Kind: outcome.WrongValue, Pointer: "/resources/1/source", Actual: `"external_container"`},
		{Name: "a listed revision has no source", Got: sources(`{"resources":[{}]}`),
			Kind: outcome.Missing, Pointer: "/resources/0/source", Actual: "nothing"},
	}
}

func pageRows() []judgetest.Row {
	last, further := numbered(1, 200, `{}`), numbered(2, 200, `{}`)
	again := func(ids ...string) error { return ReturnsNoneAgain(further, last, ids, []string{"c", "b", "a"}) }
	next := func(offset string) error {
		_, err := NextOffset(judgetest.Response(200, `{"offset":`+offset+`}`))
		return err
	}
	holds := func(status int, ids ...string) error {
		return HoldsExactly(Listed{Response: judgetest.Response(status, `{}`), IDs: ids, Want: []string{"a", "b"},
			What: "with limit=2", With: last})
	}
	holdsNone := func(status int, ids ...string) error {
		return HoldsExactly(Listed{Response: judgetest.Response(status, `{}`), IDs: ids,
			What: "with offset=20 and all statuses and remote_reconciled true, and with many other words"})
	}
	return []judgetest.Row{
		{Name: "the further page is empty", Got: again()},
		{Name: "the further page has a new revision", Got: again("d")},
		{Name: "the further page returns a revision again", Got: again("d", "a"),
			Kind: outcome.RepeatedItem, Pointer: "/resources", Actual: "the revision a again"},

		{Name: "the next page is at 0", Got: next("0")},
		{Name: "the next page is at the largest offset", Got: next("2147483647")},
		{Name: "the next page is at -1", Got: next("-1"), Kind: outcome.WrongValue, Pointer: "/offset", Actual: "-1"},
		{Name: "the next page is at 2147483648", Got: next("2147483648"), Kind: outcome.WrongValue, Pointer: "/offset"},
		{Name: "the next page is at null", Got: next("null"), Verdict: reports.Inconclusive},

		{Name: "exactly the wanted revisions", Got: holds(200, "b", "a")},
		{Name: "one wanted revision is missing", Got: holds(200, "a"),
			Kind: outcome.MissingItem, Pointer: "/resources", Actual: "1 revision; missing: b"},
		{Name: "one wanted revision is repeated", Got: holds(200, "a", "b", "b"),
			Kind: outcome.RepeatedItem, Pointer: "/resources", Actual: "3 revisions; repeated: b"},
		{Name: "one unwanted revision is repeated", Got: holds(200, "a", "b", "c", "c"),
			Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "4 revisions; unexpected: c"},
		{Name: "one revision instead of another", Got: holds(200, "a", "c"),
			Kind: outcome.MissingItem, Pointer: "/resources", Actual: "2 revisions; missing: b; unexpected: c"},
		{Name: "a list with revisions is refused", Got: holds(422), Kind: outcome.Refused, Actual: "422"},
		{Name: "the second page is the first one", Kind: outcome.MissingItem, Pointer: "/resources",
			Got: HoldsExactly(Listed{Response: last, IDs: []string{"a", "b"}, Want: []string{"c"}, Whole: []string{"a", "b", "c"}, What: "with limit=2 and offset=2"})},
		{Name: "an empty list is served", Got: holdsNone(200)},
		{Name: "an empty list is refused", Got: holdsNone(404), Kind: outcome.Refused, Actual: "404"},
		{Name: "a list that must be empty has one revision", Got: holdsNone(200, "a"),
			Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "1 revision; unexpected: a"},
	}
}

func parameterRows() []judgetest.Row {
	spelled := func(status int, ids ...string) error {
		a := respond("GET", "/v2/deployments/d/revisions", status, `{}`)
		a.Request.Query = "limit=0x2"
		return StandsForValue(Listed{Response: a, IDs: ids, Want: []string{"a", "b"}, What: "limit=2"})
	}
	absent := func(status int, body string) error { return IsNotFound(judgetest.Response(status, body), "", "ID-1") }
	const request = "limit=1"
	inBraces := func(status int, body string) error {
		a := respond("GET", "/v2/deployments/d", status, body)
		return ShowsOwnOrRefuses(a, "the id in braces", "0a1b2c3d-4e5f-4000-8000-00000000abcd")
	}
	own := func(status int, ids ...string) error {
		return HoldsOwnOrRefuses(judgetest.Response(status, `{}`), "an id in capital letters", ids, []string{"a", "b"})
	}
	return []judgetest.Row{
		{Name: "a page keeps the order", Got: KeepsOrder([]string{"a", "b", "c"}, []string{"b", "c"})},
		{Name: "a page exchanges two revisions", Got: KeepsOrder([]string{"a", "b", "c"}, []string{"c", "b"})},
		{Name: "a page has one revision", Got: KeepsOrder([]string{"a", "b", "c"}, []string{"c"})},
		{Name: "a page of a list with two revisions", Got: KeepsOrder([]string{"a", "b"}, []string{"a", "b"})},
		{Name: "a page does not keep the order", Got: KeepsOrder([]string{"a", "b", "c"}, []string{"a", "b"}),
			Verdict: reports.Inconclusive},

		{Name: "limit=0x2 is refused", Got: spelled(422)},
		{Name: "limit=0x2 is limit=2", Got: spelled(200, "b", "a")},
		{Name: "limit=0x2 is another value", Got: spelled(200, "a"), Kind: outcome.WrongValue, Actual: "1 revision; missing: b"},
		{Name: "limit=0x2 repeats a revision", Got: spelled(200, "a", "b", "b"), Kind: outcome.WrongValue},
		{Name: "limit=0x2 crashes the server", Got: spelled(500, "a", "b"), Kind: outcome.ServerError},

		{Name: "the 404 names the deployment", Got: absent(404, `{"detail":"no deployment id-1"}`)},
		{Name: "the 404 names the deployment in another body", Got: absent(404, `{"detail":["id-1"]}`)},
		{Name: "the 404 does not name the deployment", Got: absent(404, `{"detail":"not found","id":"ID-1"}`),
			Kind: outcome.WrongDetail, Actual: "404"},
		{Name: "an unknown deployment is refused with 422", Got: absent(422, `{"detail":"no deployment id-1"}`),
			Kind: outcome.WrongStatus, Actual: "422"},
		{Name: "an unknown deployment has a list", Got: absent(200, `{"detail":"id-1"}`), Kind: outcome.Accepted},
		{Name: "an unknown deployment crashes the server", Got: IsNotFound(judgetest.Response(500, `id-1`), request, "ID-1"),
			Kind: outcome.ServerError, Actual: "500"},

		{Name: "an id in capital letters is refused", Got: own(404)},
		{Name: "an id in capital letters is the same id", Got: own(200, "x", "b")},
		{Name: "an id in capital letters has another list", Got: own(200, "x"), Kind: outcome.MissingItem, Pointer: "/resources"},
		{Name: "an id in capital letters crashes the server", Got: own(500, "a"),
			Kind: outcome.ServerError, Pointer: "/resources"},

		{Name: "GET by an id in braces is refused", Got: inBraces(422, `{}`)},
		{Name: "GET by an id in braces is the deployment", Got: inBraces(200, `{"id":"0A1B2C3D-4e5f-4000-8000-00000000abcd"}`)},
		{Name: "GET by an id in braces is another deployment", Got: inBraces(200, `{"id":"1a1b2c3d-4e5f-4000-8000-00000000abcd"}`),
			Kind: outcome.WrongValue, Pointer: "/id"},
		{Name: "GET by an id in braces is empty", Got: inBraces(200, `{}`), Kind: outcome.WrongValue, Pointer: "/id"},
		{Name: "GET by an id in braces crashes the server", Got: inBraces(500, `{}`), Kind: outcome.ServerError, Pointer: "/id"},
	}
}

func filterRows() []judgetest.Row {
	filtered := func(status int, body string) error {
		a := respond("GET", "/v2/deployments/d/revisions", status, body)
		a.Request.Query = "status=NO_SUCH"
		return IsEmptyOrRefused(a, "unknown value")
	}
	withTrue, withFalse := numbered(1, 200, `{}`), numbered(2, 200, `{}`)
	share := func(before, ids, after []string) error { return ShareNone(withTrue, withFalse, before, ids, after) }
	return []judgetest.Row{
		{Name: "an unknown status returns an empty list", Got: filtered(200, `{"resources":[]}`)},
		{Name: "an unknown status is refused", Got: filtered(422, `{"resources":[{}]}`)},
		{Name: "an unknown status returns a revision", Got: filtered(200, `{"resources":[{}]}`),
			Kind: outcome.ExtraItem, Class: "unknown value", Actual: "200"},
		{Name: "an unknown status returns no list", Got: filtered(200, `{}`), Kind: outcome.Missing, Class: "unknown value"},
		{Name: "an unknown status crashes the server", Got: filtered(500, `{"resources":[]}`),
			Kind: outcome.ServerError, Class: "unknown value", Actual: "500"},

		{Name: "no revision in both lists", Got: share([]string{"a"}, []string{"b"}, []string{"a"})},
		{Name: "a revision becomes reconciled", Got: share(nil, []string{"b"}, []string{"b"})},
		{Name: "a revision is reconciled no more", Got: share([]string{"b"}, []string{"b"}, nil)},
		{Name: "a revision in both lists", Got: share([]string{"a", "b"}, []string{"b", "c"}, []string{"b"}),
			Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "revision b in both"},
		{Name: "both lists are empty", Got: share(nil, nil, []string{"a"})},
		{Name: "both lists are refused", Got: ShareNone(respond("GET", "/r", 400, `{}`), withFalse, nil, nil, nil), Verdict: reports.Inconclusive},
	}
}
