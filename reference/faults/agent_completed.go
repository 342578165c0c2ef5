package faults

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// agentCompleted returns the faults of a rollback on a thread whose runs have completed.
func agentCompleted() []Fault {
	return []Fault{
		{
			Name: "rollback-deletes-completed-runs", Breaks: "a run with rollback deletes all completed runs of the thread", Fails: "AS-ROLLBACK-6",
			Apply: agentStoring(func(s threads.Store) threads.Store { return deletingStore{s} }),
		},
		{
			Name: "rollback-clears-the-state", Breaks: "a run with rollback removes all earlier messages from the state; the completed runs remain", Fails: "AS-ROLLBACK-6",
			Apply: agentStoring(func(s threads.Store) threads.Store {
				return &clearedStore{Store: s, hidden: map[string][]string{}}
			}),
		},
	}
}

// deletingStore deletes the completed runs of a thread when a run with rollback is created on it.
type deletingStore struct{ threads.Store }

func (s deletingStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	if r.Strategy == "rollback" {
		all, err := s.Runs(ctx, r.ThreadID)
		if err != nil {
			return threads.Plan{}, err
		}
		for _, c := range slices.DeleteFunc(all, threads.Run.Unfinished) {
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
