package agentserver

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
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
			{"POST", "/threads", `{"metadata": {"n": ` + value + `}}`},
			{"POST", "/threads/search", `{"metadata": {"n": ` + value + `}}`}, {"POST", "/threads/" + thread + "/runs", body},
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
