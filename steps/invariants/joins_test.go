package invariants

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// TestJoinsThatReturnEarly judges histories that begin with the join of a run that returns in time. Each exchange is one
// second after the previous one.
func TestJoinsThatReturnEarly(t *testing.T) {
	const whole = `{"values":{"messages":[{"type":"human","content":"TEXT"},{"type":"ai","content":"You said: TEXT"}]}}`
	run := func(h *history, method, path, body, response string) {
		h.agent(h.target.CallerWith("users.0"), method, "/threads"+path, body, 200, response)
	}
	accepted := func(h *history, thread, text string) {
		run(h, "POST", "", `{}`, `{"thread_id":"`+thread+`"}`)
		body := strings.Replace(runBody, "hello", text, 1)
		run(h, "POST", "/"+thread+"/runs", body, `{"run_id":"run of `+thread+`"}`)
	}
	joined := func(h *history, thread string) { run(h, "GET", "/"+thread+"/runs/run of "+thread+"/join", "", `{}`) }
	shown := func(h *history, thread, text string) {
		run(h, "GET", "/"+thread+"/state", "", strings.ReplaceAll(whole, "TEXT", text))
	}
	inTime := func(h *history) {
		accepted(h, one, "wait=3000 first")
		h.at = h.at.Add(3 * time.Second)
		joined(h, one)
		shown(h, one, "wait=3000 first")
	}
	for name, row := range map[string]struct {
		history func(h *history)
		fails   bool
	}{
		"a join that returns early": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait=9000 second")
			joined(h, two)
			shown(h, two, "wait=9000 second")
		}, true},
		"a run without a hold": {func(h *history) {
			inTime(h)
			accepted(h, two, "second")
			joined(h, two)
			shown(h, two, "second")
		}, false},
		"a run without an answer": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait=9000 second")
			joined(h, two)
		}, false},
		"a run whose early message is shown, and no answer": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait-after-write=9000 second")
			joined(h, two)
			shown(h, two, "wait-after-write=9000 second")
		}, false},
		"a run that fails": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait=9000 fail")
			joined(h, two)
			shown(h, two, "wait=9000 fail")
		}, false},
		"a run during which another one is accepted": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait=9000 second")
			run(h, "POST", "/"+two+"/runs", runBody, `{"run_id":"third"}`)
			joined(h, two)
			shown(h, two, "wait=9000 second")
		}, false},
		"a run that was canceled": {func(h *history) {
			inTime(h)
			accepted(h, two, "wait=9000 second")
			run(h, "POST", "/"+two+"/runs/run of "+two+"/cancel", "", `{}`)
			joined(h, two)
			shown(h, two, "wait=9000 second")
		}, false},
		"a graph that does not wait": {func(h *history) {
			accepted(h, two, "wait=9000 second")
			joined(h, two)
			shown(h, two, "wait=9000 second")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			row.history(h)
			_, o := h.judged(`no join returned before the end of its run`)
			assert.Equal(t, row.fails, o != nil && o.Verdict == reports.Failed)
		})
	}
}
