package replay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// listen serves, and tells of each request with which credentials it came.
func listen(t *testing.T, answer string) (address string, heard func() []string) {
	t.Helper()
	calls := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls <- r.URL.Path + " " + r.Header.Get("X-Api-Key") + r.Header.Get("Authorization")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() (all []string) {
		for len(calls) > 0 {
			all = append(all, <-calls)
		}
		return all
	}
}

func recorded(address, path, answer string) reports.Exchange {
	return reports.Exchange{Method: http.MethodGet, URL: address + path, Status: http.StatusOK,
		Request:  reports.Message{Headers: map[string][]string{"X-Api-Key": {"$AGENTCONFORM_CREDENTIALS_API_KEY"}}},
		Response: reports.Message{Body: answer}}
}

// asUser is a recorded exchange of a user with an agent server.
func asUser(x reports.Exchange) reports.Exchange {
	x.Request.Headers = map[string][]string{"Authorization": {"Bearer $AGENTCONFORM_USERS_0_TOKEN"}}
	return x
}

func send(t *testing.T, c config.Config, was reports.Target, plan ...reports.Exchange) error {
	t.Helper()
	c.Credentials.APIKey = "a-secret-key"
	c.Users = []config.User{{Token: "a-secret-token"}}
	c.Timeouts.Request = 5 * time.Second
	return (&replay.Sender{Config: &c, Recorded: was}).Send(t.Context(), plan, func(replay.Step) {})
}

// TestAResultFileTakesNoCredentialsElsewhere replays what somebody has put into a result file.
func TestAResultFileTakesNoCredentialsElsewhere(t *testing.T) {
	evil, stolen := listen(t, "{}")
	target, heard := listen(t, `{"source_config":{"custom_url":"http://169.254.169.254"}}`)
	c := config.Default()
	c.Target = target
	was := reports.Target{ControlPlane: "http://recorded.example", AgentServer: evil}
	for name, x := range map[string]reports.Exchange{
		"another host":          asUser(recorded(evil, "/x", "{}")),
		"the target as a user":  asUser(recorded("http://recorded.example@"+evil[len("http://"):], "/x", "{}")),
		"a longer host":         asUser(recorded("http://recorded.example."+evil[len("http://"):], "/x", "{}")),
		"what the target names": asUser(recorded("http://169.254.169.254", "/x", "{}")),
	} {
		err := send(t, c, was, recorded("http://recorded.example", "/v2/deployments/d", `{"source_config":{"custom_url":"`+evil+`"}}`), x)
		require.ErrorContains(t, err, "no credentials are sent there; if it is an agent server, configure agent_target", name)
		assert.NotContains(t, err.Error(), "a-secret-key")
	}
	assert.Empty(t, stolen())
	assert.Equal(t, "/v2/deployments/d a-secret-key", heard()[0])

	c.AgentTarget = evil
	require.NoError(t, send(t, c, was, asUser(recorded(evil, "/x", "{}"))), "the user has named it")
	assert.Equal(t, []string{"/x Bearer a-secret-token"}, stolen())
	require.ErrorContains(t, send(t, c, was, recorded(evil, "/x", "{}")), "not configured for the header X-Api-Key", "the control plane's key is for the control plane")
	assert.Empty(t, stolen())
}

func TestTheAgentServerIsWhereTheTargetSaysNow(t *testing.T) {
	agent, heard := listen(t, "{}")
	target, _ := listen(t, `{"source_config":{"custom_url":"`+agent+`/now/"}}`)
	c := config.Default()
	c.Target = target
	require.NoError(t, send(t, c, reports.Target{ControlPlane: "http://recorded.example"},
		recorded("http://recorded.example", "/v2/deployments/d", `{"source_config":{"custom_url":"http://agent.example/was"}}`),
		asUser(recorded("http://agent.example/was", "/threads", "{}"))))
	assert.Equal(t, []string{"/now/threads Bearer a-secret-token"}, heard())
}
