package agentserver

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// withOptions is the body of a run with options, written as JSON.
func withOptions(t testing.TB, graph, text, options string) string {
	t.Helper()
	var body, more map[string]any
	require.NoError(t, json.Unmarshal([]byte(runBody(graph, text, "")), &body))
	require.NoError(t, json.Unmarshal([]byte(options), &more), options)
	maps.Copy(body, more)
	data, err := json.Marshal(body)
	require.NoError(t, err)
	return string(data)
}

func TestOptionsOfARunAreHonouredOrRefusedByName(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	on, without := "/threads/"+thread+"/runs", "/runs"
	for _, c := range []struct{ path, options, refused string }{ // refused: the name in the detail; empty: the run is accepted
		{on, `{"webhook": "https://example.org"}`, "webhook"}, {on, `{"webhook": null}`, ""},
		{on, `{"after_seconds": 5}`, "after_seconds"}, {on, `{"after_seconds": -1}`, "after_seconds"}, {on, `{"after_seconds": 0}`, ""}, {on, `{"after_seconds": 0.0}`, ""},
		{on, `{"interrupt_before": ["x"]}`, "interrupt_before"}, {on, `{"interrupt_after": "*"}`, "interrupt_after"}, {on, `{"interrupt_before": [], "interrupt_after": null}`, ""},
		{on, `{"checkpoint": {"checkpoint_id": "x"}}`, "checkpoint"}, {on, `{"checkpoint": {"checkpoint_id": null, "checkpoint_ns": ""}}`, ""},
		{on, `{"checkpoint_id": "x"}`, "checkpoint_id"}, {on, `{"command": {"resume": 1}}`, "command"}, {on, `{"command": null}`, ""},
		{on, `{"feedback_keys": ["x"]}`, "feedback_keys"}, {on, `{"strict_resume": true}`, "strict_resume"}, {on, `{"strict_resume": false}`, ""},
		{on, `{"durability": "exit"}`, "durability"}, {on, `{"durability": "sync"}`, ""}, {on, `{"durability": "async"}`, ""}, {on, `{"durability": 1}`, "durability"},
		{on, `{"checkpoint_during": false}`, "checkpoint_during"}, {on, `{"checkpoint_during": true}`, ""},
		{on, `{"stream_mode": "values", "stream_subgraphs": false, "stream_resumable": false}`, ""}, {on, `{"stream_mode": ["updates", "messages", "messages-tuple"]}`, ""},
		{on, `{"stream_mode": "debug"}`, "stream_mode"}, {on, `{"stream_mode": ["values", "events"]}`, "stream_mode"}, {on, `{"stream_mode": 1}`, "stream_mode"},
		{on, `{"stream_subgraphs": "x"}`, "stream_subgraphs"}, {on, `{"stream_subgraphs": true, "stream_resumable": true}`, ""},
		{on, `{"if_not_exists": "reject"}`, ""}, {on, `{"if_not_exists": "create"}`, ""}, {on, `{"if_not_exists": "x"}`, "if_not_exists"},
		{on, `{"on_completion": "keep"}`, ""}, {on, `{"on_completion": "delete"}`, "on_completion"},
		{on, `{"on_disconnect": "continue"}`, ""}, {on, `{"on_disconnect": "cancel"}`, "on_disconnect"},
		{on + "/wait", `{"on_disconnect": "cancel"}`, ""}, {on + "/wait", `{"on_disconnect": "x"}`, "on_disconnect"},
		{on, `{"colour": "red"}`, "colour"}, {on, `{"colour": null}`, "colour"}, {on, `{"config": {"run_name": "x"}}`, "config.run_name"}, {on, `{"config": 1}`, "config"},
		{on, `{"config": {"tags": ["x"], "recursion_limit": 25, "configurable": {"thread_id": "` + thread + `"}}}`, ""},
		{on, `{"config": {"tags": [1]}}`, "config.tags"}, {on, `{"config": {"recursion_limit": 0}}`, "config.recursion_limit"}, {on, `{"config": {"metadata": 1}}`, "config.metadata"},
		{on, `{"config": {"configurable": {"thread_id": "other"}}}`, "thread_id"}, {on, `{"config": {"configurable": {"run_id": "x"}}}`, "run_id"},
		{on, `{"config": {"configurable": {"graph_auth_user": {"identity": "x"}}}}`, "graph_auth_user"}, {on, `{"context": {"graph_auth_user": {"identity": "x"}}}`, "graph_auth_user"},
		{on, `{"config": {"configurable": {"brand_auth_user_id": "x"}}}`, "brand_auth_user_id"}, {on, `{"config": {"configurable": {"__x": 1}}}`, "__x"},
		{on, `{"config": {"configurable": {"a": 1}}, "context": {"b": 1}}`, "context"}, {on, `{"config": {"configurable": {}}, "context": {"b": 1}}`, ""},
		{without, `{"on_completion": "keep"}`, ""}, {without, `{"on_completion": "delete", "if_not_exists": "create"}`, ""}, {without, `{"on_completion": "x"}`, "on_completion"},
		{without, `{"config": {"configurable": {"thread_id": "` + thread + `"}}}`, "thread_id"}, {without + "/wait", `{"webhook": "x"}`, "webhook"},
		{without + "/stream", `{"stream_mode": "custom"}`, "stream_mode"}, {without, `{"input": null}`, "input"}, {on + "/wait", `{"input": null}`, "input"},
	} {
		a := alice.do("POST", c.path, withOptions(t, "conformance", "x", c.options))
		if c.refused == "" {
			assert.Equal(t, 200, a.status, "%s %s: %s", c.path, c.options, a.body)
			continue
		}
		if assert.Equal(t, 422, a.status, "%s %s: %s", c.path, c.options, a.body) {
			assert.Contains(t, a.detail(t), c.refused, c.options)
		}
	}
}

func TestConfigReachesTheGraphAndNeverReplacesTheUser(t *testing.T) {
	app := appOf(t, map[string]string{
		"main.star": "def agent(messages, config):\n  return json.encode([config.get('tags'), config.get('recursion_limit'), config['metadata'], sorted(config['configurable'].keys()), config['configurable'].get('model'), config['configurable']['graph_auth_user']['identity']])\n",
	})
	u := newSite(t, app, Options{Owner: "me"}).nobody()
	thread := u.thread()
	for options, want := range map[string]string{
		`{"config": {"configurable": {"model": "m"}, "tags": ["a"], "recursion_limit": 7, "metadata": {"k": 1}}, "metadata": {"l": 2}}`: `[["a"],7,{"k":1,"l":2},["assistant_id","graph_auth_user","model","run_id","thread_id"],"m","me"]`,
		`{"context": {"model": "c"}}`: `[null,null,{},["assistant_id","graph_auth_user","model","run_id","thread_id"],"c","me"]`,
	} {
		var values struct{ Messages []threads.Message }
		u.ok("POST", "/threads/"+thread+"/runs/wait", withOptions(t, "main", "x", options)).json(t, &values)
		assert.Equal(t, want, values.Messages[len(values.Messages)-1].Content)
	}
}

func TestAThreadIsCreatedWhereThatIsAskedFor(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice, id := s.alice(), threads.NewID()
	create := func(graph, options string) string { return withOptions(t, graph, "x", options) }
	at := "/threads/" + id + "/runs"
	assert.Equal(t, 404, alice.do("POST", at, create("conformance", `{}`)).status)
	assert.Equal(t, 404, alice.do("POST", at, create("nobody", `{"if_not_exists": "create"}`)).status)
	assert.Equal(t, 404, alice.do("GET", "/threads/"+id, "").status, "no thread is left of a run that was refused")
	alice.ok("POST", at+"/wait", create("conformance", `{"if_not_exists": "create", "metadata": {"owner": "bob@example.org", "k": "v"}}`))
	var th threads.Thread
	alice.ok("GET", "/threads/"+id, "").json(t, &th)
	assert.Equal(t, map[string]any{"owner": "alice@example.org", "k": "v", "graph_id": "conformance", "assistant_id": "conformance"}, th.Metadata)
	assert.Equal(t, 404, s.bob().do("POST", at, create("conformance", `{"if_not_exists": "create"}`)).status, "another's thread is not created again")
	assert.Len(t, alice.texts(id), 2)
}
