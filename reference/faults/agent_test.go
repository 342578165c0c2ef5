package faults

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// TestEveryAgentRequirementHasItsFaults expects two faults for a MUST and one for any other level.
func TestEveryAgentRequirementHasItsFaults(t *testing.T) {
	count := map[string]int{}
	for _, f := range agentServer() {
		count[f.Fails]++
	}
	for _, q := range catalogue(t).Requirements {
		if q.Profile == features.ControlPlane {
			continue
		}
		fewest := 1
		if string(q.Level) == "MUST" {
			fewest = 2
		}
		assert.GreaterOrEqual(t, count[q.ID], fewest, q.ID)
	}
}

// faulty is a client of the built-in agent server of a reference with a fault.
type faulty struct {
	t      *testing.T
	server *reference.Server
}

func withFault(t *testing.T, name string) faulty {
	t.Helper()
	layers, _, err := Find(name)
	require.NoError(t, err)
	var o reference.Options
	for _, l := range layers {
		l(&o)
	}
	server, err := reference.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return faulty{t, server}
}

// as sends a request of the n-th user.
func (f faulty) as(user int, method, path string, body any) (int, gjson.Result) {
	f.t.Helper()
	sent, err := json.Marshal(body)
	require.NoError(f.t, err)
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.server.AgentURL()+path, bytes.NewReader(sent))
	require.NoError(f.t, err)
	r.Header.Set("Authorization", "Bearer "+f.server.Fixtures().Users[user].Token)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(f.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(f.t, err)
	return answer.StatusCode, gjson.ParseBytes(text)
}

// thread creates a thread of the first user and returns its path.
func (f faulty) thread() string {
	f.t.Helper()
	status, made := f.as(0, "POST", "/threads", map[string]any{})
	require.Equal(f.t, http.StatusOK, status, made.Raw)
	return "/threads/" + made.Get("thread_id").String()
}

// run starts a run of the first user and returns its path.
func (f faulty) run(thread, says, strategy string) string {
	f.t.Helper()
	status, made := f.as(0, "POST", thread+"/runs", map[string]any{
		"assistant_id": f.server.Fixtures().AssistantID, "multitask_strategy": strategy,
		"input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": says}}},
	})
	require.Equal(f.t, http.StatusOK, status, made.Raw)
	return thread + "/runs/" + made.Get("run_id").String()
}

func TestAFaultOfTheAnswers(t *testing.T) {
	f := withFault(t, "message-has-a-role")
	thread := f.thread()
	f.as(0, "GET", f.run(thread, "hello", "enqueue")+"/join", nil)
	_, state := f.as(0, "GET", thread+"/state", nil)
	assert.Equal(t, "human", state.Get("values.messages.0.role").String(), state.Raw)
	assert.False(t, state.Get("values.messages.0.type").Exists())
}

func TestAFaultOfTheStore(t *testing.T) {
	f := withFault(t, "rolled-back-run-is-marked")
	thread := f.thread()
	prior := f.run(thread, "wait=60000", "enqueue")
	next := f.run(thread, "hello", "rollback")
	status, _ := f.as(0, "GET", next+"/join", nil)
	assert.Equal(t, http.StatusOK, status)
	status, found := f.as(0, "GET", prior, nil)
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "interrupted", found.Get("status").String(), found.Raw)
}

func TestAFaultOfTheAuthorization(t *testing.T) {
	f := withFault(t, "list-is-everybodys")
	f.thread()
	_, list := f.as(1, "GET", "/threads", nil)
	assert.Len(t, list.Array(), 1, list.Raw)
}

func TestAForeignThreadIsServedAsIfToItsOwner(t *testing.T) {
	f := withFault(t, "foreign-state-is-read")
	thread := f.thread()
	status, _ := f.as(1, "GET", thread+"/state", nil)
	assert.Equal(t, http.StatusOK, status)
	run := f.run(thread, "hello", "enqueue")
	status, _ = f.as(1, "GET", run, nil)
	assert.Equal(t, http.StatusNotFound, status, "no other operation")
}

func TestWhatARolledBackRunWasToDo(t *testing.T) {
	began := time.Now()
	said := func(content string) []threads.Message { return []threads.Message{{Content: content}} }
	first := &tombstone{input: said("wait=250 wait-after-write=50 await=9 hello"), last: began}
	assert.Equal(t, began.Add(300*time.Millisecond), tombstone{behind: first}.due())
	assert.False(t, tombstone{input: said("x"), written: said("x")}.hasOutput())
	assert.True(t, tombstone{input: said("x"), written: append(said("x"), said("y")...)}.hasOutput())
}

func TestTheLastExchange(t *testing.T) {
	of := func(kinds ...string) (all []map[string]any) {
		for _, k := range kinds {
			all = append(all, map[string]any{"type": k})
		}
		return all
	}
	for _, c := range []struct {
		all  []map[string]any
		want int
	}{
		{of("human", "ai"), 2},
		{of("human", "ai", "human", "tool", "ai"), 3},
		{of("human", "ai", "human", "human", "ai"), 3},
		{of("ai"), 1},
		{of("human"), 1},
	} {
		assert.Len(t, lastExchange(c.all), c.want)
	}
}

func TestWhichRunsARollbackReaches(t *testing.T) {
	b := newOtherRuns()
	run := func(id, thread, strategy string, deleted ...string) {
		b.begun(threads.Run{ID: id, ThreadID: thread, Strategy: strategy}, deleted)
	}
	run("earlier", "a", "enqueue")
	run("ended", "b", "enqueue")
	run("party", "c", "rollback")
	run("prior", "d", "enqueue")
	run("later", "e", "enqueue")
	b.ended("ended", []threads.Message{{ID: "last"}})
	run("new", "d", "rollback", "prior")
	for id, want := range map[string]bool{"earlier": true, "ended": false, "party": false, "prior": false, "later": false, "new": false} {
		assert.Equal(t, want, b.affected(id), id)
	}
	b.ended("earlier", []threads.Message{{ID: "word"}})
	assert.True(t, b.discarded(threads.Message{ID: "word"}))
	assert.False(t, b.discarded(threads.Message{ID: "last"}))
}
