package independent

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"
)

// run is guarded by its agent's lock, save for what never changes.
type run struct {
	id, strategy string
	assistant    string
	n            int
	created      time.Time
	user         User
	input        []object
	metadata     object

	messages []object // what the run has put into the state: nothing before it starts
	phase    string   // waiting, active, done, broken, stopped
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the run has ended in whatever way
}

func (r *run) over() bool { return r.phase != "waiting" && r.phase != "active" }

// end needs the agent's lock. Whatever the graph does afterwards has no effect.
func (r *run) end(phase string) {
	r.phase = phase
	r.cancel()
	close(r.ended)
}

// kinds are the message types of the roles (interface, section 2, thread state).
var kinds = map[string]string{"user": "human", "human": "human", "assistant": "ai", "ai": "ai", "tool": "tool", "system": "system"}

// readRun reads a run's payload (interface, section 4). Without a strategy a busy thread takes no run.
func readRun(c *checker, r *http.Request, user User) *run {
	f := c.readObject(r)
	assistant, strategy := f.text("assistant_id"), orElse(f.text("multitask_strategy"), "reject")
	if assistant == nil {
		c.add([]any{"assistant_id"}, "absent", "name a graph")
	}
	if !slices.Contains([]string{"reject", "enqueue", "interrupt", "rollback"}, strategy) {
		c.add([]any{"multitask_strategy"}, "unknown-value", "%q is no strategy", strategy)
	}
	input := f.object("input")
	if input.m["messages"] == nil {
		c.add([]any{"input", "messages"}, "absent", "say something")
	}
	fresh := &run{created: time.Now(), user: user, strategy: strategy, phase: "waiting", cancel: func() {}, ended: make(chan struct{})}
	for _, m := range input.objects("messages") {
		role, _ := m.m["role"].(string)
		content, ok := m.m["content"].(string)
		if kinds[role] == "" || !ok {
			c.add(m.loc, "wrong-kind", "a message has a role and a text as content")
		}
		fresh.input = append(fresh.input, message(kinds[role], content))
	}
	fresh.metadata = object{}
	maps.Copy(fresh.metadata, f.object("metadata").m)
	maps.Copy(fresh.metadata, filter(user))
	fresh.assistant = orElse(assistant, "")
	return fresh
}

func (a *agent) createRun(r *http.Request, user User, threadID string) response {
	if refused := a.withThread(user, threadID, func(*thread) response { return response{} }); refused.status != 0 {
		return refused
	}
	c := &checker{}
	fresh := readRun(c, r, user) // outside the lock: the body may come slowly
	if !c.ok() {
		return c.faults()
	}
	return a.withThread(user, threadID, func(t *thread) response {
		if !slices.Contains(a.graphs, fresh.assistant) {
			return fault(http.StatusNotFound, "no-graph", "no graph of that name is deployed")
		}
		if !a.makeRoom(t, fresh.strategy) {
			return fault(http.StatusConflict, "busy", "the thread has a run already")
		}
		fresh.id, fresh.n = a.nextID("run")
		t.runs = append(t.runs, fresh)
		a.startNext(t)
		return response{http.StatusAccepted, fresh.body(t)}
	})
}

// makeRoom needs the lock, and keeps it until the new run stands: so a rollback (interface, section 3) is one step, and what is
// removed here can neither be seen nor write any more.
func (a *agent) makeRoom(t *thread, strategy string) bool {
	for _, old := range slices.Clone(t.runs) {
		switch {
		case old.over():
		case strategy == "reject":
			return false
		case strategy == "interrupt":
			old.end("stopped")
		case strategy == "rollback":
			old.end("stopped")
			t.gone[old.id] = true
			t.runs = slices.DeleteFunc(t.runs, func(r *run) bool { return r == old })
		}
	}
	return true
}

// startNext needs the lock. One run at a time is active on a thread.
func (a *agent) startNext(t *thread) {
	for _, next := range t.runs {
		if next.over() {
			continue
		}
		if next.phase == "active" {
			return
		}
		ctx, cancel := context.WithCancel(a.s.ctx)
		next.phase, next.cancel, next.messages = "active", cancel, slices.Clone(next.input)
		voice := a.voice
		a.s.work.Go(func() { a.execute(ctx, t, next, voice) })
		return
	}
}

var errEnded = errors.New("the run has ended already")

// execute calls the graph with the user where graph code looks for it (interface, section 5, 5).
func (a *agent) execute(ctx context.Context, t *thread, r *run, voice string) {
	config := object{"configurable": object{"graph_auth_user": userObject(r.user), "voice": voice}}
	err := parrot(ctx, config, r.input, func(m object) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if r.over() {
			return errEnded
		}
		r.messages = append(r.messages, m)
		return nil
	})
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.over() {
		return
	}
	phase := "done"
	if err != nil {
		phase = "broken"
	}
	r.end(phase)
	a.startNext(t)
}

func (r *run) body(t *thread) object {
	return object{"run_id": r.id, "of": t.id, "phase": r.phase, "metadata": maps.Clone(r.metadata), "born": createdAt(r.created, r.n),
		"assistant": object{"name": r.assistant}, "error": nil, "attempt": 1}
}

// withRun finds a run under its own thread only. One that was rolled back is gone, which is an error status (section 7).
func (a *agent) withRun(user User, threadID, id string, f func(*thread, *run) response) response {
	return a.withThread(user, threadID, func(t *thread) response {
		for _, run := range t.runs {
			if run.id == id {
				return f(t, run)
			}
		}
		if t.gone[id] {
			return fault(http.StatusGone, "rolled-back", "the run made room for another one")
		}
		return fault(http.StatusUnprocessableEntity, "no-run", "the thread has no such run")
	})
}

func (a *agent) getRun(user User, threadID, id string) response {
	return a.withRun(user, threadID, id, func(t *thread, run *run) response { return response{http.StatusOK, run.body(t)} })
}

// join answers when the run has ended; the interface shows no body for it (section 4), so there is none.
func (a *agent) join(r *http.Request, user User, threadID, id string) response {
	var ended chan struct{}
	refused := a.withRun(user, threadID, id, func(_ *thread, run *run) response { ended = run.ended; return response{} })
	if ended == nil {
		return refused
	}
	select {
	case <-ended:
		return a.withRun(user, threadID, id, func(*thread, *run) response { return response{status: http.StatusNoContent} })
	case <-r.Context().Done():
		return response{}
	}
}
