package invariants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// recorded records an exchange of a recording with the agent server.
func (h *history) recorded(caller, method, path, body string, status int, response string) {
	r := h.target.ToAgent(agentBase, h.target.Owner(), method, path, []byte(body))
	r.Recorded = true
	r.Caller = exchange.Caller{Name: caller, Invalid: caller == target.NoCredentials}
	if body == "" {
		r.Body = nil
	}
	h.sees(r, status, response)
}

// TestRecordings judges recordings of other clients, which sent the requests for unknown purposes.
func TestRecordings(t *testing.T) {
	const first, second = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"
	const runs, own, text = "/threads/t/runs", "users.0", "please tell me about the weather in Paris"
	const ada, bob, other = "users.0", "users.1", target.OtherCaller + "1"
	rollback := func(h *history, statusDuring string) {
		h.recorded(own, "POST", "/threads", `{}`, 200, `{"thread_id":"t"}`)
		h.recorded(own, "POST", runs, runSaying("wait=60000 "+text, ""), 200, `{"run_id":"`+first+`"}`)
		h.recorded(own, "POST", runs, runSaying("another", `,"multitask_strategy":"rollback"`), 200, `{"run_id":"`+second+`"}`)
		h.recorded(own, "GET", runs+"/"+first, "", 200, `{"run_id":"`+first+`","status":"`+statusDuring+`"}`)
		h.recorded(own, "GET", runs+"/"+second, "", 200, `{"run_id":"`+second+`","status":"success"}`)
	}
	leak := func(from, to, path string) func(h *history) {
		return func(h *history) {
			h.recorded(from, "POST", runs, runSaying(text, ""), 200, `{"run_id":"`+first+`"}`)
			status := 200
			if to == target.NoCredentials {
				status = 401
			}
			h.recorded(to, "GET", path, "", status, `{"values":{"messages":[]},"detail":"`+text+`"}`)
		}
	}
	for name, c := range map[string]struct {
		step   string
		record func(h *history)
		judged bool
		fails  bool
	}{
		"a run in progress is readable after the rollback": {rolledBack, func(h *history) {
			rollback(h, "running")
			h.recorded(own, "GET", runs+"/"+first, "", 200, `{"run_id":"`+first+`","status":"interrupted"}`)
		}, true, true},
		"it is removed": {rolledBack, func(h *history) {
			rollback(h, "running")
			h.recorded(own, "GET", runs+"/"+first, "", 404, `{"detail":"no run"}`)
			h.recorded(own, "GET", "/threads/t/state", "", 200, `{"values":{"messages":[]}}`)
		}, true, false},
		"another graph repeats its text": {rolledBack, func(h *history) {
			rollback(h, "running")
			h.recorded(own, "GET", "/threads/t/state", "", 200, `{"values":{"messages":[{"type":"ai","content":"`+text+`"}]}}`)
		}, true, false},
		"a run that had completed stays": {rolledBack, func(h *history) {
			rollback(h, "success")
			h.recorded(own, "GET", runs+"/"+first, "", 200, `{"run_id":"`+first+`","status":"success"}`)
		}, false, false},
		"a text of another user":                       {apart, leak(ada, bob, "/threads/u/state"), true, true},
		"a text of an unknown caller":                  {apart, leak(other, bob, "/threads/u/state"), true, false},
		"a text of a user in a response to one":        {apart, leak(ada, other, "/threads/u/state"), true, false},
		"a text of an unknown caller without a caller": {apart, leak(other, target.NoCredentials, "/threads"), true, true},
		"a text of a user beyond the known operations": {apart, leak(ada, bob, "/suggestions"), true, false},
		"what is removed may be gone": {served("get-state"), func(h *history) {
			h.recorded(own, "GET", "/threads/t/state", "", 200, `{"values":{"messages":[]}}`)
			h.recorded(own, "GET", "/threads/t/state", "", 404, `{"detail":"expired"}`)
		}, true, false},
		"what is there again was not removed": {served("get-state"), func(h *history) {
			h.recorded(own, "GET", "/threads/t/state", "", 200, `{"values":{"messages":[]}}`)
			h.recorded(own, "GET", "/threads/t/state", "", 404, `{"detail":"no"}`)
			h.recorded(own, "GET", "/threads/t/state", "", 200, `{"values":{"messages":[]}}`)
		}, true, true},
		"a run beyond the interface may be in progress": {served("create-run"), func(h *history) {
			h.recorded(own, "POST", "/threads", `{}`, 200, `{"thread_id":"t"}`)
			h.recorded(own, "POST", runs, runSaying("first", ""), 200, `{"run_id":"`+first+`"}`)
			h.recorded(own, "GET", runs+"/"+first+"/join", "", 200, `{}`)
			h.recorded(own, "POST", "/threads/t/elsewhere/start", `{}`, 200, `{}`)
			h.recorded(own, "POST", runs, runSaying("second", ""), 409, `{}`)
		}, true, false},
		"what its clients waited for is unknown": {`each run that the suite waited for has completed`, func(h *history) {
			h.recorded(own, "POST", runs, runSaying("first", ""), 200, `{"run_id":"`+first+`"}`)
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.target.Recorded = true
			c.record(h)
			judged, o := h.judged(c.step)
			assert.Equal(t, c.judged, judged > 0)
			if !c.fails {
				assert.Nil(t, o)
				return
			}
			require.NotNil(t, o)
			assert.Equal(t, reports.Failed, o.Verdict)
		})
	}
}

// TestIdentityInARecording checks that a user may have written the mail address of another one before the recording began.
func TestIdentityInARecording(t *testing.T) {
	const mail = "ada@example.org"
	for name, c := range map[string]struct {
		creates  bool
		response string
		fails    bool
	}{
		"in an old thread":           {false, `{"values":{"messages":[{"content":"write to ` + mail + `"}]}}`, false},
		"in a thread of its own":     {true, `{"values":{"messages":[{"content":"you are ` + mail + `"}]}}`, true},
		"as the owner of a thread":   {false, `{"metadata":{"owner":"` + mail + `"}}`, true},
		"in a new thread, of itself": {true, `{"metadata":{"owner":"bob"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, func(c *config.Config) { c.Users[0].Identity = mail })
			h.target.Recorded = true
			if c.creates {
				h.recorded("users.1", "POST", "/threads", `{}`, 200, `{"thread_id":"t"}`)
			}
			h.recorded("users.1", "GET", "/threads/t/state", "", 200, c.response)
			judged, o := h.judged(apart)
			assert.Positive(t, judged)
			assert.Equal(t, c.fails, o != nil, "%v", o)
		})
	}
}

// TestRefusalWithoutItsBody checks that the status of a refusal is judged even if the recording lacks its body, and that
// its detail is not.
func TestRefusalWithoutItsBody(t *testing.T) {
	for status, want := range map[int]bool{401: true, 403: false} {
		h := newHistory(t)
		h.target.Recorded = true
		r := h.target.ToAgent(agentBase, h.target.Owner(), "GET", "/threads", nil)
		r.Recorded = true
		r.Caller = exchange.Caller{Name: target.NoCredentials, Invalid: true}
		h.target.Collector.Observe(t.Context(), r, h.at, &exchange.Response{Request: r, Status: status, Cut: true}, "")
		judged, o := h.judged(`each refusal of the authentication handler has its status and detail`)
		assert.Equal(t, 1, judged)
		assert.Equal(t, want, o == nil, "%v", o)
	}
}
