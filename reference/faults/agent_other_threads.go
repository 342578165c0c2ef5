package faults

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/deviate"
)

// agentOtherThreads returns the faults where a rollback affects other threads.
func agentOtherThreads() []Fault {
	return []Fault{
		{
			Name: "rollback-deletes-abandoned-runs", Breaks: "rollback also deletes earlier runs in progress on other threads, unless a client has joined them", Fails: "AS-ROLLBACK-7",
			Apply: fresh(func() Layer {
				o := newOtherRuns()
				return compose(around(o.watch), agentStoring(o.wrap), onStatus(getRun, http.StatusOK, func(r *http.Request, a *deviate.Answer) {
					if o.affected(runOf(r)) {
						a.Refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
					}
				}))
			}),
		},
		{
			Name: "rollback-discards-output-of-abandoned-runs", Breaks: "rollback also discards the output of earlier runs in progress on other threads, unless a client has joined them", Fails: "AS-ROLLBACK-7",
			Apply: fresh(func() Layer {
				o := newOtherRuns()
				return compose(around(o.watch), agentStoring(o.wrap), agentStoring(func(s threads.Store) threads.Store { return discardingStore{s, o} }))
			}),
		},
	}
}

// otherRuns records the runs that were in progress on other threads when a run was rolled back.
type otherRuns struct {
	mu    sync.Mutex
	count int
	runs  map[string]*otherRun
}

type otherRun struct {
	thread, strategy string
	number           int
	joined, over     bool
	affected         bool
	last             []string // the ids of its final messages
}

func newOtherRuns() *otherRuns { return &otherRuns{runs: map[string]*otherRun{}} }

// watch records which runs were joined.
func (o *otherRuns) watch(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if joinRun.is(r) {
		o.mu.Lock()
		if run := o.runs[runOf(r)]; run != nil {
			run.joined = true
		}
		o.mu.Unlock()
	}
	next.ServeHTTP(w, r)
}

func (o *otherRuns) affected(run string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs[run] != nil && o.runs[run].affected
}

func (o *otherRuns) begun(r threads.Run, deleted []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	o.runs[r.ID] = &otherRun{thread: r.ThreadID, strategy: r.Strategy, number: o.count}
	for _, id := range deleted {
		o.affect(o.runs[id])
	}
}

// affect marks the runs that started before the rolled-back one and take part in no rollback themselves.
func (o *otherRuns) affect(prior *otherRun) {
	prior.over = true
	if prior.strategy == "rollback" {
		return
	}
	for _, run := range o.runs {
		run.affected = run.affected || run.thread != prior.thread && run.number < prior.number &&
			run.strategy != "rollback" && !run.joined && !run.over
	}
}

func (o *otherRuns) ended(run string, messages []threads.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	by := o.runs[run]
	by.over = true
	for _, m := range messages {
		by.last = append(by.last, m.ID)
	}
}

// discarded reports whether a message is a final message of an affected run.
func (o *otherRuns) discarded(m threads.Message) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, run := range o.runs {
		if run.affected && slices.Contains(run.last, m.ID) {
			return true
		}
	}
	return false
}

func (o *otherRuns) wrap(s threads.Store) threads.Store { return observingStore{s, o} }

type observingStore struct {
	threads.Store
	seen *otherRuns
}

func (s observingStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	plan, err := s.Store.BeginRun(ctx, r, decide)
	if err == nil {
		s.seen.begun(r, plan.Delete)
	}
	return plan, err
}

func (s observingStore) FinishRun(ctx context.Context, thread, run string, end threads.Ending) error {
	err := s.Store.FinishRun(ctx, thread, run, end)
	if err == nil {
		s.seen.ended(run, end.Messages)
	}
	return err
}

// discardingStore hides the final messages of affected runs while their thread has no other run.
type discardingStore struct {
	threads.Store
	seen *otherRuns
}

func (s discardingStore) State(ctx context.Context, thread string) ([]threads.Message, error) {
	messages, err := s.Store.State(ctx, thread)
	if runs, _ := s.Runs(ctx, thread); len(runs) == 1 {
		messages = slices.DeleteFunc(messages, s.seen.discarded)
	}
	return messages, err
}

// agentPendingJoins returns the faults of joins that are pending when their run is rolled back.
func agentPendingJoins() []Fault {
	return []Fault{
		{
			Name: "join-on-a-rolled-back-run-polls-forever", Breaks: "a pending join on a rolled-back run polls forever for a run with that id", Fails: "AS-ROLLBACK-9",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				a := deviate.Capture(next, r)
				for !over && a.Status == http.StatusNotFound && r.Context().Err() == nil {
					pause(r, raceWindow)
					a = deviate.Capture(next, r)
				}
				a.Send(w)
			}),
		},
	}
}
