package steps_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestRepeatedWritesAreInconclusive judges a server that carries out each update and each second creation on a reused
// connection and then closes the connection without a response. The suite sends the request again, so that the object
// exists twice.
func TestRepeatedWritesAreInconclusive(t *testing.T) {
	runInBubble(t, func(t world) {
		var mu sync.Mutex
		reused, creations := map[string]bool{}, 0
		losesResponse := func(r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			isReused := reused[r.Host+r.RemoteAddr]
			reused[r.Host+r.RemoteAddr] = true
			isWrite := r.Method == http.MethodPatch || r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/search")
			if !isReused || !isWrite {
				return false
			}
			if r.Method == http.MethodPatch {
				return true
			}
			creations++
			return creations%2 == 0
		}
		layer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if losesResponse(r) {
					next.ServeHTTP(httptest.NewRecorder(), r)
					panic(http.ErrAbortHandler)
				}
				next.ServeHTTP(w, r)
			})
		}
		c := configure(t, startIndependent(t, independent.Options{Layer: layer}))
		res := judge(t, c, nil)
		repeated, inconclusive := 0, 0
		for _, x := range res.Exchanges {
			if x.Repeated {
				repeated++
				assert.True(t, exchange.Request{Method: x.Method}.Writes(), "%s %s", x.Method, x.URL)
			}
		}
		for _, q := range res.Requirements {
			assert.NotEqual(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
			if strings.Contains(q.Reason, reports.RepeatedNote) {
				inconclusive++
				assert.Equal(t, reports.Inconclusive, q.Verdict, q.ID)
			}
		}
		assert.Positive(t, repeated)
		assert.Positive(t, inconclusive)
	})
}
