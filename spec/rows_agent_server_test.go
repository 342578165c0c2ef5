package spec

func agentServerRows() []judged {
	var rows []judged
	for _, part := range [][]judged{threadRows(), runRows(), stateRows()} {
		rows = append(rows, part...)
	}
	return rows
}

func threadRows() []judged {
	thread := func(s int, body string) Exchange { return answer("POST", "/threads", s, body) }
	search := func(body string) Exchange { return answer("POST", "/threads/search", 200, body) }
	listing := func(body string) Exchange { return answer("GET", "/threads", 200, body) }
	return []judged{
		{name: "a thread", x: thread(200, `{"thread_id":"t1","metadata":{}}`)},
		{name: "a thread with 201", x: thread(201, `{"thread_id":"0b5e9a52-1111-4222-8333-123456789abc"}`)},
		{name: "a thread without id", x: thread(200, `{"id":"t1"}`), want: bad("/thread_id required")},
		{name: "a thread with a number as id", x: thread(200, `{"thread_id":1}`)},
		{name: "a thread with a fraction as id", x: thread(200, `{"thread_id":1.5}`), want: bad("/thread_id type")},
		{name: "a thread refused in text", x: typed(thread(401, `Invalid credentials`), "text/plain")},
		{name: "threads in an object", x: listing(`{"threads":[]}`), want: bad(" type")},
		{name: "a thread without id in the list", x: listing(`[{"thread_id":"a"},{}]`), want: bad("/1/thread_id required")},
		{name: "no list of threads", x: answer("GET", "/threads", 404, `{"detail":"Not Found"}`)},
		{name: "threads found as null", x: search(`null`), want: bad(" type")},
	}
}

func runRows() []judged {
	run := func(body string) Exchange { return answer("GET", "/threads/t/runs/r", 200, body) }
	start := func(s int, body string) Exchange { return answer("POST", "/threads/t/runs", s, body) }
	join := func(s int, body string) Exchange { return answer("GET", "/threads/t/runs/r/join", s, body) }
	return []judged{
		{name: "a run", x: run(`{"run_id":"r","status":"success"}`)},
		{name: "a run with a null id", x: run(`{"run_id":null}`), want: bad("/run_id type")},
		{name: "a run that is gone", x: typed(answer("GET", "/threads/t/runs/r", 410, ``), "")},
		{name: "a run refused in an own shape", x: start(400, `{"errors":["x"]}`)},
		{name: "a run answered with 204", x: typed(start(204, ``), ""), want: bad(" status")},
		{name: "joined with a state", x: join(200, `{"messages":[]}`)},
		{name: "joined with null", x: join(200, `null`)},
		{name: "joined with a plain text", x: typed(join(200, "done\n"), "Text/Plain; charset=utf-8")},
		{name: "joined with HTML", x: typed(join(200, "<p>done"), "text/html"), want: bad(" content-type")},
		{name: "joined without body", x: typed(join(200, ``), ""),
			kin: "it knows no optional body and asks for the content type"},
		{name: "joined with 204", x: typed(join(204, ``), "")},
		{name: "joined with 204 and a body", x: join(204, `{}`), want: bad(" body"),
			kin: "it does not look at the body of a 204"},
	}
}

func stateRows() []judged {
	state := func(body string) Exchange { return answer("GET", "/threads/t/state", 200, body) }
	messages := func(items string) Exchange { return state(`{"values":{"messages":[` + items + `]}}`) }
	return []judged{
		{name: "a state", x: messages(`{"type":"human","content":"hi","id":"1"},{"type":"ai","content":"hi"}`)},
		{name: "a state of a thread without run", x: state(`{"values":{},"next":[]}`)},
		{name: "a message of parts", x: messages(`{"type":"ai","content":[{"type":"text","text":"hi"}]}`)},
		{name: "a message with role", x: messages(`{"role":"human","content":"hi"}`), want: bad("/values/messages/0/type required")},
		{name: "a message without content", x: messages(`{"type":"ai"}`), want: bad("/values/messages/0/content required")},
		{name: "a message with content null", x: messages(`{"type":"ai","content":null}`), want: bad("/values/messages/0/content type")},
		{name: "messages null", x: state(`{"values":{"messages":null}}`), want: bad("/values/messages type")},
		{name: "a state without values", x: state(`{"messages":[]}`)},
		{name: "a state with values null", x: state(`{"values":null}`)},
		{name: "a state with values that are a list", x: state(`{"values":[]}`), want: bad("/values type")},
		{name: "the messages themselves as state", x: state(`[{"type":"human","content":"hi"}]`), want: bad(" type")},
	}
}
