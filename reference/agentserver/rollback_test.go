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

// TestConcurrentRollbacks repeats a race of rollbacks. One run must remain after each race, every join must return, no
// goroutine may leak, and the store must not contain the other runs.
func TestConcurrentRollbacks(t *testing.T) {
	s := conformanceSite(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for race := range 40 {
		thread := s.thread()
		ids, joined := make([]string, 4), make([]response, 4)
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
		ended.Wait() // all joins return
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
	}, watchdog, time.Millisecond, "a run or a queue remains in memory")
}

// assertNothingOf checks that no key and no value of the thread in the database contains the IDs of the runs.
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
	require.NotZero(t, records, "no records found: keys must start with the ID of the thread")
}

// TestCancelAndDelete covers the vendor extensions that the suite uses to remove objects.
func TestCancelAndDelete(t *testing.T) {
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
	released := make(chan response, 1)
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
