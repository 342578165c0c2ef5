package agentserver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

func TestTheOtherStrategies(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()

	thread := alice.thread()
	first := alice.run(thread, "first "+writesThenUnending, "")
	alice.untilText(thread, "Working")
	refused := alice.do("POST", "/threads/"+thread+"/runs", runBody("conformance", "second", "reject"))
	assert.Equal(t, 409, refused.status)
	assert.Contains(t, refused.detail(t), "in progress")
	second := alice.run(thread, "second", "interrupt")
	alice.join(thread, second)
	interrupted := alice.getRun(thread, first)
	assert.Equal(t, StatusInterrupted, interrupted.Status)
	assert.NotEmpty(t, interrupted.Reason)
	assert.Equal(t, 200, alice.join(thread, first).status)
	assert.Equal(t, []string{
		"human: first " + writesThenUnending, "ai: Working on it: first " + writesThenUnending, "human: second", "ai: You said: second",
	}, alice.texts(thread))

	thread = alice.thread()
	var want, ids []string
	for i := range 5 {
		text := fmt.Sprintf("number %d wait=5", i)
		ids = append(ids, alice.run(thread, text, "enqueue"))
		want = append(want, "human: "+text, "ai: You said: "+text)
	}
	alice.join(thread, ids[4])
	assert.Equal(t, want, alice.texts(thread), "runs of a thread keep their order")
}

// Many races in a row: whatever the order, one run survives each, no goroutine is left, no run is without an end, and the
// store holds nothing of the losers.
func TestRacingRollbacksLeaveExactlyOne(t *testing.T) {
	s := conformanceSite(t, Options{}).direct()
	alice := s.alice()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for race := range 40 {
		thread := alice.thread()
		ids, joined := make([]string, 4), make([]answered, 4)
		var started, ended sync.WaitGroup
		for i := range ids {
			started.Add(1)
			ended.Go(func() {
				ids[i] = alice.run(thread, fmt.Sprintf("racer-%d %s", i, writesThenUnending), "rollback")
				started.Done()
				joined[i] = alice.join(thread, ids[i])
			})
		}
		started.Wait()
		var winners []int
		for i, id := range ids {
			if alice.do("GET", "/threads/"+thread+"/runs/"+id, "").status == 200 {
				winners = append(winners, i)
			}
		}
		require.Len(t, winners, 1, "race %d", race)
		alice.untilText(thread, fmt.Sprintf("Working on it: racer-%d", winners[0]))
		assert.Len(t, alice.texts(thread), 2)
		assertNothingOf(t, s, thread, slices.Delete(slices.Clone(ids), winners[0], winners[0]+1))

		last := alice.run(thread, "last", "rollback")
		assert.Equal(t, 200, alice.join(thread, last).status)
		ended.Wait() // nobody hangs in join
		for _, a := range joined {
			assert.Equal(t, 404, a.status)
		}
		assert.Equal(t, []string{"human: last", "ai: You said: last"}, alice.texts(thread))
		assertNothingOf(t, s, thread, ids)
	}
	assert.Eventually(t, func() bool {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		return len(s.server.queues) == 0
	}, watchdog, time.Millisecond, "a run or a queue is left in memory")
}

// assertNothingOf looks into the database itself: no key and no value of the thread mentions the runs.
func assertNothingOf(t *testing.T, s *site, thread string, runs []string) {
	t.Helper()
	records := 0
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		root := tx.Bucket([]byte("agent"))
		return root.ForEachBucket(func(name []byte) error {
			c := root.Bucket(name).Cursor()
			for k, v := c.Seek([]byte(thread)); bytes.HasPrefix(k, []byte(thread)); k, v = c.Next() {
				records++
				for _, id := range runs {
					if bytes.Contains(v, []byte(id)) || bytes.Contains(k, []byte(id)) {
						return fmt.Errorf("run %s was rolled back, but bucket %s still mentions it", id, name)
					}
				}
			}
			return nil
		})
	}))
	require.NotZero(t, records, "nothing was looked at: the keys do not begin with the thread's id")
}

func TestRunsAreCancelled(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	at := "/threads/" + thread + "/runs/"
	start := func(text string) string {
		run := alice.run(thread, text+" "+writesThenUnending, "")
		alice.untilText(thread, "Working on it: "+text)
		return run
	}
	kept := start("kept")
	assert.Equal(t, 422, alice.do("POST", at+kept+"/cancel?action=pause", "").status)
	assert.Equal(t, 204, alice.do("POST", at+kept+"/cancel", "").status)
	assert.Equal(t, StatusInterrupted, alice.getRun(thread, kept).Status)
	assert.Equal(t, 200, alice.join(thread, kept).status)
	removed := start("removed")
	assert.Equal(t, 204, alice.do("POST", at+removed+"/cancel?action=rollback", "").status)
	assert.Equal(t, 404, alice.do("GET", at+removed, "").status)
	assert.NotContains(t, strings.Join(alice.texts(thread), "|"), "removed")
	for _, action := range []string{"", "?action=rollback"} {
		a := alice.do("POST", at+kept+"/cancel"+action, "")
		assert.Equal(t, 404, a.status)
		assert.Contains(t, a.detail(t), "not in progress")
	}
	assert.Equal(t, StatusInterrupted, alice.getRun(thread, kept).Status, "a run that has ended stays")
	next := alice.run(thread, "next", "")
	assert.Contains(t, alice.join(thread, next).body, "You said: next")
}

func TestDeletingAThreadStopsItsRuns(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	run := alice.run(thread, unending, "")
	released := make(chan answered, 1)
	go func() { released <- alice.join(thread, run) }()
	assert.Equal(t, 204, alice.do("DELETE", "/threads/"+thread, "").status)
	select {
	case a := <-released:
		assert.Equal(t, 404, a.status)
	case <-time.After(watchdog):
		t.Fatal("join hangs")
	}
}
