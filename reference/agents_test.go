package reference_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
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

func TestThePipelineDeploysARealAgentServer(t *testing.T) {
	for _, edition := range []string{"cloud", "self-hosted"} {
		t.Run(edition, func(t *testing.T) {
			c := start(t, reference.Options{Edition: edition})
			set := c.server.Fixtures()
			d := c.create()
			id, agent := d.Get("id").String(), d.Get("source_config.custom_url").String()
			c.await(id, d.Get("latest_revision_id").String(), "DEPLOYED")
			thread, first := c.ask(agent, "", "hello there")
			require.Contains(t, first, "hello there")

			config := map[string]any{"repo_ref": set.SecondRef}
			if edition == "self-hosted" {
				config = map[string]any{"image_uri": set.SecondImageURI}
			}
			_, d = c.do("PATCH", "/v2/deployments/"+id, map[string]any{"source_revision_config": config})
			c.await(id, d.Get("latest_revision_id").String(), "DEPLOYED")
			_, second := c.ask(agent, thread, "hello there")
			require.Contains(t, second, "hello there")
			require.NotEqual(t, first, second, "the new revision answers, on the old thread")

			status, refused := c.at(nil, "GET", agent+"/threads/"+thread, nil)
			require.Equal(t, http.StatusUnauthorized, status)
			require.Equal(t, "Invalid credentials", refused.Get("detail").String())
			status, _ = c.at(c.user(1), "GET", agent+"/threads/"+thread, nil)
			require.Equal(t, http.StatusNotFound, status)
			status, _ = c.at(set.StudioHeaders, "GET", agent+"/threads/"+thread, nil)
			require.Equal(t, http.StatusOK, status, "the developer sees all threads")
			foreign := map[string]string{"X-Auth-Scheme": "studio", "X-Api-Key": set.OtherTenant.APIKey}
			status, _ = c.at(foreign, "GET", agent+"/threads/"+thread, nil)
			require.Equal(t, http.StatusUnauthorized, status, "the developer of another tenant does not")

			status, _ = c.do("DELETE", "/v2/deployments/"+id, nil)
			require.Equal(t, http.StatusNoContent, status)
			require.Eventually(t, func() bool {
				status, _ := c.at(c.user(0), "GET", agent+"/threads/"+thread, nil)
				return status == http.StatusNotFound
			}, limit, tick)
		})
	}
}

func TestABuildFailureTellsThePlace(t *testing.T) {
	c := start(t, reference.Options{})
	body := c.server.Fixtures().Create
	body["source_revision_config"] = map[string]any{"repo_ref": c.server.Fixtures().BrokenRef, "graph_config_path": "agent.json"}
	_, d := c.do("POST", "/v2/deployments", body)
	path := "/v2/deployments/" + d.Get("id").String() + "/revisions/" + d.Get("latest_revision_id").String()
	c.await(d.Get("id").String(), d.Get("latest_revision_id").String(), "BUILD_FAILED")
	_, r := c.do("GET", path, nil)
	require.Regexp(t, `graph\.star:\d+:\d+`, r.Get("status_message").String())
}

func TestTheStandingAgentServerAnswersFromTheStart(t *testing.T) {
	c := start(t, reference.Options{})
	_, answer := c.ask(c.server.AgentURL(), "", "whoami")
	user := c.server.Fixtures().Users[0]
	require.Equal(t, user.Identity, gjson.Get(answer, "identity").String())
	require.Equal(t, user.Role, gjson.Get(answer, "role").String())
	require.Equal(t, "3", gjson.Get(answer, "level").Raw)
	require.Equal(t, "null", gjson.Get(answer, "team").Raw)
	require.NotContains(t, answer, user.Token)
	resp, err := c.http.Get(c.server.AgentURL() + "//threads")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
	require.Equal(t, "/agents/conformance", strings.TrimPrefix(c.server.AgentURL(), c.url))
}
