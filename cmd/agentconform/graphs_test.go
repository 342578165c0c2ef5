package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
)

// serveAgent starts a reference with the layer and returns a configuration for its built-in agent server alone.
func serveAgent(t *testing.T, layer faults.Layer) (*reference.Server, *config.Config) {
	t.Helper()
	o := reference.Options{}
	if layer != nil {
		layer(&o)
	}
	server, err := reference.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	c := config.Default()
	describe(&c, server)
	c.Target, c.AgentTarget, c.Create = "", server.AgentURL(), config.Create{}
	c.Timeouts.Request, c.Timeouts.Run = 4*time.Second, 6*time.Second
	require.NoError(t, c.Complete())
	return server, &c
}

func runAgent(t *testing.T, c *config.Config, only ...string) *reports.Result {
	t.Helper()
	catalogue, oracle := catalogueAndOracle(t)
	res, err := steps.Run(t.Context(), steps.Options{Config: c, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "graph", Version: "test",
		Select: steps.Selection{Profiles: []string{features.AgentServer}, Only: only}})
	require.NoError(t, err)
	return res
}

// verdicts returns the requirements with the verdict, and the names of the blockers of the kind.
func verdicts(res *reports.Result, verdict reports.Verdict, kind reports.BlockerKind) (ids, blockers []string) {
	names := map[string]bool{}
	for _, q := range res.Requirements {
		if q.Verdict == verdict {
			ids = append(ids, q.ID)
		}
		for _, s := range q.Scenarios {
			for _, b := range s.BlockedBy {
				if b.Kind == kind {
					names[b.Name] = true
				}
			}
		}
	}
	return ids, slices.Sorted(maps.Keys(names))
}

// TestADeafGraphBlocksWhatNeedsItsWords judges a server that is right with a graph that breaks every line of its
// contract.
func TestADeafGraphBlocksWhatNeedsItsWords(t *testing.T) {
	t.Parallel()
	for _, g := range faults.BrokenGraphs() {
		if g.Name == "graph-is-deaf" {
			assertTheGraphBlocks(t, g)
			return
		}
	}
	t.Fatal("there is no such graph")
}

// assertTheGraphBlocks judges a server that is right with a graph that breaks a line of its contract: exactly the words
// that it does not understand block, nothing fails, and the suite itself makes no mistake.
func assertTheGraphBlocks(t *testing.T, g faults.BrokenGraph) {
	t.Helper()
	_, c := serveAgent(t, g.Apply)
	res := runAgent(t, c)
	failed, words := verdicts(res, reports.Failed, reports.ByGraph)
	assert.Empty(t, failed)
	assert.Equal(t, slices.Sorted(slices.Values(g.Words)), words)
	assert.Equal(t, reports.Incomplete, res.Verdict, res.Headline)
	_, mistakes := verdicts(res, reports.Failed, reports.BySuite)
	assert.Empty(t, mistakes)
	notes := 0
	for _, n := range res.Notes {
		if n.Kind == reports.NoteGraph {
			notes++
		}
	}
	assert.Len(t, g.Words, notes)
	inconclusive, _ := verdicts(res, reports.Inconclusive, reports.ByGraph)
	assert.Empty(t, inconclusive)
}

// TestARunThatEndsBeforeItsOwnerCancels judges the owner by another run where refusing the others took longer than the
// first.
func TestARunThatEndsBeforeItsOwnerCancels(t *testing.T) {
	t.Parallel()
	var c *config.Config
	_, c = serveAgent(t, func(o *reference.Options) {
		o.WrapHTTP = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if run, cancels := strings.CutSuffix(r.URL.Path, "/cancel"); cancels && r.Header.Get("Authorization") == "" {
					for _, u := range c.Users {
						join := httptest.NewRequestWithContext(r.Context(), http.MethodGet, run+"/join", nil)
						join.Header.Set("Authorization", "Bearer "+string(u.Token))
						next.ServeHTTP(httptest.NewRecorder(), join)
					}
				}
				next.ServeHTTP(w, r)
			})
		}
	})
	c.Timeouts.Request = time.Minute // the refusal takes as long as the run
	res, judged := runAgent(t, c, "AS-AUTHZ-6"), 0
	for _, q := range res.Requirements {
		for _, s := range q.Scenarios {
			if strings.HasPrefix(s.Name, "cancel-run ") {
				assert.Equal(t, reports.Passed, s.Verdict, "%s: %s", s.Name, s.Reason)
				judged++
			}
		}
	}
	assert.Equal(t, 2, judged)
}

// TestDoctorTriesTheGraph reports each word, and leaves no thread.
func TestDoctorTriesTheGraph(t *testing.T) {
	t.Parallel()
	catalogue, oracle := catalogueAndOracle(t)
	var threads atomic.Int64
	layers, _, err := faults.Find("graph-calls-no-tool")
	require.NoError(t, err)
	_, c := serveAgent(t, func(o *reference.Options) {
		layers[0](o)
		o.WrapHTTP = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/threads") {
					threads.Add(1)
				}
				next.ServeHTTP(w, r)
			})
		}
	})
	found := map[string]doctor.State{}
	for _, try := range []bool{false, true} {
		e, err := steps.Examine(t.Context(), c, catalogue, oracle, doctor.Options{Try: try})
		require.NoError(t, err)
		assert.True(t, e.Testable())
		for _, check := range e.Checks {
			if strings.HasPrefix(check.Subject, "graph") || check.Subject == "threads" {
				found[check.Subject] = check.State
			}
		}
		assert.Equal(t, try, threads.Load() > 0)
	}
	assert.Equal(t, map[string]doctor.State{"graph: echo": doctor.Fine, "graph: wait": doctor.Fine, "graph: wait-after-write": doctor.Fine,
		"graph: fail": doctor.Fine, "graph: whoami": doctor.Fine, "graph: tool": doctor.Noted, "threads": doctor.Fine}, found)
}

// TestDoctorFindsThatNoRunCompletes: a target whose graph fails always cannot be tested.
func TestDoctorFindsThatNoRunCompletes(t *testing.T) {
	t.Parallel()
	catalogue, oracle := catalogueAndOracle(t)
	layers, _, err := faults.Find("graph-raises-without-a-word")
	require.NoError(t, err)
	_, c := serveAgent(t, layers[0])
	e, err := steps.Examine(t.Context(), c, catalogue, oracle, doctor.Options{Try: true})
	require.NoError(t, err)
	assert.False(t, e.Testable(), e.Conclusion())
	assert.Contains(t, e.Conclusion(), "does not answer")
}

// TestFullQueue judges a server whose only worker is kept busy by somebody else: nothing fails, and the hint names the
// time.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	layers, _, err := faults.Find("one-run-at-a-time")
	require.NoError(t, err)
	server, c := serveAgent(t, layers[0])
	c.Timeouts.Run = time.Second
	startRun(t, server, "wait=120000")
	res := runAgent(t, c, "AS-RUN-4", "AS-STATE-1", "AS-STATE-3", "AS-AUTH-4")
	failed, keys := verdicts(res, reports.Failed, reports.ByKey)
	assert.Empty(t, failed)
	assert.Equal(t, []string{"timeouts.run"}, keys)
	assert.Equal(t, reports.Incomplete, res.Verdict)
}

// startRun starts a run of the first user on a new thread of the built-in agent server.
func startRun(t *testing.T, server *reference.Server, text string) {
	t.Helper()
	post := func(path, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.AgentURL()+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+server.Fixtures().Users[0].Token)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer a.Body.Close()
		require.Equal(t, http.StatusOK, a.StatusCode)
		var created struct {
			ThreadID string `json:"thread_id"`
		}
		require.NoError(t, json.NewDecoder(a.Body).Decode(&created))
		return created.ThreadID
	}
	thread := post("/threads", "{}")
	post("/threads/"+thread+"/runs", `{"assistant_id":"conformance","input":{"messages":[{"role":"user","content":"`+text+`"}]}}`)
}
