package agentserver

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/spec"
)

// Whatever is sent as a run, the answer is JSON, and never our fault.
func FuzzRunBody(f *testing.F) {
	s := newSite(f, appOf(f, map[string]string{"main.star": echo}), Options{}).direct()
	u := s.nobody()
	thread := u.thread()
	f.Add(runBody("main", "hello", "rollback"))
	f.Add(`{"assistant_id": "main", "input": {"messages": [{"type": "ai", "content": [{"a": 1e999}], "id": "", "x": null}]}, "metadata": {"a": 1}}`)
	f.Fuzz(func(t *testing.T, body string) {
		at := *s
		at.t = t
		at.client = &http.Client{Transport: &contractcheck.Transport{
			T: t, Inner: inProcess{s.server}, Side: contractcheck.Only(spec.AgentServer), AtRandom: true,
		}}
		u := at.nobody()
		a := u.do("POST", "/threads/"+thread+"/runs", body)
		assert.Less(t, a.status, 500, a.body)
		assert.True(t, json.Valid([]byte(a.body)))
		assert.Equal(t, 200, u.do("GET", "/threads/"+thread+"/state", "").status)
		if a.status == 200 {
			var r threads.Run
			a.json(t, &r)
			assert.Equal(t, 200, u.join(thread, r.ID).status)
			assert.Equal(t, 204, u.do("DELETE", "/threads/"+thread+"/runs/"+r.ID, "").status)
		}
	})
}
