package spec

func controlPlaneRows() []judged {
	var rows []judged
	for _, part := range [][]judged{revisionRows(), timeRows(), listRows(), problemRows(), deploymentRows(), statusRows(), contentTypeRows(), textRows()} {
		rows = append(rows, part...)
	}
	return rows
}

func revisionRows() []judged {
	rows := []judged{
		{name: "a revision", x: oneRevision(revision("", ""))},
		{name: "a revision with more fields", x: oneRevision(revision("status_message", `{"deep":[1,{"a":null}]}`))},
		{name: "a revision id in capitals", x: oneRevision(revision("id", `"0B5E9A52-1111-4222-8333-123456789ABD"`))},
		{name: "a revision id of version 7", x: oneRevision(revision("id", `"01940b3e-7c5a-7def-8123-456789abcdef"`)),
			kin: "its pattern knows only the versions 1 to 5"},
		{name: "a revision id of no variant", x: oneRevision(revision("id", `"0b5e9a52-1111-0222-0333-123456789abd"`)),
			kin: "its pattern asks for a version and a variant of RFC 4122; the interface asks for a uuid only"},
		{name: "a revision id in braces", x: oneRevision(revision("id", `"{0b5e9a52-1111-4222-8333-123456789abd}"`)), want: bad("/id format")},
		{name: "a number as revision id", x: oneRevision(revision("id", `7`)), want: bad("/id type")},
		{name: "a status in small letters", x: oneRevision(revision("status", `"deployed"`)), want: bad("/status enum")},
		{name: "source config null", x: oneRevision(revision("source_revision_config", `null`)), want: bad("/source_revision_config type")},
		{name: "source config all null", x: oneRevision(revision("source_revision_config", `{"repo_ref":null,"graph_config_path":null,"image_uri":null,"repo_commit_sha":null}`))},
		{name: "two faults in a source config", x: oneRevision(revision("source_revision_config", `{"repo_commit_sha":false,"image_uri":[]}`)),
			want: bad("/source_revision_config/image_uri type", "/source_revision_config/repo_commit_sha type")},
		{name: "an empty object as revision", x: oneRevision(`{}`),
			want: bad("/created_at required", "/id required", "/source required", "/source_revision_config required", "/status required", "/updated_at required")},
	}
	for _, field := range []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"} {
		rows = append(rows, judged{name: "a revision without " + field, x: oneRevision(revision(field, "")), want: bad("/" + field + " required")})
	}
	return rows
}

func timeRows() []judged {
	at := func(s string) Exchange { return oneRevision(revision("created_at", s)) }
	fault := bad("/created_at format")
	return []judged{
		{name: "a time with offset", x: at(`"2025-01-02T03:04:05+05:45"`)},
		{name: "a time with nanoseconds", x: at(`"2025-01-02T03:04:05.123456789Z"`)},
		{name: "a time in small letters", x: at(`"2025-01-02t03:04:05z"`), kin: "its pattern wants capitals; RFC 3339 allows small letters"},
		{name: "a leap second", x: at(`"2016-12-31T23:59:60Z"`)},
		{name: "a time without offset", x: at(`"2025-01-02T03:04:05"`), want: fault},
		{name: "a time with a space", x: at(`"2025-01-02 03:04:05Z"`), want: fault},
		{name: "the 30th of February", x: at(`"2025-02-30T03:04:05Z"`), want: fault},
		{name: "a time as a number", x: at(`1735787045`), want: bad("/created_at type")},
	}
}

func listRows() []judged {
	good := revision("", "")
	return []judged{
		{name: "a list with more fields", x: list(`{"resources":[],"offset":0,"total":7,"next":null}`)},
		{name: "an offset written with a point", x: list(`{"resources":[],"offset":20.0}`)},
		{name: "an offset of a half", x: list(`{"resources":[],"offset":0.5}`), want: bad("/offset type")},
		{name: "a list without resources", x: list(`{"offset":0}`), want: bad("/resources required")},
		{name: "resources null", x: list(`{"resources":null,"offset":0}`), want: bad("/resources type")},
		{name: "null as list", x: list(`null`), want: bad(" type")},
		{name: "the second revision bad", x: page(good + "," + revision("status", `"UP"`)), want: bad("/resources/1/status enum")},
		{name: "the same fault twice is one", x: page(revision("status", `"UP"`) + "," + good + "," + revision("status", `"DOWN"`)),
			want: bad("/resources/0/status enum")},
	}
}

func problemRows() []judged {
	problem := func(body string) Exchange { return refused(422, body) }
	return []judged{
		{name: "404 of the list without detail", x: refused(404, `{"error":"no"}`), want: bad("/detail required")},
		{name: "404 of the list with a detail object", x: refused(404, `{"detail":{"msg":"no"}}`), want: bad("/detail type")},
		{name: "404 of the list as text", x: typed(refused(404, `Not Found`), "text/plain"), want: bad(" content-type")},
		{name: "404 of the list without body", x: typed(refused(404, ``), ""), want: bad(" body")},
		{name: "422 of the list", x: problem(goodProblem)},
		{name: "422 with a text", x: problem(`{"detail":"limit is wrong"}`), want: bad("/detail type")},
		{name: "422 with loc as text", x: problem(`{"detail":[{"loc":"query.limit","msg":"a","type":"b"}]}`), want: bad("/detail/0/loc type")},
		{name: "422 with a fraction in loc", x: problem(`{"detail":[{"loc":["a",1.5],"msg":"a","type":"b"}]}`), want: bad("/detail/0/loc/1 type")},
	}
}

func deploymentRows() []judged {
	return []judged{
		{name: "created with 201", x: created(201, goodDeployment)},
		{name: "created with the promised fields only", x: created(201, `{"id":"0b5e9a52-1111-4222-8333-123456789abc","latest_revision_id":"0b5e9a52-1111-4222-8333-123456789abd"}`)},
		{name: "created without revision", x: created(201, `{"id":"0b5e9a52-1111-4222-8333-123456789abc","latest_revision_id":null}`), want: bad("/latest_revision_id type")},
		{name: "created with an id that is not a valid UUID", x: created(201, `{"id":"dep-1","latest_revision_id":"rev-1"}`), want: bad("/id format", "/latest_revision_id format")},
		{name: "a deployment with its id only", x: got(`{"id":"0b5e9a52-1111-4222-8333-123456789abc"}`)},
		{name: "a deployment with a revision id that is not a valid UUID", x: got(`{"id":"0b5e9a52-1111-4222-8333-123456789abc","latest_revision_id":"1"}`), want: bad("/latest_revision_id format")},
		{name: "build_on_push as text", x: got(`{"id":"0b5e9a52-1111-4222-8333-123456789abc","source_config":{"build_on_push":"no"}}`), want: bad("/source_config/build_on_push type")},
		{name: "build_on_push null", x: got(`{"id":"0b5e9a52-1111-4222-8333-123456789abc","source_config":{"build_on_push":null,"custom_url":"http://x"}}`)},
		{name: "an update answered with 202 and an empty object", x: updated(202, `{}`)},
		{name: "an update answered without body", x: typed(updated(202, ``), ""),
			kin: "it knows no optional body and asks for the content type"},
		{name: "an update answered with 204", x: typed(updated(204, ``), "")},
		{name: "an update answered with 204 and a body", x: updated(204, `{}`), want: bad(" body"),
			kin: "it does not look at the body of a 204"},
		{name: "an update answered with its revision", x: updated(200, revision("", ""))},
		{name: "an update answered with a text", x: typed(updated(200, `ok`), "text/plain")},
		{name: "an update answered with a page", x: typed(updated(200, `<html>`), "text/html"), want: bad(" content-type")},
	}
}

func statusRows() []judged {
	redirect := "it never judges this status"
	return []judged{
		{name: "the list refused with 401 as text", x: typed(refused(401, `no`), "text/plain")},
		{name: "the list refused with 403 without body", x: typed(refused(403, ``), "")},
		{name: "the list answered with 204", x: typed(refused(204, ``), ""), want: bad(" status")},
		{name: "the list refused with 410", x: refused(410, `{"detail":"gone"}`), want: bad(" status")},
		{name: "the list not modified", x: refused(304, ``), want: bad(" status"), kin: redirect},
		{name: "the list answered with 500", x: typed(refused(500, `oops`), "text/plain"),
			kin: "the document does not declare it; server errors are judged by a requirement of their own"},
		{name: "the list answered with 429", x: typed(refused(429, ``), ""),
			kin: "the document does not declare it; rate limits are no part of the interface"},
		{name: "a deployment refused with 418 as page", x: typed(answer("GET", deploymentPath, 418, `<b>`), "text/html")},
		{name: "a creation refused with 409", x: created(409, `{"detail":"exists"}`)},
	}
}
