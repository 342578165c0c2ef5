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

func TestWithoutAHandlerOnlyTheOwnerOfTheKeyIsSeen(t *testing.T) {
	files := map[string]string{"main.star": "def agent(messages, config):\n  u = config['configurable']['graph_auth_user']\n  return u['identity'] + ' ' + type(u)\n"}
	s := newSite(t, appOf(t, files), Options{})
	u := s.nobody()
	thread := u.thread()
	u.join(thread, u.runOf("main", thread, "x", ""))
	assert.Equal(t, "ai: owner User", u.texts(thread)[1])
	assert.Equal(t, 200, s.alice().do("GET", "/threads/"+thread, "").status, "requests are not scoped")

	s = newSite(t, appOf(t, files), Options{APIKeyOwner: func(key string) (string, bool) { return "owner of " + key, key == "k1" }})
	assert.Equal(t, 401, s.nobody().do("GET", "/threads", "").status)
	keyed := as{site: s, headers: map[string]string{"X-Api-Key": "k1"}}
	thread = keyed.thread()
	keyed.join(thread, keyed.runOf("main", thread, "x", ""))
	assert.Equal(t, "ai: owner of k1 User", keyed.texts(thread)[1])
}

const authenticateAnyone = "def authenticate(request):\n  return {'identity': 'x', 'permissions': ['p']}\n"

func authSite(t *testing.T, auth string, opts Options) *site {
	t.Helper()
	return newSite(t, appOf(t, map[string]string{"main.star": echo, "auth.star": auth}), opts)
}

func TestAHandlerChoosesAnyErrorStatus(t *testing.T) {
	s := authSite(t, "def auth(request):\n  fail_http(int(request.query['status']), 'because of ' + request.query['status'])\n", Options{})
	for status := 400; status <= 599; status++ {
		a := s.nobody().do("GET", fmt.Sprintf("/threads?status=%d", status), "")
		assert.Equal(t, status, a.status)
		assert.Equal(t, fmt.Sprintf("because of %d", status), a.detail(t))
	}
	for _, status := range []int{0, 200, 302, 399, 600} {
		a := s.nobody().do("GET", fmt.Sprintf("/threads?status=%d", status), "")
		assert.Equal(t, 500, a.status)
		assert.Contains(t, a.detail(t), "400 to 599")
	}
}

// A handler that does wrong is a 500 that says so, logged with its place, and the server lives on.
func TestFailingHandlers(t *testing.T) {
	for name, c := range map[string]struct{ body, detail string }{
		"no identity":    {"return {'name': 'x'}", "returned no identity"},
		"empty identity": {"return {'identity': ''}", "returned no identity"},
		"odd identity":   {"return {'identity': 5}", "returned no identity"},
		"nothing":        {"pass", "returned no identity"},
		"a text":         {"return 'alice'", "returned no identity"},
		"a function":     {"return {'identity': 'x', 'f': auth}", "cannot be written as JSON"},
		"an error":       {"return 1 // 0", "auth.star:2:12"},
		"a failure":      {"fail('broken')", "auth.star:2:7: fail: broken"},
		"a missing key":  {"return request.headers['nope']", "auth.star:2:25"},
		"endless":        {"while True: pass", "endless loop"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s := authSite(t, "def auth(request):\n  "+c.body+"\n", Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			a := s.nobody().do("GET", "/threads", "")
			assert.Equal(t, 500, a.status)
			assert.Contains(t, a.detail(t), c.detail)
			assert.Contains(t, log.String(), "auth.star:auth")
			assert.Equal(t, 404, s.nobody().do("GET", "/nothing", "").status)
		})
	}
}

func TestAHandlerSeesTheRequest(t *testing.T) {
	s := authSite(t, `
def auth(request):
    fail_http(418, json.encode([request.method, request.path, request.headers["x-thing"], request.query, type(request), "x-none" in request.headers]))
`, Options{})
	a := as{site: s, headers: map[string]string{"X-THING": "a thing"}}.do("POST", "/threads/search?b=2&a=1&a=3", "{}")
	assert.Equal(t, 418, a.status)
	var seen []any
	require.NoError(t, json.Unmarshal([]byte(a.detail(t)), &seen))
	assert.Equal(t, []any{"POST", "/threads/search", "a thing", map[string]any{"a": "1", "b": "2"}, "Request", false}, seen)
}

func TestAuthorizationHandlers(t *testing.T) {
	s := authSite(t, authenticateAnyone+`
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
	u := s.nobody()
	var th Thread
	u.ok("POST", "/threads", `{"metadata": {"a": 1}}`).json(t, &th)
	assert.Equal(t, map[string]any{"a": 1.0, "by": "x/x/threads.create/p"}, th.Metadata)
	u.ok("GET", "/threads/"+th.ID, "")
	assert.Equal(t, 403, u.do("POST", "/threads/"+th.ID+"/runs/"+store.NewID()+"/cancel", "").status)
	deleted := u.do("DELETE", "/threads/"+th.ID, "")
	assert.Equal(t, 410, deleted.status)
	assert.Equal(t, "never", deleted.detail(t))
	odd := u.do("GET", "/threads", "")
	assert.Equal(t, 500, odd.status)
	assert.Contains(t, odd.detail(t), "something else than a dict")
	assert.Contains(t, u.do("POST", "/threads/"+th.ID+"/runs", runBody("main", "x", "")).detail(t), "no handler for create_run")
}

func TestSecretsStayOutOfErrorsLogsAndState(t *testing.T) {
	var log bytes.Buffer
	s := authSite(t, `
def auth(request):
    kind = request.query.get("kind")
    if kind == "fail": fail("the secret is " + env("CONFORMANCE_USERS") + " or " + json.decode(env("CONFORMANCE_USERS"))[0]["token"])
    if kind == "http": fail_http(401, "not " + json.decode(env("CONFORMANCE_USERS"))[0]["token"])
    print("printing", json.decode(env("CONFORMANCE_USERS"))[1]["token"], env("NOT_SET", "unset"), env("NOT_SET"))
    return {"identity": "x", "token": json.decode(env("CONFORMANCE_USERS"))[0]["token"]}
`, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	u := s.nobody()
	for _, kind := range []string{"fail", "http", ""} {
		assert.NotContains(t, u.do("GET", "/threads?kind="+kind, "").body, "alice-token")
	}
	thread := u.thread()
	u.join(thread, u.runOf("main", thread, "x", ""))
	assert.NotContains(t, u.do("GET", "/threads/"+thread+"/state", "").body, "alice-token")
	assert.Contains(t, log.String(), "unset None")
	assert.NotContains(t, log.String(), "-token")
}

// TestTokensOfUsersStayOutOfReasons: a graph gets the user, and may raise with any field of it.
func TestTokensOfUsersStayOutOfReasons(t *testing.T) {
	s := newSite(t, appOf(t, map[string]string{
		"auth.star": "def auth(request):\n  return {'identity': 'x', 'role': 'developer', 'access_token': 'token-a', " +
			"'nested': [{'api_key': 'token-a-and-more'}]}\n",
		"main.star": "def agent(messages, config):\n  fail(json.encode(dict(config['configurable']['graph_auth_user'].items())))\n",
	}), Options{})
	u := s.nobody()
	thread := u.thread()
	run := u.runOf("main", thread, "x", "")
	joined := u.join(thread, run).body
	for _, text := range []string{joined, u.getRun(thread, run).Reason, u.do("GET", "/threads/"+thread+"/state", "").body} {
		assert.NotContains(t, text, "token-a")
		assert.NotContains(t, text, "and-more")
	}
	assert.Contains(t, joined, "[secret]")
	assert.Contains(t, joined, "developer", "what is no secret is told")
}
