package agentserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/spec"
)

// unreadable are values of JSON that no script can hold.
var unreadableValues = []string{"1e999", "-1e400", `[{"a": 1e999}]`}

// TestValuesThatAScriptCannotHold are refused where a handler would get them: the caller is told, and no handler is blamed.
func TestValuesThatAScriptCannotHold(t *testing.T) {
	var log bytes.Buffer
	s := conformanceSite(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	u := s.alice()
	thread := u.thread()
	for _, value := range unreadableValues {
		body := `{"assistant_id": "conformance", "input": {"messages": [{"role": "user", "content": "x"}]}, "metadata": {"n": ` + value + `}}`
		for _, r := range [][3]string{
			{"POST", "/threads", `{"metadata": {"n": ` + value + `}}`}, {"PATCH", "/threads/" + thread, `{"metadata": {"n": ` + value + `}}`},
			{"POST", "/threads/search", `{"metadata": {"n": ` + value + `}}`}, {"POST", "/threads/" + thread + "/runs", body},
			{"POST", "/threads/" + thread + "/runs/wait", body}, {"POST", "/threads/" + thread + "/runs/stream", body}, {"POST", "/runs/wait", body},
		} {
			a := u.do(r[0], r[1], r[2])
			assert.Equal(t, 422, a.status, "%s %s %.30s: %.200s", r[0], r[1], value, a.body)
			assert.NotEmpty(t, a.detail(t))
			assert.Less(t, len(a.body), 1000, "the number is not repeated")
		}
	}
	assert.NotContains(t, log.String(), "handler failed")
	assert.Equal(t, 200, u.do("GET", "/threads/"+thread+"/state", "").status)
}

// TestDigitsOfNumbersCount: a number is stored as it is written, so its digits take room in a state.
func TestDigitsOfNumbersCount(t *testing.T) {
	long := json.Number(strings.Repeat("1", 3000))
	assert.Greater(t, size(long), 3000)
	assert.Greater(t, size(map[string]any{"a": []any{long, long}}), 6000)
}

// FuzzAuthorizedBody sends any body to the routes whose values the authorization handler gets. The answer is JSON, and never our fault.
func FuzzAuthorizedBody(f *testing.F) {
	s := newSite(f, conformanceApp(f, graphs.Conformance), Options{}).direct()
	thread := s.alice().thread()
	routes := [][2]string{{"POST", "/threads"}, {"POST", "/threads/search"}, {"PATCH", "/threads/" + thread}, {"POST", "/threads/" + thread + "/runs/wait"}, {"POST", "/threads/" + thread + "/state"}}
	for _, value := range unreadableValues {
		for i := range routes {
			f.Add(i, fmt.Sprintf(`{"metadata": {"a": %s}, "values": {"x": %s}, "assistant_id": "conformance", "input": {"messages": []}}`, value, value))
		}
	}
	f.Add(0, `{"metadata": {"a": -0.0, "b": 1E-400, "c": {"d": []}}}`)
	f.Fuzz(func(t *testing.T, route int, body string) {
		at := *s
		at.t = t
		at.client = &http.Client{Transport: &contractcheck.Transport{
			T: t, Inner: inProcess{s.server}, Side: contractcheck.Only(spec.AgentServer), AtRandom: true,
		}}
		r := routes[max(route, -(route+1))%len(routes)]
		a := at.alice().do(r[0], r[1], body)
		assert.Less(t, a.status, 500, "%s %s: %s", r[0], r[1], a.body)
		assert.True(t, json.Valid([]byte(a.body)) || a.body == "", "%s %s: %q", r[0], r[1], a.body)
	})
}
