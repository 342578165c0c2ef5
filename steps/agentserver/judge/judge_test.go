package judge

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// TestJudgements runs the tables of all files, and compares all messages with testdata/messages.golden.
func TestJudgements(t *testing.T) {
	judgetest.Run(t, "testdata/messages.golden", stateRows(), runStateRows(), keptRows(), rollbackRows(), remainsRows(),
		threadRows(), runRows(), joinRows(), refusalRows(), reportRows(), disguiseRows(), ownerRows(), foreignRunRows(), takenIDRows(),
		extensionRows(), revisionRows(), situationRows())
}

// TestHintsAndComparisons checks the hints of violations and the exchanges that they compare, which the tables do not
// contain.
func TestHintsAndComparisons(t *testing.T) {
	said := Report{State: stateOf(), Said: `{"identity":"bob"}`}
	ada := map[string]any{"identity": "ada"}
	earlier := judgetest.Response(200, `{}`)
	earlier.ID = 7
	first := run("one")
	first.Created = earlier
	for name, c := range map[string]struct {
		got  error
		hint string
		with int
	}{
		"another user's identity is reported": {ReportsFields(said, ada, "bob"), callerHint, 0},
		"no identity is reported":             {ReportsFields(said, ada, "eve"), reportHint, 0},
		"a list without the thread":           {ListHolds(List{Response: earlier, Hint: "x", Rows: rows("[]")}, Thread{ID: "t"}), "x", 0},
		"a run that was not answered":         {HoldsAnswered(stateOf(), first), "", 7},
		"the last of several runs":            {HoldsOnly(stateOf(), run("zero"), first), "", 7},
		"a run that was removed":              {RunStays(judgetest.Response(404, `{}`), first), "", 7},
	} {
		o, is := errors.AsType[*outcome.Outcome](c.got)
		require.True(t, is, name)
		assert.Equal(t, c.hint, o.Violations[0].Hint, name)
		assert.Equal(t, c.with, o.Violations[0].Compared.With, name)
	}
}

// TestNameOf checks the subjects of titles.
func TestNameOf(t *testing.T) {
	for _, c := range []struct{ method, path, want string }{
		{"POST", "/threads", "POST of a thread"},
		{"GET", "/threads", "The list of threads"},
		{"POST", "/threads/search", "The list of threads"},
		{"GET", "/threads/t/state", "GET of the thread state"},
		{"POST", "/threads/t/runs", "POST of a run"},
		{"GET", "/threads/t/runs/r", "GET of the run"},
		{"GET", "/threads/t/runs/r/join", "The join of a run"},
		{"DELETE", "/threads/t", "DELETE /threads/t"},
	} {
		assert.Equal(t, c.want, nameOf(exchange.Request{Method: c.method, Path: c.path}))
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// run returns a run with the inputs. It adds one message, takes ten seconds, and was created at start.
func run(inputs ...string) Run {
	created := judgetest.Response(200, `{"run_id":"r1"}`)
	created.Sent = start
	return Run{ID: "r1", Inputs: inputs, Outputs: 1, Hold: 10 * time.Second, Created: created}
}

func human(text string) messages.Message { return messages.Message{Kind: messages.Human, Text: text} }

func ai(text string) messages.Message { return messages.Message{Kind: messages.AI, Text: text} }

// withID returns a message with an id.
func withID(m messages.Message, id string) messages.Message {
	m.ID = id
	return m
}

// stateOf returns a state with the messages.
func stateOf(all ...messages.Message) *exchange.Response {
	shown := []any{}
	for _, m := range all {
		shown = append(shown, map[string]any{"type": m.Kind, "content": m.Text, "id": m.ID})
	}
	body, err := json.Marshal(map[string]any{"values": map[string]any{"messages": shown}})
	if err != nil {
		panic(err)
	}
	return judgetest.Response(200, string(body))
}

// at returns a response that was sent some time after start and took some time.
func at(status int, body string, sent, took time.Duration) *exchange.Response {
	a := judgetest.Response(status, body)
	a.Sent, a.Took = start.Add(sent), took
	return a
}
