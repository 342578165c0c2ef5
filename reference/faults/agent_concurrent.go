package faults

import (
	"net/http"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/deviate"
)

// agentConcurrent returns the faults that need several runs with rollback on one thread.
func agentConcurrent() []Fault {
	chained := func(t tombstone) bool { return t.run.Strategy == "rollback" }
	return []Fault{
		{
			Name: "chain-leaves-the-middle", Breaks: "a run with rollback that is rolled back itself is not deleted", Fails: "AS-ROLLBACK-8",
			Apply: leaking(leak{run: remainingRun(chained)}),
		},
		{
			Name: "chain-leaves-messages", Breaks: "a run with rollback that is rolled back itself leaves a message in the state", Fails: "AS-ROLLBACK-8",
			Apply: leaking(leak{messages: remainingMessages(chained, leftoverMessage)}),
		},
		{
			Name: "racing-rollbacks-leave-several", Breaks: "several of the runs with rollback that are created concurrently remain", Fails: "AS-ROLLBACK-8",
			Apply: fresh(func() Layer {
				r := &races{running: map[string]int{}, raced: map[string]bool{}}
				return compose(around(r.watch), leaking(leak{run: remainingRun(func(t tombstone) bool { return r.has(t.by) })}))
			}),
		},
	}
}

// races records the runs with rollback that were created concurrently on one thread.
type races struct {
	mu      sync.Mutex
	running map[string]int  // by thread
	raced   map[string]bool // by run
}

// raceWindow extends requests with rollback, so that concurrent ones overlap.
const raceWindow = 30 * time.Millisecond

func (c *races) watch(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !createRun.is(r) || bodyOf(r)["multitask_strategy"] != "rollback" {
		next.ServeHTTP(w, r)
		return
	}
	c.enter(threadOf(r), 1)
	pause(r, raceWindow)
	a := deviate.Capture(next, r)
	if c.enter(threadOf(r), 0) > 1 {
		c.mark(text(a.Object(), "run_id"))
	}
	pause(r, raceWindow)
	c.enter(threadOf(r), -1)
	a.Send(w)
}

func (c *races) enter(thread string, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[thread] += n
	return c.running[thread]
}

func (c *races) mark(run string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raced[run] = true
}

func (c *races) has(run string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raced[run]
}
