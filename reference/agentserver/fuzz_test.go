package agentserver

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzBody sends random bodies to the routes that accept one. The response must be JSON and no 5xx.
func FuzzBody(f *testing.F) {
	site := conformanceSite(f)
	f.Add(2, runBody("conformance", "hello", "rollback"))
	f.Add(2, `{"assistant_id": "conformance", "input": {"messages": [{"type": "ai", "content": [{"a": 1e999}], "id": "", "x": null}]}}`)
	for _, value := range []string{"1e999", "-1e400", `[{"a": 1e999}]`} { // valid JSON that scripts cannot represent
		for route := range 3 {
			f.Add(route, fmt.Sprintf(`{"metadata": {"a": %s}, "assistant_id": "conformance", "input": {"messages": []}}`, value))
		}
	}
	f.Add(0, `{"metadata": {"a": -0.0, "b": 1E-400, "c": {"d": []}}}`)
	f.Fuzz(func(t *testing.T, route int, body string) {
		s := *site
		s.t, s.wire.T, s.wire.AtRandom = t, t, true
		thread := s.thread()
		routes := []string{"/threads", "/threads/search", "/threads/" + thread + "/runs"}
		chosen := max(route, -(route+1)) % len(routes)
		a := s.do("POST", routes[chosen], body)
		assert.Less(t, a.status, 500, "%s: %s", routes[chosen], a.body)
		assert.True(t, json.Valid([]byte(a.body)), "%s: %q", routes[chosen], a.body)
		if chosen == 2 && a.status == 200 {
			var r Run
			a.json(t, &r)
			assert.Equal(t, 200, s.join(thread, r.ID).status)
		}
		assert.Equal(t, 200, s.do("GET", "/threads/"+thread+"/state", "").status)
		assert.Equal(t, 204, s.do("DELETE", "/threads/"+thread, "").status)
	})
}
