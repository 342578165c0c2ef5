// Package messagestest makes answers with messages, for tests.
package messagestest

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// State makes the answer to a look at a state with the messages: kind and content in turn. A content that begins
// with "[" is a list of parts.
func State(t testing.TB, messages ...string) *client.Answer {
	t.Helper()
	list := []map[string]any{}
	for i := 0; i < len(messages); i += 2 {
		var content any = messages[i+1]
		if messages[i+1] != "" && messages[i+1][0] == '[' {
			content = json.RawMessage(messages[i+1])
		}
		list = append(list, map[string]any{"type": messages[i], "content": content})
	}
	body, err := json.Marshal(map[string]any{"values": map[string]any{"messages": list}})
	require.NoError(t, err)
	return &client.Answer{Status: http.StatusOK, Body: body}
}
