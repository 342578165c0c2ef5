package api_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"example.com/api"
	"github.com/agentconform/agentconform/steps/conformance"
)

// TestBoth judges two servers at the same time. For the second, SHOULDs count as MUSTs, and the environment may name a
// file of known failures and a folder for reports.
func TestBoth(t *testing.T) {
	for name, more := range map[string]conformance.Target{
		"first": {}, "second": {FailOn: []string{"should"}, Baseline: os.Getenv("KNOWN"), Out: os.Getenv("OUT")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more.Handler, more.Config = api.New(), "agentconform.yaml"
			conformance.Test(t, more)
		})
	}
}

// TestClosed judges a server that is closed when the test returns.
func TestClosed(t *testing.T) {
	server := httptest.NewServer(api.New())
	defer server.Close()
	conformance.Test(t, conformance.Target{URL: server.URL, Config: "agentconform.yaml"})
}

// TestRefusal judges a server that refuses everything. No valid credentials are configured.
func TestRefusal(t *testing.T) {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"detail":"Forbidden"}`))
	})
	environ := os.Environ()
	for _, key := range strings.Fields("CREDENTIALS_API_KEY CREDENTIALS_TENANT_ID CREDENTIALS_BEARER") {
		environ = append(environ, "AGENTCONFORM_"+key+"=")
	}
	conformance.Test(t, conformance.Target{Handler: refuse, Environ: environ})
}
