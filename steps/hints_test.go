package steps_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestHintsNameTheCause has an agent server that answers one kind of request with a status for another reason than the
// configuration that the same status mostly points to.
func TestHintsNameTheCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, only, hint string
		status           int
		answers          func(r *http.Request) bool
	}{
		{"GET /threads does not exist", "AS-AUTH-1", "set agent.listing to search", http.StatusMethodNotAllowed,
			func(r *http.Request) bool {
				return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/threads")
			}},
		{"threads are hidden from their owner", "AS-RUN-1", "the user's own thread cannot be read", http.StatusNotFound,
			func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/threads/") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startIndependent(t, independent.Options{})
			to, err := url.Parse(s.AgentURL)
			require.NoError(t, err)
			forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
			agents := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.answers(r) {
					w.WriteHeader(c.status)
					return
				}
				forward.ServeHTTP(w, r)
			}))
			t.Cleanup(agents.Close)
			cfg := configure(t, s)
			cfg.AgentTarget, cfg.Agent.Listing = agents.URL, "get"
			res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{c.only} })
			found := findingsOf(res, c.only)
			require.NotEmpty(t, found, "%+v", res.Requirements[0].Reason)
			assert.Contains(t, found[0].Hint, c.hint)
			for _, f := range res.Findings {
				assert.NotContains(t, f.Hint, "rejected_status")
				assert.NotContains(t, f.Hint, "assistant_id")
			}
			assert.Equal(t, reports.NonConformant, res.Verdict)
		})
	}
}
