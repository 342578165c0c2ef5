package steps_test

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/agent"
)

// TestWaitingScenarioHoldsNoSlot allows one request in flight, at a target where no revision is DEPLOYED until another
// scenario has sent a request.
func TestWaitingScenarioHoldsNoSlot(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		var wasUpdated atomic.Bool
		c.Target = serveProxy(t, c.Target, func(r *http.Request) {
			if r.Method == http.MethodPatch { // CP-UPDATE-6 updates an unknown deployment
				wasUpdated.Store(true)
			}
		}, func(_ *http.Response, body []byte) []byte {
			if wasUpdated.Load() {
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

// TestConcurrencyLimitsRequestsInFlight counts the requests in flight, including those for fixtures and for the removal
// of deployments.
func TestConcurrencyLimitsRequestsInFlight(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		var inFlight, most atomic.Int64
		c.Target = serveProxy(t, c.Target, func(*http.Request) {
			n := inFlight.Add(1)
			if n > most.Load() {
				most.Store(n)
			}
		}, func(_ *http.Response, body []byte) []byte {
			time.Sleep(time.Millisecond) // lets another request arrive
			inFlight.Add(-1)
			return body
		})
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only, o.Concurrency = []string{"CP-LIST-1", "CP-LIST-3", "CP-UPDATE-2", "CP-UPDATE-4", "CP-GET-*"}, 1
			o.Select.Tags = "not @situation" // it sends updates at the same time
		})
		assert.EqualValues(t, 1, most.Load())
		used := map[string]bool{}
		for _, q := range res.Requirements {
			assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
			for _, scenario := range q.Scenarios {
				for _, f := range scenario.Fixtures {
					used[f] = true
				}
			}
		}
		assert.True(t, used["a deployment that accepts updates"])
		assert.True(t, used["a deployment that accepts updates 2"], "several deployments are updated")
	})
}

// TestRacingRollbacksAreInFlightTogether limits the requests in flight to one. The five rollbacks that race are
// nevertheless in flight together, with at most one request of another scenario.
func TestRacingRollbacksAreInFlightTogether(t *testing.T) {
	runInBubble(t, func(t world) {
		var inFlight, most atomic.Int64
		c := configureAgents(t)
		c.AgentTarget = serveProxy(t, c.AgentTarget, func(r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			if gjson.GetBytes(body, "multitask_strategy").String() == agent.RollbackStrategy {
				n := inFlight.Add(1)
				if n > most.Load() {
					most.Store(n)
				}
				time.Sleep(200 * time.Millisecond) // lets the others arrive
				inFlight.Add(-1)
			}
		}, func(_ *http.Response, body []byte) []byte { return body })
		res := judge(t, c, func(o *steps.Options) { o.Select.Only, o.Concurrency = []string{"AS-ROLLBACK-8"}, 1 })
		assert.Equal(t, reports.Passed, res.Requirements[0].Verdict, res.Requirements[0].Reason)
		assert.GreaterOrEqual(t, most.Load(), int64(5))
		assert.LessOrEqual(t, most.Load(), int64(6))
	})
}

// TestRareRefusalsDelayOnlyTheirRequests judges a server behind a gateway that answers one request in thirty with 429. If all
// requests waited each time, the test run would take three minutes.
func TestRareRefusalsDelayOnlyTheirRequests(t *testing.T) {
	runInBubble(t, func(t world) {
		var requests atomic.Int64
		layer := func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1)%30 == 0 {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
		res := judge(t, configure(t, startIndependent(t, independent.Options{Layer: layer})), nil)
		assert.Equal(t, reports.Conformant, res.Verdict, res.Headline)
		assert.Greater(t, res.Counts.Throttled, 100)
		assert.Less(t, res.Run.DurationMS, int64(60_000))
	})
}
