package agentserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

func TestARunWithoutAThreadLeavesNothing(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	listed := func() (list []threads.Thread) {
		alice.ok("GET", "/threads", "").json(t, &list)
		return list
	}
	var values struct{ Messages []threads.Message }
	alice.ok("POST", "/runs/wait", runBody("conformance", "alone", "")).json(t, &values)
	require.Len(t, values.Messages, 2)
	assert.Equal(t, "You said: alone", values.Messages[1].Content)
	events := alice.stream("/runs/stream", runBody("conformance", "alone", ""))
	assert.Equal(t, []string{"metadata", "values+", "values++"}, names(events))
	assert.Contains(t, alice.ok("POST", "/runs/wait", runBody("conformance", "fail", "")).body, `"error":"GraphError"`)

	var r threads.Run
	alice.ok("POST", "/runs", runBody("conformance", unending, "")).json(t, &r)
	require.Len(t, listed(), 1)
	assert.True(t, listed()[0].Temporary)
	assert.Equal(t, "alice@example.org", listed()[0].Metadata["owner"])
	joined := make(chan answered, 1)
	go func() { joined <- alice.join(r.ThreadID, r.ID) }()
	require.Eventually(t, func() bool { return s.server.engine.followersOf(r.ID) == 2 }, watchdog, time.Millisecond)
	assert.Equal(t, 202, alice.do("POST", "/threads/"+r.ThreadID+"/runs/"+r.ID+"/cancel", "").status)
	assert.Equal(t, 200, (<-joined).status, "the thread stays while someone joins the run")
	require.Eventually(t, func() bool { return len(listed()) == 0 }, watchdog, time.Millisecond)

	var runs []threads.Run
	alice.ok("POST", "/runs/batch", "["+runBody("conformance", "a", "")+","+withOptions(t, "conformance", "b", `{"assistantId": "conformance", "on_completion": "keep"}`)+"]").json(t, &runs)
	require.Len(t, runs, 2)
	alice.join(runs[1].ThreadID, runs[1].ID)
	assert.Equal(t, []string{"human: b", "ai: You said: b"}, alice.texts(runs[1].ThreadID))
	require.Eventually(t, func() bool { return len(listed()) == 1 }, watchdog, time.Millisecond)
	for _, refused := range []string{"[]", "{}", "[1]", "[" + runBody("conformance", "a", "") + "," + runBody("conformance", "a", "x") + "]", strings.Repeat("[", 40)} {
		assert.Equal(t, 422, alice.do("POST", "/runs/batch", refused).status, refused)
	}
	assert.Equal(t, 404, alice.do("POST", "/runs/batch", "["+runBody("conformance", unending, "")+","+runBody("nobody", "a", "")+"]").status)
	assert.Len(t, listed(), 1, "of a batch that is refused no run is left")
}

func (e *engine) followersOf(run string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if ex := e.live[run]; ex != nil {
		return ex.followers
	}
	return 0
}

func TestTemporaryThreadsDoNotOutliveTheServer(t *testing.T) {
	s := conformanceSite(t, Options{})
	var r threads.Run
	s.alice().ok("POST", "/runs", runBody("conformance", unending, "")).json(t, &r)
	require.NoError(t, s.server.Close(t.Context()))
	again, err := New(s.server.rev.Load().app, s.db, "agent", nil, Options{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, again.Close(t.Context())) }()
	_, err = again.store.Thread(t.Context(), r.ThreadID)
	assert.ErrorIs(t, err, threads.ErrNotFound)
}

func TestRunsAreListedByStatusAndField(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	at := "/threads/" + thread + "/runs"
	done := alice.run(thread, "x", "")
	alice.join(thread, done)
	failed := alice.run(thread, "fail", "")
	alice.join(thread, failed)
	for query, want := range map[string][]string{
		"": {failed, done}, "?status=success": {done}, "?status=error": {failed}, "?status=pending": {}, `?status=["success","error"]`: {failed, done},
		"?limit=1&offset=1": {done}, "?limit=1&status=success": {done},
	} {
		var runs []threads.Run
		alice.ok("GET", at+query, "").json(t, &runs)
		got := []string{}
		for _, r := range runs {
			got = append(got, r.ID)
		}
		assert.Equal(t, want, got, query)
	}
	for _, query := range []string{"?select=run_id&select=status", `?select=["run_id","status"]`} {
		assert.JSONEq(t, fmt.Sprintf(`[{"run_id": %q, "status": "error"}]`, failed), alice.ok("GET", at+query+"&limit=1", "").body)
	}
	for _, query := range []string{"?status=x", "?status=", "?select=kwargs", "?limit=0"} {
		assert.Equal(t, 422, alice.do("GET", at+query, "").status, query)
	}
}

func TestRunsAreCancelled(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice, bob := s.alice(), s.bob()
	thread, bobs := alice.thread(), bob.thread()
	at := "/threads/" + thread + "/runs/"
	one, two, three := alice.run(thread, writesThenUnending, ""), alice.run(thread, "x", ""), alice.run(thread, unending, "")
	other := bob.run(bobs, unending, "")
	alice.untilText(thread, "Working")
	for _, query := range []string{"?action=x", "?wait=x"} {
		assert.Equal(t, 422, alice.do("POST", at+one+"/cancel"+query, "").status)
	}
	assert.Equal(t, 404, alice.do("POST", at+threads.NewID()+"/cancel", "").status)
	assert.Equal(t, 404, alice.do("POST", "/threads/"+bobs+"/runs/"+other+"/cancel", "").status)
	assert.Equal(t, 204, alice.do("POST", at+one+"/cancel?wait=1&action=interrupt", "").status)
	assert.Equal(t, threads.StatusInterrupted, alice.getRun(thread, one).Status)
	alice.join(thread, two)
	assert.Equal(t, threads.StatusSuccess, alice.getRun(thread, two).Status, "the next run of the thread has started")
	assert.Equal(t, 404, alice.do("POST", at+two+"/cancel?action=rollback", "").status)
	assert.Equal(t, threads.StatusSuccess, alice.getRun(thread, two).Status, "a run that has ended is not rolled back")

	for _, body := range []string{`{}`, `{"status": "x"}`, `{"status": "all", "thread_id": "` + thread + `"}`, `{"thread_id": "` + thread + `"}`, `{"thread_id": 1, "run_ids": ["` + one + `"]}`, `{"x": 1}`} {
		assert.Equal(t, 422, alice.do("POST", "/runs/cancel", body).status, body)
	}
	ids, _ := json.Marshal(map[string]any{"thread_id": thread, "run_ids": []string{three}}) // strings can always be encoded
	assert.Equal(t, 404, bob.do("POST", "/runs/cancel", string(ids)).status, "a stranger cancels nothing")
	assert.Equal(t, 204, alice.do("POST", "/runs/cancel?action=rollback", string(ids)).status)
	assert.Equal(t, 404, alice.do("GET", at+three, "").status)
	assert.Equal(t, 404, alice.do("POST", "/runs/cancel", `{"status": "all"}`).status, "the run of another user is not cancelled")
	assert.True(t, bob.getRun(bobs, other).Unfinished())
	assert.Equal(t, 204, bob.do("POST", "/runs/cancel", `{"status": "all"}`).status)
	assert.Equal(t, threads.StatusInterrupted, bob.getRun(bobs, other).Status)
}
