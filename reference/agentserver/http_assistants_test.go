package agentserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type seenAssistant struct {
	ID    string `json:"assistant_id"`
	Graph string `json:"graph_id"`
	Name  string
}

func TestAssistantsAreTheDeployedGraphs(t *testing.T) {
	app := appOf(t, map[string]string{
		"main.star": echo, "agent.json": `{"graphs": {"beta": "main.star:agent", "alpha": "main.star:agent", "gamma": "main.star:agent"}}`,
	})
	u := newSite(t, app, Options{}).nobody()
	for _, c := range []struct{ body, want string }{
		{"", "alpha beta gamma"}, {`{"limit": 10, "offset": 0}`, "alpha beta gamma"},
		{`{"sort_by": "name"}`, "gamma beta alpha"}, {`{"sort_by": "assistant_id", "sort_order": "asc"}`, "alpha beta gamma"},
		{`{"graph_id": "beta"}`, "beta"}, {`{"graph_id": "bet"}`, ""}, {`{"name": "ET"}`, "beta"}, {`{"limit": 1, "offset": 1}`, "beta"},
		{`{"metadata": {"created_by": "system"}}`, "alpha beta gamma"}, {`{"metadata": {"created_by": "user"}}`, ""},
	} {
		var list []seenAssistant
		u.ok("POST", "/assistants/search", c.body).json(t, &list)
		var got []string
		for _, a := range list {
			got = append(got, a.ID)
			assert.Equal(t, seenAssistant{a.ID, a.ID, a.ID}, a)
		}
		assert.Equal(t, c.want, strings.Join(got, " "), c.body)
	}
	page := u.ok("POST", "/assistants/search", `{"limit": 2, "select": ["name"]}`)
	assert.JSONEq(t, `[{"name": "alpha"}, {"name": "beta"}]`, page.body)
	assert.Equal(t, "2", page.header.Get("X-Pagination-Next"))
	assert.Equal(t, "1", strings.TrimSpace(u.ok("POST", "/assistants/count", `{"name": "al"}`).body))

	var one seenAssistant
	u.ok("GET", "/assistants/alpha", "").json(t, &one)
	assert.Equal(t, "alpha", one.Graph)
	var graph struct {
		Nodes []struct{ ID string }
		Edges []struct{ Source, Target string }
	}
	u.ok("GET", "/assistants/alpha/graph?xray=2", "").json(t, &graph)
	require.Len(t, graph.Nodes, 3)
	assert.Equal(t, "alpha", graph.Nodes[1].ID)
	assert.Equal(t, "alpha", graph.Edges[0].Target)
	var schemas map[string]any
	u.ok("GET", "/assistants/alpha/schemas", "").json(t, &schemas)
	assert.Equal(t, "alpha", schemas["graph_id"])
	assert.Contains(t, schemas["input_schema"].(map[string]any)["properties"], "messages")
	assert.JSONEq(t, "{}", u.ok("GET", "/assistants/alpha/subgraphs?recurse=false", "").body)
	for _, path := range []string{"", "/graph", "/schemas", "/subgraphs"} {
		assert.Equal(t, 404, u.do("GET", "/assistants/delta"+path, "").status, path)
	}

	thread := u.thread()
	u.join(thread, u.runOf(one.ID, thread, "hello", ""))
	assert.Equal(t, []string{"human: hello", "ai: heard hello"}, u.texts(thread))
}

func TestAHandlerDecidesAboutAssistants(t *testing.T) {
	const handler = `
def authenticate(request):
  return {"identity": request.headers.get("x-user", "")}
def nobody(ctx, value):
  return ctx.user.identity == "admin"
def owned(ctx, value):
  return {"owner": ctx.user.identity}
auth = {"authenticate": authenticate, "on": {"assistants.read": nobody, "assistants": owned}}
`
	s := newSite(t, appOf(t, map[string]string{"main.star": echo, "auth.star": handler}), Options{})
	admin, guest := as{s, map[string]string{"X-User": "admin"}}, as{s, map[string]string{"X-User": "guest"}}
	assert.Equal(t, 200, admin.do("GET", "/assistants/main", "").status)
	for _, path := range []string{"/assistants/main", "/assistants/main/graph", "/assistants/main/schemas", "/assistants/main/subgraphs"} {
		assert.Equal(t, 403, guest.do("GET", path, "").status, path)
	}
	assert.JSONEq(t, "[]", admin.ok("POST", "/assistants/search", "{}").body)
	assert.Equal(t, "0", strings.TrimSpace(admin.ok("POST", "/assistants/count", "{}").body))
}

func TestWhatTheServerDoesNotHaveIsNotFound(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	for _, c := range []struct{ method, path, body, says string }{
		{"PUT", "/store/items", "{}", "no store"}, {"GET", "/store/items", "", "no store"}, {"DELETE", "/store/items", "{}", "no store"},
		{"POST", "/store/items/search", "{}", "no store"}, {"POST", "/store/namespaces", "{}", "no store"},
		{"POST", "/runs/crons", "{}", "no crons"}, {"POST", "/runs/crons/search", "{}", "no crons"}, {"POST", "/runs/crons/count", "{}", "no crons"},
		{"DELETE", "/runs/crons/1", "", "no crons"}, {"POST", "/threads/" + alice.thread() + "/runs/crons", "{}", "no crons"},
		{"POST", "/assistants", "{}", "deployed graphs"}, {"POST", "/assistants/conformance/versions", "{}", "deployed graphs"},
		{"POST", "/threads/prune", "{}", "DELETE /threads/{thread_id}"},
	} {
		a := alice.do(c.method, c.path, c.body)
		assert.Equal(t, 404, a.status, c.path)
		assert.Contains(t, a.detail(t), c.says, c.path)
	}
	for _, path := range []string{"/ok", "/info"} {
		assert.Equal(t, 200, s.nobody().do("GET", path, "").status)
		assert.Equal(t, 405, s.nobody().do("POST", path, "{}").status)
	}
	assert.JSONEq(t, `{"ok": true}`, s.nobody().ok("GET", "/ok", "").body)
	assert.Contains(t, s.nobody().ok("GET", "/info", "").body, `"crons":false`)
}
