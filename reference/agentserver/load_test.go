package agentserver

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

func TestManyThreadsWithARunEachAtOnce(t *testing.T) {
	s := conformanceSite(t, Options{}).direct()
	alice := s.alice()
	const n = 100
	start := time.Now()
	var wg sync.WaitGroup
	ids := make([]string, n)
	for i := range ids {
		wg.Go(func() {
			ids[i] = alice.thread()
			text := fmt.Sprintf("number %d wait-after-write=200", i)
			assert.Equal(t, 200, alice.join(ids[i], alice.run(ids[i], text, "")).status)
			assert.Equal(t, []string{"human: " + text, "ai: Working on it: " + text, "ai: You said: " + text}, alice.texts(ids[i]))
		})
	}
	wg.Wait()
	t.Logf("%d threads and runs in %s", n, time.Since(start).Round(time.Millisecond))
	var list []threads.Thread
	alice.ok("POST", "/threads/search", `{"limit": 1000, "status": "idle"}`).json(t, &list)
	assert.Len(t, list, n)
	assert.Eventually(t, s.server.engine.isIdle, watchdog, time.Millisecond)
}

// BenchmarkRuns reports whole runs (created, run, joined) per second, on a database that is synchronised with the disk.
func BenchmarkRuns(b *testing.B) {
	s := conformanceSite(b, Options{}).direct()
	s.db.NoSync = false
	alice := s.alice()
	b.SetParallelism(50)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		thread := alice.thread()
		for pb.Next() {
			alice.join(thread, alice.run(thread, "hello", "rollback"))
			thread = alice.thread()
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkIdleThreads reports the memory that a thread costs whose run has ended.
func BenchmarkIdleThreads(b *testing.B) {
	for b.Loop() {
		s := conformanceSite(b, Options{}).direct()
		alice := s.alice()
		before := heap()
		const n = 2000
		for range n / 50 {
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					thread := alice.thread()
					alice.join(thread, alice.run(thread, "hello", ""))
				})
			}
			wg.Wait()
		}
		require.Eventually(b, s.server.engine.isIdle, watchdog, time.Millisecond)
		b.ReportMetric(float64(max(0, heap()-before))/n, "B/thread")
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Many short runs on few threads: each ends, and the engine forgets a thread when its last run has ended, not before.
func TestTheEngineForgetsWhatHasEnded(t *testing.T) {
	s := conformanceSite(t, Options{}).direct()
	alice := s.alice()
	ids := []string{alice.thread(), alice.thread(), alice.thread()}
	var wg sync.WaitGroup
	const runs = 60
	for i := range runs {
		wg.Go(func() {
			thread := ids[i%len(ids)]
			run := alice.run(thread, "hello", "enqueue")
			assert.Equal(t, 200, alice.join(thread, run).status)
			assert.Equal(t, threads.StatusSuccess, alice.getRun(thread, run).Status)
		})
	}
	wg.Wait()
	assert.Eventually(t, s.server.engine.isIdle, watchdog, time.Millisecond)
	for _, thread := range ids {
		assert.Len(t, alice.texts(thread), 2*runs/len(ids))
	}
}
