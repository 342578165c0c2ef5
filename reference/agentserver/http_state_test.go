package agentserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

type seenCheckpoint struct {
	ThreadID string `json:"thread_id"`
	ID       string `json:"checkpoint_id"`
}

type seenState struct {
	Values     struct{ Messages []threads.Message }
	Next       []string
	Tasks      []struct{ ID, Name, Error string }
	Checkpoint seenCheckpoint
	Parent     *seenCheckpoint `json:"parent_checkpoint"`
	CreatedAt  time.Time       `json:"created_at"`
	Metadata   struct {
		Source string
		Step   int
		RunID  string `json:"run_id"`
		Graph  string `json:"graph_id"`
	}
}

// text is the last message of a state.
func (s seenState) text() string {
	last := s.Values.Messages[len(s.Values.Messages)-1]
	return fmt.Sprintf("%s: %s", last.Type, last.Content)
}

func (u as) state(path string) seenState {
	u.t.Helper()
	var st seenState
	u.ok("GET", path, "").json(u.t, &st)
	return st
}

func (u as) history(thread, body string) []seenState {
	u.t.Helper()
	var list []seenState
	u.ok("POST", "/threads/"+thread+"/history", body).json(u.t, &list)
	return list
}

const aNote = `{"values": {"messages": [{"role": "user", "content": "a note"}]}, "as_node": "conformance", "checkpoint": null, "checkpoint_id": null}`

func TestEveryWriteIsACheckpointOfTheHistory(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	path := "/threads/" + thread + "/state"
	assert.Empty(t, alice.history(thread, ""))
	run := alice.run(thread, "x wait-after-write=1", "")
	alice.join(thread, run)
	alice.ok("POST", path, aNote)

	all := alice.history(thread, "{}")
	require.Len(t, all, 4)
	for i, want := range []struct {
		text, source, run string
		next              []string
	}{
		{"human: a note", "update", "", []string{}},
		{"ai: You said: x wait-after-write=1", "loop", run, []string{}},
		{"ai: Working on it: x wait-after-write=1", "loop", run, []string{"conformance"}},
		{"human: x wait-after-write=1", "input", run, []string{"conformance"}},
	} {
		st := all[i]
		assert.Equal(t, want.text, st.text())
		assert.Len(t, st.Values.Messages, 4-i)
		assert.Equal(t, want.source, st.Metadata.Source)
		assert.Equal(t, want.run, st.Metadata.RunID)
		assert.Equal(t, want.next, st.Next)
		assert.Equal(t, 3-i, st.Metadata.Step)
		assert.Equal(t, thread, st.Checkpoint.ThreadID)
		if i < 3 {
			assert.Equal(t, all[i+1].Checkpoint, *st.Parent)
			assert.False(t, st.CreatedAt.Before(all[i+1].CreatedAt))
		} else {
			assert.Nil(t, st.Parent)
		}
		at := alice.state(path + "/" + st.Checkpoint.ID)
		assert.Equal(t, st, at)
		var posted seenState
		alice.ok("POST", path+"/checkpoint", fmt.Sprintf(`{"checkpoint": {"checkpoint_id": %q, "checkpoint_ns": "", "thread_id": %q}, "subgraphs": true}`, st.Checkpoint.ID, thread)).json(t, &posted)
		assert.Equal(t, st, posted)
	}
	assert.Equal(t, all[0], alice.state(path+"?subgraphs=True"))

	second := all[1].Checkpoint.ID
	for body, want := range map[string][]seenState{
		`{"limit": 1}`:                 all[:1],
		`{"before": "` + second + `"}`: all[2:],
		`{"before": {"checkpoint_id": "` + second + `"}, "limit": 1}`:       all[2:3],
		`{"before": {"configurable": {"checkpoint_id": "` + second + `"}}}`: all[2:],
		`{"metadata": {"source": "loop"}}`:                                  all[1:3],
		`{"metadata": {"run_id": "` + run + `"}}`:                           all[1:],
		`{"metadata": {"step": 0}, "checkpoint": {"checkpoint_ns": ""}}`:    all[3:],
	} {
		assert.Equal(t, want, alice.history(thread, body), body)
	}
	var listed []seenState
	alice.ok("GET", "/threads/"+thread+"/history?limit=2&before="+second, "").json(t, &listed)
	assert.Equal(t, all[2:], listed)
	unknown := uuid.NewString()
	assert.Equal(t, 404, alice.do("GET", path+"/"+unknown, "").status)
	assert.Equal(t, 404, alice.do("GET", "/threads/"+thread+"/history?before="+unknown, "").status)
}

func TestARollbackDeletesTheCheckpointsOfThePriorRun(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	alice.ok("POST", "/threads/"+thread+"/state", aNote)
	prior := alice.run(thread, "prior "+writesThenUnending, "")
	alice.untilText(thread, "Working")
	busy := alice.state("/threads/" + thread + "/state")
	assert.Equal(t, []string{"conformance"}, busy.Next)
	assert.Equal(t, prior, busy.Tasks[0].ID)
	assert.Equal(t, 409, alice.do("POST", "/threads/"+thread+"/state", aNote).status)

	alice.join(thread, alice.run(thread, "next", "rollback"))
	var texts []string
	for _, st := range alice.history(thread, "{}") {
		texts = append(texts, st.text())
		assert.NotEqual(t, prior, st.Metadata.RunID)
	}
	assert.Equal(t, []string{"ai: You said: next", "human: next", "human: a note"}, texts)
	assert.Equal(t, 404, alice.do("GET", "/threads/"+thread+"/state/"+busy.Checkpoint.ID, "").status)
}

func TestAnUpdateOfTheStateStays(t *testing.T) {
	s := conformanceSite(t, Options{MaxState: 1000})
	alice := s.alice()
	thread := alice.thread()
	path := "/threads/" + thread + "/state"
	run := alice.run(thread, "x fail", "")
	alice.join(thread, run)
	failed := alice.state(path)
	assert.Equal(t, []string{"conformance"}, failed.Next)
	assert.Contains(t, failed.Tasks[0].Error, "asked to")

	var made struct {
		Checkpoint, Configurable seenCheckpoint
		ID                       string `json:"checkpoint_id"`
	}
	note := fmt.Sprintf(`{"values": {"messages": [{"type": "ai", "content": "a note", "id": "one"}]}, "checkpoint": {"checkpoint_id": %q}}`, failed.Checkpoint.ID)
	alice.ok("POST", path, note).json(t, &made)
	assert.Equal(t, alice.state(path).Checkpoint, made.Checkpoint)
	assert.Equal(t, made.Checkpoint, made.Configurable)
	assert.Equal(t, made.Checkpoint.ID, made.ID)
	assert.Empty(t, alice.state(path).Next)
	assert.Contains(t, alice.do("POST", path, note).detail(t), "checkpoint")
	again := alice.do("POST", path, `{"values": {"messages": {"type": "ai", "content": "changed", "id": "one"}}}`)
	assert.Equal(t, 422, again.status)
	assert.Contains(t, again.detail(t), "replaced")
	large := alice.do("POST", path, fmt.Sprintf(`{"values": {"messages": [{"role": "user", "content": "%01000d"}]}}`, 0))
	assert.Equal(t, 422, large.status)

	alice.ok("POST", path, `{"values": {"messages": {"type": "ai", "content": "another"}}}`)
	assert.Equal(t, 204, alice.do("DELETE", "/threads/"+thread+"/runs/"+run, "").status)
	assert.Equal(t, []string{"ai: a note", "ai: another"}, alice.texts(thread))
	assert.Len(t, alice.history(thread, "{}"), 2)
}

func TestACopyHasTheStateAndNoRuns(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	alice.ok("PATCH", "/threads/"+thread, `{"metadata": {"purpose": "copied"}}`)
	alice.join(thread, alice.run(thread, "hello", ""))
	alice.run(thread, "prior "+writesThenUnending, "")
	alice.untilText(thread, "Working")

	var copied found
	alice.ok("POST", "/threads/"+thread+"/copy", "").json(t, &copied)
	assert.NotEqual(t, thread, copied.ID)
	assert.Equal(t, map[string]any{"owner": "alice@example.org", "purpose": "copied"}, copied.Metadata)
	assert.Equal(t, "idle", copied.Status)
	assert.Len(t, copied.Values["messages"], 2)
	assert.Equal(t, []string{"human: hello", "ai: You said: hello"}, alice.texts(copied.ID), "not what a run in progress wrote")
	original := alice.history(thread, "{}")
	for i, st := range alice.history(copied.ID, "{}") {
		assert.Equal(t, original[i+2].Checkpoint.ID, st.Checkpoint.ID)
		assert.Equal(t, copied.ID, st.Checkpoint.ThreadID)
		assert.Equal(t, original[i+2].Metadata, st.Metadata)
	}
	var runs []threads.Run
	alice.ok("GET", "/threads/"+copied.ID+"/runs", "").json(t, &runs)
	assert.Empty(t, runs)
	assert.Equal(t, 204, alice.do("DELETE", "/threads/"+thread, "").status)
	alice.join(copied.ID, alice.run(copied.ID, "again", ""))
	assert.Len(t, alice.texts(copied.ID), 4)

	assert.Equal(t, 204, as{alice.site, map[string]string{"Authorization": "Bearer alice-token", "Prefer": "return=minimal"}}.
		do("PATCH", "/threads/"+copied.ID, `{"metadata": {"n": 1}}`).status)
}

func TestAThreadOfSomeoneElseIsNotFound(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice, bob := s.alice(), s.bob()
	thread := alice.thread()
	alice.join(thread, alice.run(thread, "hello", ""))
	checkpoint := alice.state("/threads/" + thread + "/state").Checkpoint.ID
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/copy", ""}, {"GET", "/history", ""}, {"POST", "/history", "{}"}, {"POST", "/state", aNote},
		{"POST", "/state/checkpoint", `{"checkpoint": {"checkpoint_id": "` + checkpoint + `"}}`}, {"GET", "/state/" + checkpoint, ""},
	} {
		path := "/threads/" + thread + c.path
		assert.Equal(t, 404, bob.do(c.method, path, c.body).status, path)
		assert.Equal(t, 401, s.nobody().do(c.method, path, c.body).status, path)
		assert.Equal(t, 200, s.studio().do(c.method, path, c.body).status, path)
	}
	for _, path := range []string{"/threads/search", "/threads/count", "/assistants/search", "/assistants/count", "/assistants", "/store/items", "/runs/crons"} {
		assert.Equal(t, 401, s.nobody().do("POST", path, "{}").status, path)
	}
	assert.Len(t, alice.texts(thread), 3, "only the visual development environment added a message")
}
