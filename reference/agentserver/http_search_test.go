package agentserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// found is a thread as a search finds it.
type found struct {
	threads.Thread
	Values map[string][]threads.Message
}

func TestThreadsAreFoundByEveryOption(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }
	for n, metadata := range []string{`{"n": 0, "deep": {"a": 1, "b": [1, 2]}}`, `{"n": 1, "deep": {"a": 2}}`, `{"n": 2}`} {
		alice.ok("POST", "/threads", fmt.Sprintf(`{"thread_id": %q, "metadata": %s}`, id(3-n), metadata))
	}
	zero, one, two := id(3), id(2), id(1) // in the order of their creation
	names := map[string]string{zero: "zero", one: "one", two: "two"}
	alice.join(zero, alice.run(zero, "please fail", ""))
	alice.join(one, alice.run(one, "hello", ""))
	bobs := s.bob().thread()

	for _, c := range []struct{ body, want string }{
		{`{}`, "two one zero"},
		{`{"sort_by": "created_at", "sort_order": "asc"}`, "zero one two"},
		{`{"sort_order": "asc"}`, "zero one two"},
		{`{"sort_by": "thread_id", "sort_order": "asc"}`, "two one zero"},
		{`{"sort_by": "thread_id"}`, "zero one two"},
		{`{"sort_by": "status", "sort_order": "asc", "limit": 1}`, "zero"}, // error
		{`{"sort_by": "updated_at"}`, "one zero two"},
		{`{"limit": 1, "offset": 1}`, "one"},
		{`{"limit": null, "offset": null, "extract": {}, "ids": null, "select": null}`, "two one zero"},
		{`{"ids": ["` + one + `", "` + bobs + `"]}`, "one"},
		{`{"status": "error"}`, "zero"},
		{`{"status": "idle"}`, "two one"},
		{`{"metadata": {"deep": {"a": 1}}}`, "zero"},
		{`{"metadata": {"deep": {"b": [2]}}}`, "zero"},
		{`{"metadata": {"deep": {}}}`, "one zero"},
		{`{"metadata": {"owner": "bob@example.org"}}`, ""},
		{`{"values": {"messages": [{"type": "human", "content": "hello"}]}}`, "one"},
		{`{"values": {"messages": [{"type": "ai", "content": "hello"}]}}`, ""},
		{`{"values": {"messages": []}}`, "one zero"},
		{`{"values": {"other": 1}}`, ""},
		{`{"values": {"messages": [{"type": "human"}]}, "metadata": {"n": 0}, "status": "error"}`, "zero"},
	} {
		var list []found
		alice.ok("POST", "/threads/search", c.body).json(t, &list)
		var got []string
		for _, f := range list {
			got = append(got, names[f.ID])
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.body)
	}

	var list []found
	alice.ok("POST", "/threads/search", `{"ids": ["`+one+`"]}`).json(t, &list)
	require.Len(t, list[0].Values["messages"], 2)
	assert.Equal(t, "hello", list[0].Values["messages"][0].Content)

	var selection []map[string]any
	alice.ok("POST", "/threads/search", `{"select": ["status", "values"], "limit": 1}`).json(t, &selection)
	assert.Equal(t, []map[string]any{{"thread_id": two, "status": "idle", "values": map[string]any{}}}, selection)
}

func TestPagesOfThreadsAndTheirNumber(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	var made []string
	for range 3 {
		made = append(made, alice.thread())
	}
	s.bob().thread()
	first := alice.ok("POST", "/threads/search", `{"limit": 2, "sort_by": "thread_id", "sort_order": "asc"}`)
	assert.Equal(t, "3", first.header.Get("X-Pagination-Total"))
	assert.Equal(t, "2", first.header.Get("X-Pagination-Next"))
	last := alice.ok("POST", "/threads/search", `{"limit": 1, "offset": 2, "sort_by": "thread_id", "sort_order": "asc"}`)
	assert.Empty(t, last.header.Get("X-Pagination-Next"))
	var got []string
	for _, a := range []answered{first, last} {
		var list []found
		a.json(t, &list)
		for _, f := range list {
			got = append(got, f.ID)
		}
	}
	slices.Sort(made)
	assert.Equal(t, made, got)

	alice.join(made[0], alice.run(made[0], "hello", ""))
	for body, want := range map[string]string{
		"": "3", `{}`: "3", `{"status": "busy"}`: "0", `{"metadata": {"owner": "bob@example.org"}}`: "0",
		`{"values": {"messages": [{"content": "hello"}]}}`: "1",
	} {
		assert.Equal(t, want, strings.TrimSpace(alice.ok("POST", "/threads/count", body).body), body)
	}
	assert.Equal(t, "1", strings.TrimSpace(s.bob().ok("POST", "/threads/count", "{}").body))
}

func TestWhatIsNotHonouredIsRefusedByName(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := "/threads/" + alice.thread()
	for _, c := range []struct{ method, path, body, names string }{
		{"POST", "/threads", `{"supersteps": [{"updates": []}]}`, "supersteps"}, {"POST", "/threads", `{"ttl": {"ttl": 1}}`, "ttl"},
		{"POST", "/threads", `{"graph_id": "conformance"}`, "metadata.graph_id"}, {"POST", "/threads", `{"unknown": null}`, "unknown"},
		{"GET", thread + "?include=ttl", "", "include"}, {"PATCH", thread, `{"metadata": {}, "ttl": 5}`, "ttl"}, {"PATCH", thread, `{"status": "idle"}`, "status"},
		{"POST", thread + "/copy", `{"metadata": {}}`, "metadata"},
		{"POST", "/threads/search", `{"extract": {"a": "values.messages[-1]"}}`, "extract"}, {"POST", "/threads/search", `{"sort_by": "state_updated_at"}`, "sort_by"},
		{"POST", "/threads/search", `{"sort_order": "up"}`, "sort_order"}, {"POST", "/threads/search", `{"select": ["context"]}`, "select"},
		{"POST", "/threads/search", `{"select": "values"}`, "select"}, {"POST", "/threads/search", `{"status": "done"}`, "status"},
		{"POST", "/threads/search", `{"values": []}`, "values"}, {"POST", "/threads/search", `{"query": "x"}`, "query"},
		{"POST", "/threads/count", `{"limit": 1}`, "limit"}, {"POST", "/threads/count", `{"status": "done"}`, "status"},
		{"GET", thread + "/state?select=values", "", "select"}, {"GET", thread + "/state?subgraphs=2", "", "subgraphs"},
		{"POST", thread + "/state/checkpoint", `{"select": ["values"]}`, "select"}, {"POST", thread + "/state/checkpoint", `{"subgraphs": "yes"}`, "subgraphs"},
		{"POST", thread + "/state/checkpoint", `{"checkpoint": {"checkpoint_ns": "inner"}}`, "checkpoint_ns"},
		{"POST", thread + "/state/checkpoint", `{"checkpoint": {"thread_id": "` + uuid.NewString() + `"}}`, "thread_id"},
		{"POST", thread + "/history", `{"limit": 0}`, "limit"}, {"GET", thread + "/history?limit=x", "", "limit"}, {"POST", thread + "/history", `{"select": ["values"]}`, "select"},
		{"POST", thread + "/history", `{"checkpoint": {"checkpoint_id": "x"}}`, "checkpoint_id"}, {"POST", thread + "/history", `{"before": 5}`, "before"},
		{"POST", thread + "/state", `{}`, "values"}, {"POST", thread + "/state", `{"values": null}`, "values"}, {"POST", thread + "/state", `{"values": {"other": 1}}`, "values.other"},
		{"POST", thread + "/state", `{"values": {"messages": []}}`, "values.messages"}, {"POST", thread + "/state", `{"values": {"messages": [{"content": "x"}]}}`, "values.messages[0]"},
		{"POST", thread + "/state", `{"values": {"messages": [{"role": "user", "content": "x"}]}, "as_node": "nobody"}`, "as_node"},
		{"POST", thread + "/state", `{"values": {"messages": [{"role": "user", "content": "x"}]}, "checkpoint_id": "` + uuid.NewString() + `"}`, "checkpoint"},
		{"POST", "/assistants/search", `{"config": {}}`, "config"}, {"POST", "/assistants/search", `{"sort_by": "version"}`, "sort_by"},
		{"POST", "/assistants/count", `{"limit": 1}`, "limit"}, {"GET", "/assistants/conformance/graph?xray=deep", "", "xray"},
	} {
		a := alice.do(c.method, c.path, c.body)
		assert.Equal(t, 422, a.status, "%s %s %s: %s", c.method, c.path, c.body, a.body)
		assert.Contains(t, a.detail(t), c.names, "%s %s %s", c.method, c.path, c.body)
	}
	assert.Equal(t, "1", strings.TrimSpace(alice.ok("POST", "/threads/count", "").body), "a refused thread is not created")
	alice.ok("POST", "/threads", `{"supersteps": [], "ttl": null, "metadata": null, "if_exists": null, "thread_id": null}`)
}
