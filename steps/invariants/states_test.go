package invariants

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/target"
)

// TestStatesThatNeverExisted judges histories that end with the read in question, one second after the previous exchange.
func TestStatesThatNeverExisted(t *testing.T) {
	const (
		state      = `no state lacks a completed run that it had shown before`
		deployment = `no deployment names a revision of another deployment`
		full       = `{"values":{"messages":[{"type":"human","content":"hello"},{"type":"ai","content":"hello"}]}}`
		empty      = `{"values":{"messages":[]}}`
	)
	run := func(h *history, method, path, body string, status int, response string) {
		h.agent(h.target.CallerWith("users.0"), method, path, body, status, response)
	}
	thread := func(h *history) { run(h, "POST", "/threads", `{}`, 200, `{"thread_id":"`+one+`"}`) }
	accepted := func(h *history) {
		thread(h)
		run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"`+two+`"}`)
	}
	completed := func(h *history) {
		accepted(h)
		run(h, "GET", "/threads/"+one+"/runs/"+two+"/join", "", 200, `{}`)
	}
	reads := func(h *history, body string) { run(h, "GET", "/threads/"+one+"/state", "", 200, body) }
	deployed := func(h *history, id, revision string) {
		h.plane(target.TheClient, "POST", "/v2/deployments", `{}`, 201, `{"id":"`+id+`","latest_revision_id":"`+revision+`"}`)
	}
	names := func(h *history, id, revision string) {
		h.plane(target.TheClient, "GET", "/v2/deployments/"+id, "", 200, `{"id":"`+id+`","latest_revision_id":"`+revision+`"}`)
	}
	for _, row := range []struct {
		name, sentence string
		history        func(h *history)
		fails          bool
	}{
		{"a state that was shown before is empty", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			reads(h, empty)
		}, true},
		{"a state that was never shown is empty", state, func(h *history) {
			completed(h)
			reads(h, empty)
			reads(h, empty)
		}, false},
		{"a state of a run that has not ended", state, func(h *history) {
			accepted(h)
			reads(h, full)
			reads(h, empty)
		}, false},
		{"a state after a later run", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			run(h, "POST", "/threads/"+one+"/runs", runBody, 200, `{"run_id":"three"}`)
			reads(h, empty)
		}, false},
		{"a state after a request with an unknown effect", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			run(h, "DELETE", "/threads/"+one, "", 204, "")
			reads(h, empty)
		}, false},

		{"a state after a vendor request of another user that was refused", state, func(h *history) {
			completed(h)
			reads(h, full)
			reads(h, full)
			h.agent(h.target.CallerWith("users.1"), "POST", "/threads/"+one+"/history", `{}`, 404, `{}`)
			reads(h, empty)
		}, true},

		{"a deployment names its revision", deployment, func(h *history) {
			deployed(h, one, two)
			names(h, one, two)
		}, false},
		{"a deployment names a revision that an update may have created", deployment, func(h *history) {
			deployed(h, one, two)
			names(h, one, "three")
		}, false},
		{"a deployment names the revision of another one", deployment, func(h *history) {
			deployed(h, one, two)
			deployed(h, "four", "five")
			names(h, one, "five")
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newHistory(t)
			row.history(h)
			_, o := h.judged(row.sentence)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}
