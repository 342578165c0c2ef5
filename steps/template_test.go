package steps_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/suite"
)

// TestATemplateWithoutANameIsSentWithoutOne has a server that knows no name judged: the interface shows no such field.
func TestATemplateWithoutANameIsSentWithoutOne(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	to, err := url.Parse(s.ControlURL)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost && gjson.ValidBytes(body) && gjson.GetBytes(body, "name").Exists() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"detail":[{"loc":["body","name"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(strict.Close)
	c := configure(t, s)
	c.Target = strict.URL
	delete(c.Create.Body, "name")
	delete(c.Create.Refused, "name")
	only := suite.Selection{Only: []string{"CP-AUTH-*", "CP-CREATE-*", "CP-CONTRACT-create-deployment", "CP-GET-1", "CP-UPDATE-1", "E2E-1"}}
	res := judge(t, c, func(o *steps.Options) { o.Select = only })
	assert.Equal(t, reports.Conformant, res.Verdict)
	var skipped int
	for _, q := range res.Requirements {
		for _, scenario := range q.Scenarios {
			if q.ID == "CP-AUTH-3" && scenario.Verdict == reports.Skipped {
				assert.Equal(t, "not configured: set create.body.name", scenario.Reason)
				skipped++
			}
		}
	}
	assert.Equal(t, 2, skipped, "what looks for deployments by name")
	assertPlan(t, c, only, res)
}
