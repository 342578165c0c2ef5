package reference_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/agentconform/agentconform/reference"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// at sends a request to an agent server, with the headers given.
func (c client) at(headers map[string]string, method, url string, body any) (int, gjson.Result) {
	c.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(c.t, err)
	req, err := http.NewRequest(method, url, bytes.NewReader(text))
	require.NoError(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, gjson.ParseBytes(answer)
}

// user returns the headers of a user of the fixtures.
func (c client) user(n int) map[string]string {
	return map[string]string{"Authorization": "Bearer " + c.server.Fixtures().Users[n].Token}
}

// ask has a new run on a thread, waits for it, and returns the last message of the thread. Without a thread it makes one.
func (c client) ask(agent, thread, text string) (usedThread, answer string) {
	c.t.Helper()
	if thread == "" {
		status, made := c.at(c.user(0), "POST", agent+"/threads", map[string]any{})
		require.Equal(c.t, http.StatusOK, status, made.Raw)
		thread = made.Get("thread_id").String()
	}
	run := c.post(agent, thread, text)
	status, joined := c.at(c.user(0), "GET", agent+"/threads/"+thread+"/runs/"+run+"/join", nil)
	require.Equal(c.t, http.StatusOK, status, joined.Raw)
	_, state := c.at(c.user(0), "GET", agent+"/threads/"+thread+"/state", nil)
	messages := state.Get("values.messages").Array()
	require.NotEmpty(c.t, messages, state.Raw)
	return thread, messages[len(messages)-1].Get("content").String()
}

// post begins a run and returns its id.
func (c client) post(agent, thread, text string) string {
	c.t.Helper()
	status, run := c.at(c.user(0), "POST", agent+"/threads/"+thread+"/runs", map[string]any{
		"assistant_id": c.server.Fixtures().AssistantID,
		"input":        map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}},
	})
	require.Equal(c.t, http.StatusOK, status, run.Raw)
	return run.Get("run_id").String()
}

// TestTheStudioOpensWithTheKeyOfItsTenant: the developer sees all threads, and one of another tenant none.
func TestTheStudioOpensWithTheKeyOfItsTenant(t *testing.T) {
	c := start(t, reference.Options{})
	set := c.server.Fixtures()
	thread, _ := c.ask(c.server.AgentURL(), "", "hello")
	at := c.server.AgentURL() + "/threads/" + thread
	status, _ := c.at(set.StudioHeaders, "GET", at, nil)
	require.Equal(t, http.StatusOK, status)
	status, _ = c.at(map[string]string{"X-Auth-Scheme": "studio", "X-Api-Key": set.OtherTenant.APIKey}, "GET", at, nil)
	require.Equal(t, http.StatusUnauthorized, status)
}
