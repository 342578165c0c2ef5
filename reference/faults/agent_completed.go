package faults

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/deviate"
)

// agentCompleted returns the faults of a rollback on a thread whose runs have completed.
func agentCompleted() []Fault {
	return []Fault{
		{
			Name: "rollback-deletes-completed-runs", Breaks: "a run with rollback deletes all completed runs of the thread", Fails: "AS-ROLLBACK-6",
			Apply: deletingCompleted(func(completed []threads.Run, _ bool) []threads.Run { return completed }),
		},
		{
			Name: "rollback-hides-completed-runs", Breaks: "get run returns 404 for completed runs after a rollback; their messages remain", Fails: "AS-ROLLBACK-6",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := deviate.Capture(next, r)
				if getRun.is(r) && text(a.Object(), "multitask_strategy") != "rollback" && len(d.rollbacks(threadOf(r))) > 0 {
					a.Refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
				}
				a.Send(w)
			}),
		},
		{
			Name: "rollback-clears-the-state", Breaks: "a run with rollback removes all earlier messages from the state; the completed runs remain", Fails: "AS-ROLLBACK-6",
			Apply: agentStoring(func(s threads.Store) threads.Store {
				return &clearedStore{Store: s, hidden: map[string][]string{}}
			}),
		},
		{
			Name: "rollback-of-nothing-is-refused", Breaks: "a run with rollback gets 409 if all earlier runs of the thread have completed", Fails: "AS-ROLLBACK-6",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) || d.latest(threadOf(r)) == nil || bodyOf(r)["multitask_strategy"] != "rollback" {
					next.ServeHTTP(w, r)
					return
				}
				if thread := do(next, r, http.MethodGet, threadPath(r, threadOf(r))); text(thread.Object(), "status") == "idle" {
					thread.Refuse(http.StatusConflict, "There is nothing to roll back")
					thread.Send(w)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
	}
}

// deletingCompleted deletes completed runs of a thread, newest first, when a run with rollback is created on it.
func deletingCompleted(choose func(completed []threads.Run, busy bool) []threads.Run) Layer {
	return agentStoring(func(s threads.Store) threads.Store { return deletingStore{s, choose} })
}

type deletingStore struct {
	threads.Store
	choose func(completed []threads.Run, busy bool) []threads.Run
}

func (s deletingStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	if r.Strategy == "rollback" {
		all, err := s.Runs(ctx, r.ThreadID)
		if err != nil {
			return threads.Plan{}, err
		}
		busy := slices.ContainsFunc(all, threads.Run.Unfinished)
		for _, c := range s.choose(slices.DeleteFunc(all, threads.Run.Unfinished), busy) {
			if err := s.DeleteRun(ctx, c.ThreadID, c.ID); err != nil && !errors.Is(err, threads.ErrNotFound) {
				return threads.Plan{}, err
			}
		}
	}
	return s.Store.BeginRun(ctx, r, decide)
}

// clearedStore hides the messages that a thread had when a run with rollback was created on it.
type clearedStore struct {
	threads.Store

	mu     sync.Mutex
	hidden map[string][]string // ids of messages by thread
}

func (s *clearedStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	messages, err := s.Store.State(ctx, r.ThreadID)
	if err == nil && r.Strategy == "rollback" {
		s.mu.Lock()
		for _, m := range messages {
			s.hidden[r.ThreadID] = append(s.hidden[r.ThreadID], m.ID)
		}
		s.mu.Unlock()
	}
	return s.Store.BeginRun(ctx, r, decide)
}

func (s *clearedStore) State(ctx context.Context, thread string) ([]threads.Message, error) {
	messages, err := s.Store.State(ctx, thread)
	s.mu.Lock()
	defer s.mu.Unlock()
	hidden := func(m threads.Message) bool { return slices.Contains(s.hidden[thread], m.ID) }
	return slices.DeleteFunc(messages, hidden), err
}
