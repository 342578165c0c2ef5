package spec

import "strings"

func contentTypeRows() []judged {
	empty := `{"resources":[],"offset":0}`
	as := func(contentType string) Exchange { return typed(list(empty), contentType) }
	fault := bad(" content-type")
	return []judged{
		{name: "JSON with charset", x: as("application/json; charset=utf-8")},
		{name: "JSON with charset in capitals", x: as("Application/JSON; Charset=UTF-8")},
		{name: "JSON with an unknown parameter", x: as(`application/json; profile="a;b"`)},
		{name: "JSON with a broken parameter", x: as("application/json; charset")},
		{name: "JSON by suffix", x: as("application/problem+json"),
			kin: "only the exact type is declared; a type that says it is JSON is JSON"},
		{name: "no content type", x: as(""), want: fault},
		{name: "JSON as text", x: as("text/plain; charset=utf-8"), want: fault},
		{name: "JSON as page", x: as("text/html"), want: fault},
		{name: "a page", x: typed(list(`<html><body>Welcome</body></html>`), "text/html"), want: fault},
	}
}

func textRows() []judged {
	return []judged{
		{name: "a pretty body", x: list("\r\n{\n\t\"resources\" : [ ],\n\t\"offset\" : 0\n}\n")},
		{name: "an empty body", x: list(""), want: bad(" body")},
		{name: "a page called JSON", x: list("<html>"), want: bad(" json")},
		{name: "half a body", x: list(`{"resources":[`), want: bad(" json")},
		{name: "a body with a comment", x: list(`{"resources":[],"offset":0}//`), want: bad(" trailing"), kin: "its decoder stops after the first value"},
		{name: "two values", x: list(`{"resources":[],"offset":0}{}`), want: bad(" trailing"), kin: "its decoder stops after the first value"},
		{name: "a byte order mark", x: list("\uFEFF" + `{"resources":[],"offset":0}`), want: bad(" json")},
		{name: "a key twice", x: list(`{"resources":[],"offset":0,"offset":1}`), want: bad("/offset duplicate-key"),
			kin: "its decoder keeps the last of equal keys"},
		{name: "a key twice, once escaped", x: list(`{"resources":[],"offset":0,"\u006fffset":1}`), want: bad("/offset duplicate-key"),
			kin: "its decoder keeps the last of equal keys"},
		{name: "bytes that are no UTF-8", x: list("{\"resources\":[],\"offset\":0,\"name\":\"\xff\"}"), want: bad(" encoding"),
			kin: "its decoder replaces invalid bytes"},
		{name: "a lone surrogate", x: list(`{"resources":[],"offset":0,"name":"\ud800"}`)},
		{name: "nested as deep as allowed", x: list(`{"resources":[],"offset":0,"x":` + strings.Repeat("[", 511) + strings.Repeat("]", 511) + `}`)},
		{name: "nested too deep", x: list(`{"resources":[],"offset":0,"x":` + strings.Repeat("[", 512) + strings.Repeat("]", 512) + `}`),
			want: bad(" depth"),
			kin:  "it has no bound"},
	}
}
