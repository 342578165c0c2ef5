package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
)

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

// TestDeafGraph judges a conforming server with a graph that breaks every line of its contract.
func TestDeafGraph(t *testing.T) {
	t.Parallel()
	all := faults.BrokenGraphs()
	deaf := slices.IndexFunc(all, func(g faults.BrokenGraph) bool { return g.Name == "graph-is-deaf" })
	assertTheGraphBlocks(t, all[deaf])
}

// assertTheGraphBlocks judges a conforming server with a graph that breaks a line of its contract. Only the words that
// the graph does not understand block requirements, no requirement fails, and there is no error of the suite.
func assertTheGraphBlocks(t *testing.T, g faults.BrokenGraph) {
	t.Helper()
	var o reference.Options
	g.Apply(&o)
	_, c := startAgent(t, o)
	res := judge(t, c)
	failed, words := verdicts(res, reports.Failed, reports.ByGraph)
	assert.Empty(t, failed)
	assert.Equal(t, slices.Sorted(slices.Values(g.Words)), words)
	assert.Equal(t, reports.Incomplete, res.Verdict, res.Headline)
	_, mistakes := verdicts(res, reports.Failed, reports.BySuite)
	assert.Empty(t, mistakes)
	assert.Len(t, g.Words, len(notesOf(res, reports.NoteGraph)))
	inconclusive, _ := verdicts(res, reports.Inconclusive, reports.ByGraph)
	assert.Empty(t, inconclusive)
}

// TestOtherGraph judges a conforming server with a graph that answers every message with a greeting.
func TestOtherGraph(t *testing.T) {
	t.Parallel()
	for _, g := range faults.BrokenGraphs() {
		if strings.HasPrefix(g.Name, "graph-greets") {
			t.Run(g.Name, func(t *testing.T) {
				t.Parallel()
				assertTheGraphBlocks(t, g)
			})
		}
	}
}

// alsoChanging adds a change of the response to get-state to the options.
func alsoChanging(t *testing.T, o reference.Options, do string) reference.Options {
	t.Helper()
	row, err := deviate.New("change of the state", []string{"get-state"}, []string{do})
	require.NoError(t, err)
	faults.Around(row, &deviate.Count{})(&o)
	return o
}

// TestLostMessagesOfOtherGraph judges servers with another graph that lose a message of each run.
func TestLostMessagesOfOtherGraph(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"human", "ai"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, c := startAgent(t, alsoChanging(t, withFaults(t, "graph-greets"), "except answer.values.messages type "+kind))
			res := judge(t, c, "AS-STATE-2")
			failed, words := verdicts(res, reports.Failed, reports.ByGraph)
			assert.Equal(t, []string{"AS-STATE-2"}, failed)
			assert.Empty(t, words)
			assert.Equal(t, reports.NonConformant, res.Verdict)
		})
	}
}

// TestOtherGraphDoesNotIdentifyTheRevision updates a deployment whose graph answers every message with the same
// greeting before and after the update.
func TestOtherGraphDoesNotIdentifyTheRevision(t *testing.T) {
	t.Parallel()
	const greet = "answer.values.messages.[type=ai].content = Hello! How can I help you?"
	_, c := start(t, alsoChanging(t, reference.Options{}, greet))
	c.Timeouts.Request = 5 * time.Second // time to wait for the answer of the new revision
	res := judge(t, c, "E2E-1")
	failed, words := verdicts(res, reports.Blocked, reports.ByGraph)
	assert.Equal(t, []string{"E2E-1"}, failed)
	assert.Equal(t, []string{"echo"}, words)
	assert.Equal(t, reports.Incomplete, res.Verdict)
}

// TestEqualMessagesOfTwoRuns judges rollbacks with graphs that write the same text in each run: a correct answer
// according to the configuration, or a first message. Only messages of the deleted run are reported.
func TestEqualMessagesOfTwoRuns(t *testing.T) {
	t.Parallel()
	rollback := []string{"AS-ROLLBACK-1", "AS-ROLLBACK-2", "AS-ROLLBACK-3", "AS-ROLLBACK-4", "AS-ROLLBACK-5", "AS-ROLLBACK-6",
		"AS-ROLLBACK-7", "AS-ROLLBACK-8", "AS-STATE-3"}
	first := func(source string) string {
		return strings.Replace(source, `"Working on it: " + asked`, `"One moment."`, 1)
	}
	for _, equal := range []string{"answers", "first messages"} {
		for fault, fails := range map[string]string{"": "", "rolled-back-checkpoint-stays": "AS-ROLLBACK-3"} {
			t.Run(strings.TrimSpace(equal+" "+fault), func(t *testing.T) {
				t.Parallel()
				var names []string
				if fault != "" {
					names = append(names, fault)
				}
				if equal == "answers" {
					names = append(names, "graph-greets-on-time")
				}
				o := withFaults(t, names...)
				if equal == "first messages" {
					o.WrapGraph = append(o.WrapGraph, first)
				}
				_, c := startAgent(t, o)
				c.Agent.Words = []string{"echo"}
				failed, _ := verdicts(judge(t, c, rollback...), reports.Failed, reports.ByGraph)
				if fails == "" {
					assert.Empty(t, failed)
				} else {
					assert.Contains(t, failed, fails)
				}
			})
		}
	}
}

// TestFullQueue judges a server whose only worker is busy with the run of another client. Nothing fails, and the
// blocked requirements name timeouts.run.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	server, c := startAgent(t, withFaults(t, "one-run-at-a-time"))
	c.Timeouts.Run = time.Second
	post := func(path string, body any) any {
		return send(t, "POST", server.AgentURL()+path, "Authorization", "Bearer "+server.Fixtures().Users[0].Token, body)
	}
	thread := post("/threads", struct{}{}).(map[string]any)["thread_id"]
	message := map[string]string{"role": "user", "content": "wait=120000"}
	post(fmt.Sprintf("/threads/%s/runs", thread), map[string]any{"assistant_id": "conformance",
		"input": map[string]any{"messages": []any{message}}})
	res := judge(t, c, "AS-RUN-4", "AS-STATE-1", "AS-STATE-3", "AS-AUTH-4")
	failed, keys := verdicts(res, reports.Failed, reports.ByKey)
	assert.Empty(t, failed)
	assert.Equal(t, []string{"timeouts.run"}, keys)
	assert.Equal(t, reports.Incomplete, res.Verdict)
}
