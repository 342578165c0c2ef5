package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func foreignRunRows() []judgetest.Row {
	holds := func(status int, body string, unknown *exchange.Response) error {
		return HoldsNothingOfRun(judgetest.Response(status, body), run("one"), "r1", unknown, "r9")
	}
	like := judgetest.Response(200, `{"error":"no run r9"}`)
	leak := func(name string, got error) judgetest.Row {
		return judgetest.Row{Name: name, Got: got, Kind: outcome.Leak}
	}
	return []judgetest.Row{
		{Name: "the foreign run is refused", Got: holds(400, `{"status":"success"}`, nil)},
		{Name: "the refusal contains the text of the other user's run", Got: holds(404, `{"detail":"one"}`, nil), Kind: outcome.Leak},
		{Name: "an empty response", Got: holds(200, ` `, nil)},
		{Name: "null", Got: holds(200, `null`, nil)},
		{Name: "an empty object", Got: holds(200, `{}`, nil)},
		{Name: "only an error", Got: holds(200, `{"__error__":"x"}`, nil)},
		leak("an error and a value", holds(200, `{"__error__":"x","messages":[]}`, nil)),
		leak("an array", holds(200, `[]`, nil)),
		leak("status 399 with a value", holds(399, `{"messages":[]}`, nil)),
		{Name: "the same response as for an unknown run", Got: holds(200, `{"error":"no run r1"}`, like)},
		leak("another response than for an unknown run", holds(200, `{"error":"run r1 is mine"}`, like)),
		leak("the text of the foreign run", holds(200, `{"messages":["one"]}`, judgetest.Response(200, `{"messages":["one"]}`))),
	}
}

func takenIDRows() []judgetest.Row {
	shows := func(status int, body string) error {
		return NoneShows([]*exchange.Response{judgetest.Response(409, `{}`), judgetest.Response(status, body)}, run("one"), "mark-1")
	}
	leak := func(name string, got error) judgetest.Row {
		return judgetest.Row{Name: name, Got: got, Kind: outcome.Leak}
	}
	return []judgetest.Row{
		{Name: "a thread of the caller with the ID of another one", Got: shows(200, `{"thread_id":"t1","values":{"messages":[]}}`)},
		{Name: "a refusal that repeats the text", Got: shows(409, `{"detail":"one"}`)},
		leak("a taken thread shows the text of the run", shows(200, `{"values":{"messages":[{"content":"one"}]}}`)),
		leak("a taken thread shows its metadata", shows(200, `{"metadata":{"mark":"mark-1"}}`)),
	}
}

func TestMayHoldRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   bool
	}{
		{"a value", 200, `{"x":1}`, true},
		{"status 399", 399, `{"x":1}`, true},
		{"an error status", 400, `{"x":1}`, false},
		{"nothing", 200, `{}`, false},
		{"the text of the run", 200, `{"x":"one"}`, false},
	} {
		assert.Equal(t, c.want, MayHoldRun(judgetest.Response(c.status, c.body), run("one")), c.name)
	}
}

func extensionRows() []judgetest.Row {
	const caller = "the other user"
	owners := judgetest.Response(200, `{}`)
	refuses := func(status int, body string, unknown *exchange.Response) error {
		return ExtensionRefuses(Attempt{caller, judgetest.Response(status, body), unknown}, run("one"), owners)
	}
	accepted := func(name string, got error) judgetest.Row {
		return judgetest.Row{Name: name, Got: got, Kind: outcome.Accepted, Class: caller}
	}
	return []judgetest.Row{
		{Name: "the extension is refused", Got: refuses(400, `{}`, nil)},
		accepted("the extension is served", refuses(399, `{}`, nil)),
		{Name: "the extension serves unknown threads", Got: refuses(200, `{}`, judgetest.Response(200, `{}`))},
		accepted("the extension refuses unknown threads", refuses(200, `{}`, judgetest.Response(404, `{}`))),
		accepted("the extension shows the run", refuses(200, `{"x":"one"}`, judgetest.Response(200, `{}`))),

		{Name: "the thread is unchanged", Got: ThreadIsUnchanged(stateOf(human("one"), ai("x")), run("one"))},
		{Name: "the thread is removed", Got: ThreadIsUnchanged(judgetest.Response(404, `{}`), run("one")), Kind: outcome.Changed},
		violation("the thread has another message", outcome.ExtraItem,
			ThreadIsUnchanged(stateOf(human("one"), ai("x"), ai("y")), run("one"))),
	}
}
