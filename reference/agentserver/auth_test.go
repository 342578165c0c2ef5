package agentserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/store"
)

func TestAPIKeys(t *testing.T) {
	source := files{"main.star": "def agent(messages, config):\n  u = config['configurable']['graph_auth_user']\n  return u['identity'] + ' ' + type(u)\n"}
	s := newSite(t, source, Options{})
	thread, _, _ := s.ran("x")
	assert.Equal(t, "ai: owner User", s.texts(thread)[1])

	s = newSite(t, source, Options{APIKeyOwner: func(key string) (string, bool) { return "owner of " + key, key == "k1" }})
	assert.Equal(t, 401, s.do("GET", "/threads", "").status)
	s.headers["X-Api-Key"] = "k1"
	thread, _, _ = s.ran("x")
	assert.Equal(t, "ai: owner of k1 User", s.texts(thread)[1])
}

func authSite(t *testing.T, auth string, opts Options) *site {
	t.Helper()
	return newSite(t, files{"main.star": echo, "auth.star": auth}, opts)
}

func TestHandlerReadsRequestAndChoosesStatus(t *testing.T) {
	s := authSite(t, `
def auth(request):
    fail_http(int(request.query["status"]), json.encode([request.method, request.path, request.headers["x-thing"], request.query, type(request)]))
`, Options{})
	s.headers["X-THING"] = "a thing"
	for _, status := range []int{400, 418, 599} {
		a := s.do("POST", fmt.Sprintf("/threads/search?b=2&a=1&a=3&status=%d", status), "{}")
		assert.Equal(t, status, a.status)
		var seen []any
		require.NoError(t, json.Unmarshal([]byte(a.detail(t)), &seen))
		assert.Equal(t, []any{"POST", "/threads/search", "a thing", map[string]any{"a": "1", "b": "2", "status": fmt.Sprint(status)}, "Request"}, seen)
	}
	for _, status := range []int{0, 200, 399, 600} {
		a := s.do("GET", fmt.Sprintf("/threads?status=%d", status), "")
		assert.Equal(t, 500, a.status)
		assert.Contains(t, a.detail(t), "400 to 599")
	}
}

// TestFailingHandlers checks that an error of a handler returns 500 and is logged with its place.
func TestFailingHandlers(t *testing.T) {
	for body, detail := range map[string]string{
		"return {'name': 'x'}":                "returned no identity",
		"return {'identity': ''}":             "returned no identity",
		"return {'identity': 5}":              "returned no identity",
		"pass":                                "returned no identity",
		"return 'alice'":                      "returned no identity",
		"return {'identity': 'x', 'f': auth}": "cannot be written as JSON",
		"return 1 // 0":                       "auth.star:2:12",
		"fail('broken')":                      "auth.star:2:7: fail: broken",
		"return request.headers['nope']":      "auth.star:2:25",
		"while True: pass":                    "endless loop",
	} {
		var log bytes.Buffer
		s := authSite(t, "def auth(request):\n  "+body+"\n", Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		a := s.do("GET", "/threads", "")
		assert.Equal(t, 500, a.status, body)
		assert.Contains(t, a.detail(t), detail, body)
		assert.Contains(t, log.String(), "auth.star:auth")
		assert.Equal(t, 404, s.do("GET", "/nothing", "").status)
	}
}

func TestAuthorizationHandlers(t *testing.T) {
	s := authSite(t, `
def authenticate(request): return {'identity': 'x', 'permissions': ['p']}
def create(ctx, value):
    value["metadata"]["by"] = ctx.user.identity + "/" + ctx.user["identity"] + "/" + ctx.resource + "." + ctx.action + "/" + ctx.permissions[0]
    return None
def read(ctx, value): return True
def update(ctx, value): return False
def delete(ctx, value): fail_http(410, "never")
def search(ctx, value): return 5
def anything(ctx, value): fail("no handler for " + ctx.action)
auth = {"authenticate": authenticate, "on": {
    "threads.create": create, "threads.read": read, "threads.update": update, "threads.delete": delete, "threads.search": search, "*": anything}}
`, Options{})
	th := fetch[Thread](s, "POST", "/threads", `{"metadata": {"a": 1}}`)
	assert.Equal(t, map[string]any{"a": 1.0, "by": "x/x/threads.create/p"}, th.Metadata)
	for _, c := range []struct {
		method, below, body, detail string
		status                      int
	}{
		{"POST", "/" + th.ID + "/runs/" + store.NewID() + "/cancel", "", "Forbidden", 403},
		{"DELETE", "/" + th.ID, "", "never", 410},
		{"GET", "", "", "it must return a dict", 500},
		{"POST", "/" + th.ID + "/runs", runBody("main", "x", ""), "no handler for create_run", 500},
		{"GET", "/" + th.ID, "", "", 200},
	} {
		a := s.do(c.method, "/threads"+c.below, c.body)
		assert.Equal(t, c.status, a.status, a.body)
		assert.Contains(t, a.body, c.detail)
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	var log bytes.Buffer
	s := authSite(t, `
def auth(request):
    kind = request.query.get("kind")
    if kind == "fail": fail("the secret is " + env("CONFORMANCE_USERS") + " or " + json.decode(env("CONFORMANCE_USERS"))[0]["token"])
    if kind == "http": fail_http(401, "not " + json.decode(env("CONFORMANCE_USERS"))[0]["token"])
    print("printing", json.decode(env("CONFORMANCE_USERS"))[1]["token"], env("NOT_SET", "unset"), env("NOT_SET"))
    return {"identity": "x", "token": json.decode(env("CONFORMANCE_USERS"))[0]["token"]}
`, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, kind := range []string{"fail", "http", ""} {
		assert.NotContains(t, s.do("GET", "/threads?kind="+kind, "").body, "alice-token")
	}
	thread, _, _ := s.ran("x")
	assert.NotContains(t, s.do("GET", "/threads/"+thread+"/state", "").body, "alice-token")
	assert.Contains(t, log.String(), "unset None")
	assert.NotContains(t, log.String(), "-token")
}

// TestTokensOfUsersAreRedacted has a graph fail with all fields of the user.
func TestTokensOfUsersAreRedacted(t *testing.T) {
	s := newSite(t, files{
		"auth.star": "def auth(request):\n  return {'identity': 'x', 'role': 'developer', 'access_token': 'token-a', " +
			"'nested': [{'api_key': 'token-a-and-more'}]}\n",
		"main.star": "def agent(messages, config):\n  fail(json.encode(dict(config['configurable']['graph_auth_user'].items())))\n",
	}, Options{})
	thread, run, joined := s.ran("x")
	for _, text := range []string{joined.body, run.Reason, s.do("GET", "/threads/"+thread+"/state", "").body} {
		assert.NotContains(t, text, "token-a")
		assert.NotContains(t, text, "and-more")
	}
	assert.Contains(t, joined.body, "[secret]")
	assert.Contains(t, joined.body, "developer", "other fields are not redacted")
}
