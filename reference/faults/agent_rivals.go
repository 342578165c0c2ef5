package faults

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// agentRivals holds the faults that show when several runs roll each other back.
func agentRivals() []Fault {
	chained := func(g ghost) bool { return g.run.Strategy == "rollback" }
	return []Fault{
		{
			Name: "chain-leaves-the-middle", Breaks: "a run that has taken the place of another one is not deleted when its own turn comes", Fails: "AS-ROLLBACK-8",
			Apply: haunted(haunt{run: left(chained)}),
		},
		{
			Name: "chain-leaves-messages", Breaks: "a run that has taken the place of another one leaves a message when its own turn comes", Fails: "AS-ROLLBACK-8",
			Apply: haunted(haunt{messages: kept(chained, farewell)}),
		},
		{
			Name: "chain-leaves-nothing", Breaks: "the last of several rollbacks is deleted with the runs before it", Fails: "AS-ROLLBACK-8",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				if chain := d.rollbacks(threadOf(r)); getRun.is(r) && a.status == http.StatusOK && len(chain) > 1 {
					a.refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
				}
				a.send(w)
			}),
		},
		{
			Name: "chain-leaves-the-last-but-one", Breaks: "of several rollbacks the last is deleted, and the one before it is left", Fails: "AS-ROLLBACK-8",
			Apply: directed(lastButOne),
		},
		{
			Name: "racing-rollbacks-leave-several", Breaks: "of rollbacks at the same time each sees the runs before it, and deletes none that has just arrived", Fails: "AS-ROLLBACK-8",
			Apply: fresh(func() Layer {
				r := &races{running: map[string]int{}, raced: map[string]bool{}}
				return both(around(r.watch), haunted(haunt{run: left(func(g ghost) bool { return r.has(g.by) })}))
			}),
		},
	}
}

// races knows which runs with rollback were asked for while another request of that kind was being answered.
type races struct {
	mu      sync.Mutex
	running map[string]int  // by thread
	raced   map[string]bool // by run
}

// raceWindow is how long a request with rollback takes at least, so that those which arrive together meet.
const raceWindow = 30 * time.Millisecond

func (c *races) watch(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if !createRun.is(r) || bodyOf(r)["multitask_strategy"] != "rollback" {
		next.ServeHTTP(w, r)
		return
	}
	c.enter(threadOf(r), 1)
	pause(r, raceWindow)
	a := capture(next, r)
	if c.enter(threadOf(r), 0) > 1 {
		c.mark(text(a.object(), "run_id"))
	}
	pause(r, raceWindow)
	c.enter(threadOf(r), -1)
	a.send(w)
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

// lastButOne shows the last run of a chain and the one before it in place of each other, and the state as the latter's.
func lastButOne(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
	chain := d.rollbacks(threadOf(r))
	if len(chain) < 2 || !getRun.is(r) && !getState.is(r) {
		next.ServeHTTP(w, r)
		return
	}
	last, before := chain[len(chain)-1], chain[len(chain)-2]
	switch runOf(r) {
	case last.id:
		r = withPath(r, threadPath(r, threadOf(r))+"/runs/"+before.id)
	case before.id:
		r = withPath(r, threadPath(r, threadOf(r))+"/runs/"+last.id)
	}
	a := capture(next, r)
	if getState.is(r) {
		a.body = bytes.ReplaceAll(a.body, []byte(last.said), []byte(before.said))
	}
	a.send(w)
}
