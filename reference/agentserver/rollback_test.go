package agentserver

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

// Many races in a row: whatever the order, one run survives each, no goroutine is left, no run is without an end, and the
// store holds nothing of the losers.
func TestRacingRollbacksLeaveExactlyOne(t *testing.T) {
	s := conformanceSite(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for race := range 40 {
		thread := s.thread()
		ids, joined := make([]string, 4), make([]answered, 4)
		var started, ended sync.WaitGroup
		for i := range ids {
			started.Add(1)
			ended.Go(func() {
				ids[i] = s.run(thread, fmt.Sprintf("racer-%d %s", i, writesThenUnending), "rollback")
				started.Done()
				joined[i] = s.join(thread, ids[i])
			})
		}
		started.Wait()
		var winners []int
		for i, id := range ids {
			if s.do("GET", "/threads/"+thread+"/runs/"+id, "").status == 200 {
				winners = append(winners, i)
			}
		}
		require.Len(t, winners, 1, "race %d", race)
		s.untilText(thread, fmt.Sprintf("Working on it: racer-%d", winners[0]))
		assert.Len(t, s.texts(thread), 2)
		assertNothingOf(t, s, thread, slices.Delete(slices.Clone(ids), winners[0], winners[0]+1))

		last := s.run(thread, "last", "rollback")
		assert.Equal(t, 200, s.join(thread, last).status)
		ended.Wait() // nobody hangs in join
		for _, a := range joined {
			assert.Equal(t, 404, a.status)
		}
		assert.Equal(t, []string{"human: last", "ai: You said: last"}, s.texts(thread))
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

// What the suite's removal uses: a run that is cancelled, and a thread that is deleted with its runs.
func TestRunsAreCancelledAndThreadsDeleted(t *testing.T) {
	s := conformanceSite(t)
	thread := s.thread()
	run := s.run(thread, "first "+writesThenUnending, "")
	s.untilText(thread, "Working on it: first")
	for _, status := range []int{204, 404} {
		assert.Equal(t, status, s.do("POST", "/threads/"+thread+"/runs/"+run+"/cancel", "").status)
		assert.Equal(t, StatusInterrupted, s.getRun(thread, run).Status)
	}
	assert.Equal(t, 200, s.join(thread, run).status)

	run = s.run(thread, unending, "")
	released := make(chan answered, 1)
	go func() { released <- s.join(thread, run) }()
	assert.Equal(t, 204, s.do("DELETE", "/threads/"+thread, "").status)
	select {
	case a := <-released:
		assert.Equal(t, 404, a.status)
	case <-time.After(watchdog):
		t.Fatal("join hangs")
	}
	assert.Equal(t, 404, s.do("GET", "/threads/"+thread, "").status)
}
