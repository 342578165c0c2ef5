//go:build nightly

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/resume"
	steptarget "github.com/agentconform/agentconform/steps/target"
)

// cutter kills the process of a run at one of its requests, which the target has carried out and not answered (of
// creations, those that it has not refused), and knows what was created and removed.
type cutter struct {
	sent atomic.Int64 // requests of the present process

	mu      sync.Mutex
	at      func(*http.Request) bool
	left    int // of such requests, until the process is killed; 0: it is not
	kill    func()
	created map[string]bool // by path
	names   []string        // of deployments that were created
	removed map[string]bool
}

func (c *cutter) due(r *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 || !c.at(r) {
		return false
	}
	c.left--
	return c.left == 0
}

func (c *cutter) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.sent.Add(1)
		path := strings.TrimSuffix(r.URL.Path, "/")
		creates := r.Method == http.MethodPost && (strings.HasSuffix(path, "/deployments") || strings.HasSuffix(path, "/threads"))
		due := !creates && c.due(r)
		if !due && !creates && r.Method != http.MethodDelete {
			next.ServeHTTP(w, r)
			return
		}
		a := httptest.NewRecorder()
		next.ServeHTTP(a, r)
		c.note(r.Method, path, creates, a)
		if due || creates && a.Code/100 == 2 && c.due(r) {
			c.kill()
		}
		maps.Copy(w.Header(), a.Header())
		w.WriteHeader(a.Code)
		_, _ = w.Write(a.Body.Bytes())
	})
}

func (c *cutter) note(method, path string, creates bool, a *httptest.ResponseRecorder) {
	if a.Code/100 != 2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var made struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Thread string `json:"thread_id"`
	}
	switch {
	case method == http.MethodDelete:
		c.removed[path] = true
	case creates && json.Unmarshal(a.Body.Bytes(), &made) == nil:
		c.created[path+"/"+cmp.Or(made.Thread, made.ID)] = true
		if made.ID != "" {
			c.names = append(c.names, made.Name)
		}
	}
}

// there are the ids of what was created and is still at the target: deployments, or threads that go with no deployment.
func (c *cutter) there(agentOnly bool) (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path := range c.created {
		if !c.removed[path] && strings.Contains(path, "/threads/") == agentOnly {
			ids = append(ids, path[strings.LastIndex(path, "/")+1:])
		}
	}
	slices.Sort(ids)
	return ids
}

// resumed is a target, and a configuration for it.
type resumed struct {
	*cutter
	folder, config string
	secrets        map[string]string
}

const resumedConcurrency = 4

func startResumed(t *testing.T, agentOnly bool, names ...string) *resumed {
	t.Helper()
	layers, edition, err := faults.Find(names...)
	require.NoError(t, err)
	c := &cutter{created: map[string]bool{}, removed: map[string]bool{}}
	o := reference.Options{Edition: edition}
	for _, apply := range layers {
		apply(&o)
	}
	inner := o.WrapHTTP
	o.WrapHTTP = func(next http.Handler) http.Handler {
		if inner != nil {
			next = inner(next)
		}
		return c.wrap(next)
	}
	server, err := reference.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	if agentOnly {
		cfg.Target, cfg.AgentTarget = "", server.AgentURL()
	}
	text, err := cfg.YAML()
	require.NoError(t, err)
	r := &resumed{cutter: c, folder: t.TempDir(), secrets: cfg.Secrets()}
	r.config = filepath.Join(r.folder, "target.yaml")
	require.NoError(t, os.WriteFile(r.config, text, 0o600))
	return r
}

// run runs the program, and kills it at the request with the number, of those that are meant; 0: at none.
func (r *resumed) run(t *testing.T, number int, at func(*http.Request) bool, arguments ...string) (code int, output string) {
	t.Helper()
	var text strings.Builder
	p := exec.CommandContext(t.Context(), "agentconform", append([]string{"run", "--config", r.config, "--seed", "7", "--concurrency", fmt.Sprint(resumedConcurrency)}, arguments...)...)
	p.Stdout, p.Stderr, p.Env = &text, &text, append(os.Environ(), "NO_COLOR=1", "GITHUB_STEP_SUMMARY=")
	started, ended := make(chan struct{}), make(chan struct{})
	r.sent.Store(0)
	r.mu.Lock()
	r.left, r.at, r.kill = number, at, func() {
		<-started // its first request may come before Start has returned
		_ = p.Process.Kill()
		<-ended
	}
	r.mu.Unlock()
	require.NoError(t, p.Start())
	close(started)
	_ = p.Wait()
	close(ended)
	if number > 0 {
		require.Equal(t, -1, p.ProcessState.ExitCode(), "it ended before it was killed: %s", text.String())
	}
	return p.ProcessState.ExitCode(), text.String()
}

// judged are the verdict of each scenario with its cause, and the findings.
func judged(t *testing.T, folder string) (verdicts map[string]string, findings []string, r *reports.Result) {
	t.Helper()
	r, err := reports.ReadFile(filepath.Join(folder, "result.json"))
	require.NoError(t, err)
	verdicts = map[string]string{}
	for _, q := range r.Requirements {
		verdicts[q.ID] = string(q.Verdict)
		for _, s := range q.Scenarios {
			verdicts[fmt.Sprintf("%s %s:%d", q.ID, s.URI, s.Line)] = fmt.Sprint(s.Verdict, s.Skip, s.BlockedBy)
		}
	}
	for _, f := range r.Findings {
		findings = append(findings, f.Requirement+" "+f.ID)
		assert.True(t, f.Exchange == 0 || len(f.Exchanges) > 0, "the finding %s %s has no chain", f.Requirement, f.ID)
	}
	problems, counted := 0, 0
	for x, err := range r.Exchanges.All() {
		require.NoError(t, err)
		problems += len(x.Problems)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Requirement, "-CONTRACT-") {
			counted += f.Count
		}
	}
	assert.Equal(t, problems, counted, "all that the contract has against answers is counted, in whichever part of the run they came")
	return verdicts, findings, r
}

func anyRequest(*http.Request) bool { return true }

func aCreation(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/deployments")
}

// TestResumeAfterKill kills runs with SIGKILL, some of them more than once, goes on with them, and compares with a
// whole run.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	type kill struct {
		number int
		at     func(*http.Request) bool
	}
	for _, target := range []struct {
		name      string
		faults    []string
		agentOnly bool
		kills     [][]kill
	}{
		{name: "reference", kills: [][]kill{{{3, anyRequest}}, {{8, aCreation}}, {{200, anyRequest}, {300, anyRequest}, {1, aCreation}}}},
		{name: "three faults", faults: []string{"foreign-run-is-retrieved", "limit-101-is-served", "deployment-shows-a-list-of-commits"},
			kills: [][]kill{{{5, aCreation}}, {{1500, anyRequest}}}},
		{name: "agent server alone", agentOnly: true, kills: [][]kill{{{450, anyRequest}, {100, anyRequest}}}},
	} {
		t.Run(target.name, func(t *testing.T) {
			t.Parallel()
			s := startResumed(t, target.agentOnly, target.faults...)
			whole := filepath.Join(s.folder, "whole")
			code, output := s.run(t, 0, nil, "--out", whole)
			verdicts, findings, _ := judged(t, whole)
			requests := int(s.sent.Load())
			require.Greater(t, len(verdicts), 100, output)
			for _, name := range s.names {
				assert.NotEmpty(t, steptarget.RunOf(name), "clean would not know %q", name)
			}
			require.Empty(t, s.there(target.agentOnly), "a whole run leaves nothing")
			for i, kills := range target.kills {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					out := filepath.Join(s.folder, fmt.Sprint(i))
					orphans := map[string]bool{}
					for n, k := range kills {
						flag := "--resume"
						if n == 0 {
							flag = "--out"
						}
						s.run(t, k.number, k.at, flag, out)
						assert.NoFileExists(t, filepath.Join(out, "result.json"))
						found := notInLedger(t, out, s.there(target.agentOnly))
						for _, id := range found {
							orphans[id] = true
						}
						assert.LessOrEqual(t, len(orphans), (n+1)*resumedConcurrency, "one for each request that was in flight")
						if k.number > 0 && target.name == "reference" && i == 1 {
							assert.NotEmpty(t, orphans, "a creation was in flight")
						}
					}
					before := s.taken(t, out)
					again, output := s.run(t, 0, nil, "--resume", out)
					assert.Equal(t, code, again, output)
					assert.Contains(t, output, fmt.Sprintf("%s taken over", reports.Count(before, "scenario")))
					sameVerdicts, sameFindings, result := judged(t, out)
					assert.Equal(t, verdicts, sameVerdicts)
					assert.Equal(t, findings, sameFindings)
					if before > 100 {
						assert.Less(t, int(s.sent.Load()), requests-before, "what was taken over is not asked again")
					}
					require.Len(t, result.Run.Resumed, len(kills))
					last := result.Run.Resumed[len(kills)-1]
					assert.True(t, result.Run.StartedAt.Before(last.BrokenAt) && last.BrokenAt.Before(last.ResumedAt), "%+v", result.Run)
					assert.GreaterOrEqual(t, result.Run.DurationMS, latest(t, result), "the times of exchanges are those of the run")
					assert.Equal(t, before, result.Run.Resumed[len(kills)-1].TakenOver)
					left := s.there(target.agentOnly) // the target may have got requests after their sender was killed
					assert.Subset(t, left, slices.Collect(maps.Keys(orphans)))
					assert.ElementsMatch(t, left, notInLedger(t, out, slices.Clone(left)), "what is left is what no ledger names")
					assert.LessOrEqual(t, len(left), len(kills)*resumedConcurrency, "one for each request that was in flight")
					assert.NoFileExists(t, filepath.Join(out, resume.File))
					t.Logf("killed %d times, %d scenarios taken over, %d orphans", len(kills), before, len(orphans))
					s.cleanOrphans(t, target.agentOnly)
				})
			}
		})
	}
}

// latest is when the last exchange was sent, from the start of the run.
func latest(t *testing.T, r *reports.Result) (at int64) {
	t.Helper()
	for x, err := range r.Exchanges.All() {
		require.NoError(t, err)
		at = max(at, x.AtMS)
	}
	return at
}

// notInLedger are those of the ids that the ledger of a run does not name.
func notInLedger(t *testing.T, out string, ids []string) []string {
	t.Helper()
	left, _, err := evidence.ReadLedger(filepath.Join(out, "ledger.jsonl"))
	require.NoError(t, err)
	return slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(left, func(e evidence.Left) bool { return e.ID == id })
	})
}

// taken counts the scenarios in a journal that have ended. It holds no secret.
func (r *resumed) taken(t *testing.T, out string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, resume.File))
	require.NoError(t, err)
	for secret, name := range r.secrets {
		assert.False(t, strings.Contains(string(text), secret), "the journal holds %s", name)
	}
	return strings.Count(string(text), "\n{\"scenario\":")
}

// cleanOrphans has clean find the deployments by their names. Threads without a deployment have no name, most of them.
func (r *resumed) cleanOrphans(t *testing.T, agentOnly bool) {
	t.Helper()
	n := len(r.there(agentOnly))
	if agentOnly || n == 0 {
		r.mu.Lock()
		defer r.mu.Unlock()
		clear(r.created)
		return
	}
	text, err := exec.CommandContext(t.Context(), "agentconform", "clean", "--config", r.config, "--older-than", "1ns").CombinedOutput()
	assert.NoError(t, err, string(text))
	assert.Contains(t, string(text), fmt.Sprintf("%d of %d removed", n, n))
	assert.Empty(t, r.there(agentOnly))
}
