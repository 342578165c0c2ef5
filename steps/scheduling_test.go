package steps_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/agent"
)

// changedBy serves the target through a proxy that sees each request and may change the body of its answer.
func changedBy(t world, target string, seen func(*http.Request), change func(a *http.Response, body []byte) []byte) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	through := &httputil.ReverseProxy{
		Transport: t.transport(),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: func(a *http.Response) error {
			body, err := io.ReadAll(a.Body)
			body = change(a, body)
			a.Body = io.NopCloser(bytes.NewReader(body))
			a.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return err
		},
	}
	return t.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen(r)
		through.ServeHTTP(w, r)
	})).URL
}

// TestWhoWaitsHoldsNoPlace has one request in flight, and a target at which no revision is DEPLOYED until another
// scenario has been judged.
func TestWhoWaitsHoldsNoPlace(t *testing.T) {
	inBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		var judged atomic.Bool
		c.Target = changedBy(t, c.Target, func(r *http.Request) {
			if r.Method == http.MethodPatch { // of an unknown deployment
				judged.Store(true)
			}
		}, func(_ *http.Response, body []byte) []byte {
			if judged.Load() {
				return body
			}
			return bytes.ReplaceAll(body, []byte(`"DEPLOYED"`), []byte(`"BUILDING"`))
		})
		c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, 5*time.Second
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only, o.Concurrency = []string{"CP-UPDATE-6", "CP-LIST-3", "CP-POLL-2"}, 1
		})
		assert.Len(t, res.Requirements, 3)
		for _, q := range res.Requirements {
			assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
		}
	})
}

// TestConcurrencyBoundsTheRequestsInFlight counts them: those that make what scenarios share, and those that clean up,
// too.
func TestConcurrencyBoundsTheRequestsInFlight(t *testing.T) {
	inBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		var flying, most atomic.Int64
		c.Target = changedBy(t, c.Target, func(*http.Request) {
			if n := flying.Add(1); n > most.Load() {
				most.Store(n)
			}
		}, func(_ *http.Response, body []byte) []byte {
			time.Sleep(time.Millisecond) // so that others could come in between
			flying.Add(-1)
			return body
		})
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only, o.Concurrency = []string{"CP-LIST-1", "CP-LIST-3", "CP-UPDATE-2", "CP-UPDATE-4", "CP-GET-*"}, 1
		})
		assert.EqualValues(t, 1, most.Load())
		changed := map[string]bool{}
		for _, q := range res.Requirements {
			assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
			for _, scenario := range q.Scenarios {
				for _, f := range scenario.Fixtures {
					changed[f] = true
				}
			}
		}
		assert.True(t, changed["a deployment that accepts updates"])
		assert.True(t, changed["a deployment that accepts updates 2"], "updates are spread over several deployments")
	})
}

// TestRollbacksAtOnceAreInFlightTogether limits the requests in flight to one. The five rollbacks that race are in flight
// together all the same, with at most one request of another scenario.
func TestRollbacksAtOnceAreInFlightTogether(t *testing.T) {
	inBubble(t, func(t world) {
		var flying, most atomic.Int64
		c := agentConfig(t)
		c.AgentTarget = changedBy(t, c.AgentTarget, func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if gjson.GetBytes(body, "multitask_strategy").String() == agent.RollbackStrategy {
				if n := flying.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(200 * time.Millisecond) // so that the others can come
				flying.Add(-1)
			}
		}, func(_ *http.Response, body []byte) []byte { return body })
		res := judge(t, c, func(o *steps.Options) { o.Select.Only, o.Concurrency = []string{"AS-ROLLBACK-8"}, 1 })
		assert.Equal(t, reports.Passed, res.Requirements[0].Verdict, res.Requirements[0].Reason)
		assert.GreaterOrEqual(t, most.Load(), int64(5))
		assert.LessOrEqual(t, most.Load(), int64(6))
	})
}
