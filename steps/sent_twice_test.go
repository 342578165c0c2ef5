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

// TestWhatExistsTwiceIsInconclusive has a server carry out each third POST and PATCH on a kept connection and close the
// connection without a response. The suite sends it again, so that there are two deployments, revisions, threads or runs.
func TestWhatExistsTwiceIsInconclusive(t *testing.T) {
	inBubble(t, func(t world) {
		var mu sync.Mutex
		kept, writes := map[string]bool{}, 0
		loses := func(r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			isKept := kept[r.Host+r.RemoteAddr]
			kept[r.Host+r.RemoteAddr] = true
			isWrite := r.Method == http.MethodPatch || r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/search")
			if !isKept || !isWrite {
				return false
			}
			writes++
			return writes%3 == 0
		}
		layer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if loses(r) {
					next.ServeHTTP(httptest.NewRecorder(), r)
					panic(http.ErrAbortHandler)
				}
				next.ServeHTTP(w, r)
			})
		}
		c := configure(t, startIndependent(t, independent.Options{Layer: layer}))
		res := judge(t, c, nil)
		twice, inconclusive := 0, 0
		for _, x := range res.Exchanges {
			if x.Repeated {
				twice++
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
		assert.Positive(t, twice)
		assert.Positive(t, inconclusive)
	})
}
