//go:build nightly

package steps_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestHonestDifferences judges the independent server in the forms that the interface allows: none may cost a point.
func TestHonestDifferences(t *testing.T) {
	type honest struct {
		name   string
		layer  func(http.Handler) http.Handler
		change func(*config.Config)
		agent  bool // its requirements alone are judged
	}
	all := []honest{
		{name: "now and then too busy", layer: busy(7)},
		{name: "slow answers with jitter", layer: late},
		{name: "threads are searched", agent: true, change: func(c *config.Config) { c.Target, c.Agent.Listing = "", "search" }},
		{name: "the agent server alone", change: agentAlone, agent: true},
		{name: "the agent server alone, slow", layer: func(h http.Handler) http.Handler { return late(busy(5)(h)) }, change: agentAlone, agent: true},
	}
	together(t, all, func(c honest) string { return c.name }, func(t *testing.T, c honest) {
		s := startIndependent(t, independent.Options{Layer: c.layer})
		cfg := configure(t, s)
		if c.agent {
			cfg.AgentTarget = s.AgentURL
		}
		if c.change != nil {
			c.change(cfg)
		}
		res := judge(t, cfg, nil)
		t.Logf("%d exchanges in %d ms", res.Counts.Exchanges, res.Run.DurationMS)
		if !assert.Equal(t, reports.Conformant, res.Verdict) {
			_ = console.Write(os.Stderr, res, console.Options{})
		}
		for _, q := range res.Requirements {
			assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
			if c.agent && q.Profile != features.AgentServer {
				assert.Equal(t, reports.Skipped, q.Verdict, q.ID)
			}
		}
	})
}

func agentAlone(c *config.Config) { c.Target = "" }

// busy answers every n-th request 429 or 503, with both forms of Retry-After that HTTP knows (RFC 9110, section 10.2.3). Both mean: at once.
func busy(every int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var served atomic.Int64
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch served.Add(1) % (2 * every) {
			case every:
				w.Header().Set("Retry-After", "0")
				http.Error(w, "busy, come back", http.StatusTooManyRequests)
			case 0:
				w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
				http.Error(w, "busy, come back", http.StatusServiceUnavailable)
			default:
				next.ServeHTTP(w, r)
			}
		})
	}
}

// late answers up to 80 ms late.
func late(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(rand.N(80 * time.Millisecond))
		next.ServeHTTP(w, r)
	})
}

// TestRunsThatBeginLate judges a server whose runs lie in a queue for long before they begin.
func TestRunsThatBeginLate(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	res := judgeAgent(t, s, beginsLate(300*time.Millisecond), func(*steps.Options) {})
	t.Logf("%d exchanges in %d ms", res.Counts.Exchanges, res.Run.DurationMS)
	for _, q := range res.Requirements {
		assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
	}
}

// TestRunsThatBeginLaterThanAnAnswerMayTake judges a server whose runs lie in a queue for longer than timeouts.request.
func TestRunsThatBeginLaterThanAnAnswerMayTake(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	cfg := agentConfig(t, s, beginsLate(1500*time.Millisecond))
	cfg.Timeouts.Request, cfg.Timeouts.Run = time.Second, 10*time.Second
	res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"AS-RUN-4"} })
	assert.Len(t, res.Requirements, 1)
	for _, q := range res.Requirements {
		assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
	}
}

// beginsLate has every run wait before it does anything. The state shows what the client has said.
func beginsLate(delay time.Duration) func(*proxy, http.Handler) http.Handler {
	var said sync.Map // what the server was told, with what the client had said
	return func(p *proxy, next http.Handler) http.Handler {
		late := when(at("POST", "/runs"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
			body := readBody(r)
			last := "input.messages." + strconv.Itoa(len(gjson.GetBytes(body, "input.messages").Array())-1) + ".content"
			if text := gjson.GetBytes(body, last); text.Type == gjson.String {
				wait := delay
				rest := text.Str
				if word, after, _ := strings.Cut(text.Str, " "); strings.HasPrefix(word, "wait=") {
					wait, rest = wait+holdOf(text.Str), after
				}
				told := fmt.Sprintf("wait=%d %s", wait.Milliseconds(), rest)
				said.Store(told, text.Str)
				body = bytes.Replace(body, []byte(`"`+text.Str+`"`), []byte(`"`+told+`"`), 1)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			next.ServeHTTP(w, r)
		})
		shown := when(at("GET", "/state"), func(_ *proxy, next http.Handler, w http.ResponseWriter, r *http.Request) {
			changeMessages(w, record(next, r), func(m []json.RawMessage) []json.RawMessage {
				for i := range m {
					said.Range(func(told, text any) bool {
						m[i] = bytes.ReplaceAll(m[i], []byte(told.(string)), []byte(text.(string)))
						return true
					})
				}
				return m
			})
		})
		return late(p, shown(p, next))
	}
}
