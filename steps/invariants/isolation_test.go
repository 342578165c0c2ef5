package invariants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// runSaying returns the body of a request for a run with the text.
func runSaying(text, more string) string {
	return `{"assistant_id":"a","input":{"messages":[{"role":"user","content":"` + text + `"}]}` + more + `}`
}

func TestResponsesContainNothingOfAnotherUser(t *testing.T) {
	const secret, echoed, long = "a secret of many bytes", "what both of them sent", `{"thread_id":"thread-of-many-bytes"}`
	const threadUUID = "01a22809-5df8-778a-94fc-36d0e97e86fd"
	const state, elsewhere = "/threads/b-thread/state", agentBase + "/elsewhere"
	for name, row := range map[string]struct {
		before         func(h *history, bob target.Caller)
		path, response string // request of and response to the other user
		fails          bool
	}{
		"a text":                  {nil, state, `{"x":["` + secret + `!"]}`, true},
		"a short id as thread_id": {nil, "/threads", `[{"thread_id":"7"}]`, true},
		"a short id by chance":    {nil, "/threads", `[{"thread_id":"17","version":"7","text":""}]`, false},
		"a short id of both users": {func(h *history, bob target.Caller) {
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
		}, "/threads", `[{"thread_id":"7"}]`, false},
		"an id of the other user at another agent server": {func(h *history, bob target.Caller) {
			h.sees(h.target.ToAgent(elsewhere, bob, "POST", "/threads", []byte(`{}`)), 200, long)
			h.sees(h.target.ToAgent(elsewhere, bob, "GET", "/threads", nil), 200, `[`+long+`]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, long)
		}, "/threads", `[]`, false},
		"a long id": {func(h *history, _ target.Caller) {
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, long)
		}, "/threads", `[{"name":"of thread-of-many-bytes"}]`, true},
		"an id of the request in another form": {func(h *history, _ target.Caller) {
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"`+threadUUID+`"}`)
		}, "/threads/" + strings.ReplaceAll(threadUUID, "-", "") + "/state", `{"detail":"` + threadUUID + ` not found"}`, false},
		"an id of the request":             {nil, "/threads/7/state", `{"thread_id":"7"}`, false},
		"the token of the other":           {nil, state, `{"x":"token-of-ada"}`, true},
		"the token of the other in base64": {nil, state, `{"x":"dG9rZW4tb2YtYWRh"}`, true},
		"the token of the caller":          {nil, state, `{"x":"token-of-bob"}`, false},
		"the identity of the other":        {nil, state, `{"metadata":{"owner":"ada"}}`, true},
		"a word that is also an identity":  {nil, state, `{"language":"ada"}`, false},
		"a text of both users":             {nil, state, `{"x":"` + echoed + `"}`, false},
		"a text that the other wrote on a thread of the caller": {func(h *history, bob target.Caller) {
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":"`+threadUUID+`"}`)
			h.agent(h.target.Owner(), "POST", "/threads/"+threadUUID+"/runs", runSaying("an intruder's text", ""), 200, `{"run_id":"10"}`)
		}, "/threads/" + threadUUID + "/state", `{"x":"an intruder's text"}`, false},
		"a text that the other wrote on a thread of the caller, in a recording": {func(h *history, bob target.Caller) {
			h.target.Recorded = true
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":"`+threadUUID+`"}`)
			h.agent(h.target.Owner(), "POST", "/threads/"+threadUUID+"/runs", runSaying("an intruder's text that is long enough to be found in a recording, too", ""), 200, `{"run_id":"10"}`)
		}, "/threads/" + threadUUID + "/state", `{"x":"an intruder's text that is long enough to be found in a recording, too"}`, true},
		"a text that the other wrote on an unknown thread": {func(h *history, bob target.Caller) {
			h.agent(h.target.Owner(), "POST", "/threads/"+threadUUID+"/runs", runSaying("an intruder's text", ""), 200, `{"run_id":"10"}`)
		}, "/threads/" + threadUUID + "/state", `{"x":"an intruder's text"}`, true},
		"a refusal of a caller without credentials": {func(h *history, _ target.Caller) {
			nobody, err := h.target.Caller(target.NoCredentials)
			require.NoError(h.t, err)
			h.agent(nobody, "GET", "/threads", "", 401, `{"detail":"not for you, but: `+secret+`"}`)
		}, "/threads", `[]`, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			bob, err := h.target.Caller(target.TheOtherUser)
			require.NoError(t, err)
			h.agent(bob, "POST", "/threads/b-thread/runs", runSaying(echoed, ""), 200, `{"run_id":""}`)
			if row.before != nil {
				row.before(h, bob)
			}
			h.agent(bob, "GET", row.path, "", 200, row.response) // before the other user has sent it: rules know the owners only at the end
			h.agent(bob, "POST", "/threads", `{}`, 200, `{"thread_id":""}`)
			h.agent(h.target.Owner(), "GET", "/threads", "", 200, `[{"thread_id":"","run_id":null}]`)
			h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", runSaying(secret, ""), 200, `{"run_id":"8"}`)
			h.agent(h.target.Owner(), "POST", "/threads/7/runs", runSaying(echoed, ""), 200, `{"run_id":"9"}`)
			judged, o := h.judged(apart)
			assert.Positive(t, judged)
			assert.Equal(t, row.fails, o != nil, "%v", o)
		})
	}
}

// TestLeakInALargeResponseHasItsPointer checks a response with a token of which only the beginning is recorded.
func TestLeakInALargeResponseHasItsPointer(t *testing.T) {
	h := newHistory(t)
	bob, err := h.target.Caller(target.TheOtherUser)
	require.NoError(t, err)
	h.agent(h.target.Owner(), "POST", "/threads", `{}`, 200, `{"thread_id":"7"}`)
	h.agent(bob, "GET", "/threads/7/state", "", 200, `{"trace":"token-of-ada","values":["`+strings.Repeat("x", 100<<10)+`"]}`)
	_, o := h.judged(apart)
	require.NotNil(t, o)
	require.Len(t, o.Violations, 1)
	assert.Equal(t, "/trace", o.Violations[0].Pointer)
}

// TestSharedHeaderIsNotASecret lets both users send the same organization in a header. Their tokens are in other headers.
func TestSharedHeaderIsNotASecret(t *testing.T) {
	for response, leaks := range map[string]bool{
		`{"x":"organization-one"}`: false,
		`{"x":"token-of-ada-one"}`: true,
		`{"x":"token-of-bob-one"}`: false,
	} {
		h := newHistory(t, func(c *config.Config) {
			for i, token := range []string{"token-of-ada-one", "token-of-bob-one"} {
				c.Users[i].Token = ""
				c.Users[i].Headers = map[string]string{"Authorization": "Bearer " + token, "X-Tenant": "organization-one"}
			}
		})
		bob, err := h.target.Caller(target.TheOtherUser)
		require.NoError(t, err)
		h.agent(bob, "GET", "/threads/b-thread/state", "", 200, response)
		_, o := h.judged(apart)
		assert.Equal(t, leaks, o != nil && o.Verdict == reports.Failed, "%s: %v", response, o)
	}
}

// TestUsersOfOneIdentity has a third user with the identity of the first in a different team.
func TestUsersOfOneIdentity(t *testing.T) {
	for name, row := range map[string]struct {
		caller, response string
		leaks            bool
	}{
		"own thread of the first":           {"users.0", `[{"thread_id":"1","metadata":{"owner":"ada","team":"north"}}]`, false},
		"own thread of the third":           {"users.2", `[{"thread_id":"3","metadata":{"owner":"ada","team":"south"}}]`, false},
		"an owner without a team":           {"users.2", `{"metadata":{"owner":"ada"}}`, false},
		"the team of another owner":         {"users.0", `{"metadata":{"owner":"bea","team":"south"}}`, false},
		"a thread of the third":             {"users.0", `[{"thread_id":"3","metadata":{"owner":"ada","team":"south"}}]`, true},
		"only the metadata of the third":    {"users.0", `{"metadata":{"owner":"ada","team":"south"}}`, true},
		"only the metadata of the first":    {"users.2", `{"metadata":{"owner":"ada","team":"north"}}`, true},
		"the identity of two for a second":  {"users.1", `{"metadata":{"owner":"ada"}}`, true},
		"a thread id of the third":          {"users.0", `[{"thread_id":"3"}]`, true},
		"own thread id of the second":       {"users.1", `[{"thread_id":"2","metadata":{"owner":"bob","team":"north"}}]`, false},
		"the token of the first":            {"users.2", `{"x":"token-of-ada"}`, true},
		"the token of the third, to itself": {"users.2", `{"x":"token-of-ann"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t, func(c *config.Config) {
				c.Users = append(c.Users, config.User{Token: "token-of-ann", SameIdentity: true})
				for i, team := range []string{"north", "north", "south"} {
					c.Users[i].Fields = map[string]any{config.TeamField: team}
				}
			})
			for i, id := range []string{"1", "2", "3"} {
				who := h.target.CallerWith(h.target.UserKeys()[i])
				h.agent(who, "POST", "/threads", `{}`, 200, `{"thread_id":"`+id+`"}`)
			}
			h.agent(h.target.CallerWith(row.caller), "GET", "/threads", "", 200, row.response)
			_, o := h.judged(apart)
			require.Equal(t, row.leaks, o != nil && o.Verdict == reports.Failed, "%v", o)
			if o == nil {
				return
			}
			for _, v := range o.Violations {
				assert.Equal(t, 1, v.Count)
			}
		})
	}
}
