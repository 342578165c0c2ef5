package agentserver

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// asked records the actions that an authorizer is asked about.
type asked struct {
	Authorizer
	actions *[]string
}

func (w asked) Authorize(ctx context.Context, a Access) (Decision, error) {
	*w.actions = append(*w.actions, a.Action)
	return w.Authorizer.Authorize(ctx, a)
}

// TestAnExistingThreadIsShownToWhoMayReadIt: who may only create gets 409, whatever if_exists says.
func TestAnExistingThreadIsShownToWhoMayReadIt(t *testing.T) {
	for read, want := range map[string]int{"None": 200, "{'owner': 'x'}": 200, "False": 409, "{'owner': 'another'}": 409, "fail_http(404, 'hidden')": 409} {
		t.Run(read, func(t *testing.T) {
			var actions []string
			s := authSite(t, authenticateAnyone+`
def create(ctx, value):
    value["metadata"]["owner"] = "x"
    return None
def read(ctx, value): return `+read+`
auth = {"authenticate": authenticate, "on": {"threads.create": create, "threads.read": read}}
`, Options{WrapAuthorizer: func(a Authorizer) Authorizer { return asked{a, &actions} }})
			u := s.nobody()
			const id = "5f0c8a54-7ac1-4e29-9d0d-8f1f3b4f7a10"
			u.ok(http.MethodPost, "/threads", `{"thread_id": "`+id+`"}`)
			assert.Equal(t, []string{"create"}, actions)
			a := u.do(http.MethodPost, "/threads", `{"thread_id": "`+id+`", "if_exists": "do_nothing"}`)
			assert.Equal(t, want, a.status, a.body)
			assert.Equal(t, []string{"create", "create", "read"}, actions)
			assert.Equal(t, 409, u.do(http.MethodPost, "/threads", `{"thread_id": "`+id+`"}`).status)
		})
	}
}

// TestTokensOfUsersStayOutOfReasons: a graph gets the user, and may raise with any field of it.
func TestTokensOfUsersStayOutOfReasons(t *testing.T) {
	s := newSite(t, appOf(t, map[string]string{
		"auth.star": "def auth(request):\n  return {'identity': 'x', 'role': 'developer', 'access_token': 'token-a', 'nested': [{'api_key': 'token-a-and-more'}]}\n",
		"main.star": "def agent(messages, config):\n  fail(json.encode(dict(config['configurable']['graph_auth_user'].items())))\n",
	}), Options{})
	u := s.nobody()
	thread := u.thread()
	joined := u.do(http.MethodPost, "/threads/"+thread+"/runs/wait", runBody("main", "x", "")).body
	streamed := u.do(http.MethodPost, "/threads/"+thread+"/runs/stream", runBody("main", "x", "")).body
	for _, text := range []string{joined, streamed, u.do(http.MethodGet, "/threads/"+thread, "").body, u.do(http.MethodGet, "/threads/"+thread+"/state", "").body} {
		assert.NotContains(t, text, "token-a")
		assert.NotContains(t, text, "and-more")
	}
	assert.True(t, json.Valid([]byte(joined)))
	for _, text := range []string{joined, streamed} {
		assert.Contains(t, text, "[secret]")
		assert.Contains(t, text, "developer", "what is no secret is told")
	}
}
