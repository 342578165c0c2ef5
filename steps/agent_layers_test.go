package steps_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// keepsRolledBack still shows the rolled-back runs that match.
func keepsRolledBack(match func(*seenRun) bool) func(*proxy, http.Handler) http.Handler {
	return when(aRun, func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		a := record(next, r)
		p.mu.Lock()
		known := p.runs[r.URL.Path]
		kept := known != nil && known.rolledBack && match(known)
		p.mu.Unlock()
		if a.Code >= 400 && kept {
			a = httptest.NewRecorder()
			a.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(a).Encode(map[string]string{"run_id": r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], "status": "interrupted"})
		}
		send(w, a)
	})
}

func changeMessages(w http.ResponseWriter, a *httptest.ResponseRecorder, change func([]json.RawMessage) []json.RawMessage) {
	var body map[string]any
	found := gjson.GetBytes(a.Body.Bytes(), "values.messages")
	if a.Code == http.StatusOK && found.Exists() && json.Unmarshal(a.Body.Bytes(), &body) == nil {
		var messages []json.RawMessage
		for _, m := range found.Array() {
			messages = append(messages, json.RawMessage(m.Raw))
		}
		body["values"].(map[string]any)["messages"] = append([]json.RawMessage{}, change(messages)...)
		a.Body.Reset()
		_ = json.NewEncoder(a.Body).Encode(body)
	}
	send(w, a)
}

// keepsMessages still shows what the run had written that was rolled back last.
var keepsMessages = when(at("GET", "/state"), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	var lost []json.RawMessage
	p.mu.Lock()
	for _, run := range p.runs {
		if run.rolledBack && run.thread == strings.TrimSuffix(r.URL.Path, "/state") {
			lost = run.messages
		}
	}
	p.mu.Unlock()
	changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage { return append(slices.Clone(lost), m...) })
})

// strategy has runs with rollback treated as runs with another strategy.
func strategy(name string) func(*proxy, http.Handler) http.Handler {
	return when(at("POST", "/runs"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		body := bytes.ReplaceAll(readBody(r), []byte(`"rollback"`), []byte(`"`+name+`"`))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

var joinHangs = when(func(r *http.Request) bool { return at("GET", "/join")(r) && r.Header.Get("Authorization") != "" },
	func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+independent.Users[0].Token {
			next.ServeHTTP(w, r)
			return
		}
		hang(r)
	})

var searchesAll = when(at("POST", "/search"), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	if gjson.GetBytes(readBody(r), "metadata."+"owner").Exists() {
		r.Header.Set("Authorization", "Bearer "+independent.Users[2].Token)
	}
	next.ServeHTTP(w, r)
})

// openFor makes a server that takes everybody for the first user, unless they prove to be somebody.
func openFor(t *testing.T, s *independent.Server) string {
	t.Helper()
	return behind(t, s, func(p *proxy, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				r.Header.Set("Authorization", "Bearer "+independent.Users[0].Token)
			}
			next.ServeHTTP(w, r)
		})
	})
}

// hang holds a request until the client gives up, or the test would not end.
func hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-time.After(10 * time.Second):
	}
}

// hangsForRolledBack does not release who waits for a run that is rolled back.
var hangsForRolledBack = when(at("GET", "/join"), func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
	a := record(next, r)
	p.mu.Lock()
	run := p.runs[strings.TrimSuffix(r.URL.Path, "/join")]
	lost := run != nil && run.rolledBack
	p.mu.Unlock()
	if lost || a.Code == http.StatusGone {
		hang(r)
		return
	}
	send(w, a)
})

// judgeAgent judges the agent server alone, behind the layer.
func judgeAgent(t *testing.T, s *independent.Server, layer func(*proxy, http.Handler) http.Handler, change func(*steps.Options)) *reports.Result {
	t.Helper()
	return judge(t, agentConfig(t, s, layer), func(o *steps.Options) {
		o.Select.Profiles = []string{features.AgentServer}
		change(o)
	})
}

// agentConfig is the configuration for the agent server alone, behind the layer where there is one.
func agentConfig(t *testing.T, s *independent.Server, layer func(*proxy, http.Handler) http.Handler) *config.Config {
	t.Helper()
	c := configure(t, s)
	c.Target, c.Agent.Listing, c.AgentTarget = "", "search", s.AgentURL
	if layer != nil {
		c.AgentTarget = behind(t, s, layer)
	}
	c.Timeouts.Request, c.Timeouts.Run = 2*time.Second, 2*time.Second
	require.NoError(t, c.Complete())
	return c
}
