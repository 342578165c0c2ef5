package faults

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// agentBystanders holds the faults at which rollback reaches other threads, and agentWaiters those of joins on the prior
// run.
func agentBystanders() []Fault {
	return []Fault{
		{
			Name: "rollback-deletes-abandoned-runs", Breaks: "a rollback deletes earlier runs in progress on other threads, too, if nobody waits for them", Fails: "AS-ROLLBACK-7",
			Apply: fresh(func() Layer {
				b := newBystanders()
				return both(around(b.watch), agentStoring(b.wrap), onStatus(getRun, http.StatusOK, func(r *http.Request, a *answer) {
					if b.swept(runOf(r)) {
						a.refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
					}
				}))
			}),
		},
		{
			Name: "rollback-silences-abandoned-runs", Breaks: "a rollback takes earlier runs in progress on other threads their right to write, if nobody waits for them", Fails: "AS-ROLLBACK-7",
			Apply: fresh(func() Layer {
				b := newBystanders()
				return both(around(b.watch), agentStoring(b.wrap), agentStoring(func(s threads.Store) threads.Store { return silencedStore{s, b} }))
			}),
		},
	}
}

// bystanders knows the runs that were in progress on other threads when a run was rolled back.
type bystanders struct {
	mu    sync.Mutex
	count int
	runs  map[string]*bystander
}

type bystander struct {
	thread, strategy string
	number           int
	joined, over     bool
	swept            bool
	last             []string // the ids of the messages with which it ended
}

func newBystanders() *bystanders { return &bystanders{runs: map[string]*bystander{}} }

// watch notes who is waited for.
func (b *bystanders) watch(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if joinRun.is(r) {
		b.mu.Lock()
		if run := b.runs[runOf(r)]; run != nil {
			run.joined = true
		}
		b.mu.Unlock()
	}
	next.ServeHTTP(w, r)
}

func (b *bystanders) swept(run string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[run] != nil && b.runs[run].swept
}

func (b *bystanders) begun(r threads.Run, deleted []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	b.runs[r.ID] = &bystander{thread: r.ThreadID, strategy: r.Strategy, number: b.count}
	for _, id := range deleted {
		b.sweep(b.runs[id])
	}
}

// sweep reaches runs that began before the one that is rolled back, and that are no party to a rollback themselves.
func (b *bystanders) sweep(prior *bystander) {
	prior.over = true
	if prior.strategy == "rollback" {
		return
	}
	for _, run := range b.runs {
		run.swept = run.swept || run.thread != prior.thread && run.number < prior.number &&
			run.strategy != "rollback" && !run.joined && !run.over
	}
}

func (b *bystanders) ended(run string, messages []threads.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	by := b.runs[run]
	by.over = true
	for _, m := range messages {
		by.last = append(by.last, m.ID)
	}
}

// silenced says that a message is the last word of a run that was swept.
func (b *bystanders) silenced(m threads.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, run := range b.runs {
		if run.swept && slices.Contains(run.last, m.ID) {
			return true
		}
	}
	return false
}

func (b *bystanders) wrap(s threads.Store) threads.Store { return bystanderStore{s, b} }

type bystanderStore struct {
	threads.Store
	seen *bystanders
}

func (s bystanderStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	plan, err := s.Store.BeginRun(ctx, r, decide)
	if err == nil {
		s.seen.begun(r, plan.Delete)
	}
	return plan, err
}

func (s bystanderStore) FinishRun(ctx context.Context, thread, run string, end threads.Ending) error {
	err := s.Store.FinishRun(ctx, thread, run, end)
	if err == nil {
		s.seen.ended(run, end.Messages)
	}
	return err
}

// silencedStore hides the last words of runs that were swept, as long as their thread has no other run.
type silencedStore struct {
	threads.Store
	seen *bystanders
}

func (s silencedStore) State(ctx context.Context, thread string) (threads.State, error) {
	state, err := s.Store.State(ctx, thread)
	if runs, _ := s.Runs(ctx, thread); len(runs) == 1 {
		state.Messages = slices.DeleteFunc(state.Messages, s.seen.silenced)
	}
	return state, err
}

func agentWaiters() []Fault {
	return []Fault{
		{
			Name: "join-on-a-rolled-back-run-hangs", Breaks: "who waits in a join on a run that is rolled back is not told", Fails: "AS-ROLLBACK-9",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				a := capture(next, r)
				if !over && a.status == http.StatusNotFound {
					<-r.Context().Done()
				}
				a.send(w)
			}),
		},
		{
			Name: "join-on-a-rolled-back-run-waits-for-its-place", Breaks: "who waits in a join on a run that is rolled back waits on, for a run with its id", Fails: "AS-ROLLBACK-9",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				a := capture(next, r)
				for !over && a.status == http.StatusNotFound && r.Context().Err() == nil {
					pause(r, raceWindow)
					a = capture(next, r)
				}
				a.send(w)
			}),
		},
	}
}
