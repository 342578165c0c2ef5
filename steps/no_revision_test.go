package steps_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestUpdatesThatMakeNothingDoNotTakeThePollingTime has updates accepted and forgotten. That a deployment may take an
// hour is no reason to wait that long for a revision to appear.
func TestUpdatesThatMakeNothingDoNotTakeThePollingTime(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	to, err := url.Parse(s.ControlURL)
	require.NoError(t, err)
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	forgetful := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(forgetful.Close)
	c := configure(t, s)
	c.Target = forgetful.URL
	c.Timeouts.Request, c.Timeouts.Poll = 500*time.Millisecond, time.Hour
	res := judge(t, c, func(o *steps.Options) {
		o.Select.Only = []string{"CP-UPDATE-1", "CP-UPDATE-2", "CP-REV-5", "CP-LIST-4"}
	})
	verdicts := map[string]reports.Verdict{}
	for _, q := range res.Requirements {
		verdicts[q.ID] = q.Verdict
	}
	assert.Equal(t, reports.Failed, verdicts["CP-UPDATE-1"])
	assert.Equal(t, reports.Failed, verdicts["CP-UPDATE-2"])
	assert.Equal(t, reports.Blocked, verdicts["CP-LIST-4"])
}
