package agentserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/spec"
)

// unreadableValues are values of JSON that no script can hold.
var unreadableValues = []string{"1e999", "-1e400", `[{"a": 1e999}]`}

// FuzzBody sends any body to the routes that take one. The answer is JSON, and never our fault.
func FuzzBody(f *testing.F) {
	s := conformanceSite(f, Options{}).direct()
	f.Add(2, runBody("conformance", "hello", "rollback"))
	f.Add(2, `{"assistant_id": "conformance", "input": {"messages": [{"type": "ai", "content": [{"a": 1e999}], "id": "", "x": null}]}}`)
	for _, value := range unreadableValues {
		for route := range 3 {
			f.Add(route, fmt.Sprintf(`{"metadata": {"a": %s}, "assistant_id": "conformance", "input": {"messages": []}}`, value))
		}
	}
	f.Add(0, `{"metadata": {"a": -0.0, "b": 1E-400, "c": {"d": []}}}`)
	f.Fuzz(func(t *testing.T, route int, body string) {
		at := *s
		at.t = t
		at.client = &http.Client{Transport: &contractcheck.Transport{
			T: t, Inner: inProcess{s.server}, Side: contractcheck.Only(spec.AgentServer), AtRandom: true,
		}}
		u := at.alice()
		thread := u.thread()
		routes := []string{"/threads", "/threads/search", "/threads/" + thread + "/runs"}
		chosen := max(route, -(route+1)) % len(routes)
		a := u.do("POST", routes[chosen], body)
		assert.Less(t, a.status, 500, "%s: %s", routes[chosen], a.body)
		assert.True(t, json.Valid([]byte(a.body)), "%s: %q", routes[chosen], a.body)
		if chosen == 2 && a.status == 200 {
			var r Run
			a.json(t, &r)
			assert.Equal(t, 200, u.join(thread, r.ID).status)
		}
		assert.Equal(t, 200, u.do("GET", "/threads/"+thread+"/state", "").status)
		assert.Equal(t, 204, u.do("DELETE", "/threads/"+thread, "").status)
	})
}
