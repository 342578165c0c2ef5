package judge

import (
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func stateRows() []judgetest.Row {
	has := func(status int, body string) error { return HasMessages(judgetest.Response(status, body)) }
	missing := func(name string, got error) judgetest.Row {
		return judgetest.Row{Name: name, Got: got, Kind: outcome.Missing, Pointer: "/values/messages"}
	}
	return []judgetest.Row{
		{Name: "a state with a message", Got: has(200, `{"values":{"messages":[{"type":"human"}]}}`)},
		missing("a state with an empty array of messages", has(200, `{"values":{"messages":[]}}`)),
		missing("a state whose messages are an object", has(200, `{"values":{"messages":{}}}`)),
		missing("a state without values", has(200, `{}`)),
		missing("a refused state with messages", has(404, `{"values":{"messages":[{"type":"human"}]}}`)),
	}
}
