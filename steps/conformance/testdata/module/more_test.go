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

// TestBoth judges two servers at the same time. The second test binds all SHOULDs, and knows failures and writes
// reports where the environment names files for them.
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

// TestRefusal judges a server that refuses everything, without credentials of which there is any use.
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
