package judge

import (
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
	count := func(want, known int) error { return HasCount(judgetest.Response(200, two), want, known) }
	return []judgetest.Row{
		{Name: "limit=101 is refused, and loc names it", Got: refuses(422, named, "limit")},
		{Name: "limit=101 is refused, and a text names it", Got: refuses(422, noLoc, "limit")},
		{Name: "limit=101 is refused without a detail", Got: refuses(422, `{}`, "limit")},
		{Name: "limit=101 is accepted", Got: refuses(200, two, "limit"),
			Kind: outcome.Accepted, Class: "out of range", Actual: "status 200"},
		{Name: "limit=101 is refused with 400", Got: refuses(400, named, "limit"),
			Kind: outcome.WrongStatus, Class: "out of range", Actual: "status 400"},
		{Name: "limit=101 crashes the server", Got: refuses(500, `{}`, "limit"),
			Kind: outcome.ServerError, Class: "out of range", Actual: "status 500"},
		{Name: "the loc of limit=101 names another parameter", Got: refuses(422, other, "limit"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "status 422"},
		{Name: "no text names limit", Got: refuses(422, neither, "limit"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "status 422"},
		{Name: "one of two invalid parameters is not named", Got: refuses(422, named, "limit", "offset"),
			Kind: outcome.WrongDetail, Class: "out of range", Pointer: "/detail", Actual: "status 422"},

		{Name: "two of two revisions", Got: count(2, 2)},
		{Name: "two of three revisions", Got: count(3, 3), Kind: outcome.MissingItem, Pointer: "/resources", Actual: "2"},
		{Name: "two revisions with limit=1", Got: count(1, 2), Kind: outcome.ExtraItem, Pointer: "/resources", Actual: "2"},
	}
}
