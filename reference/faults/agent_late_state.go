package faults

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// agentLateStates returns the faults of rollback at an agent server that writes the state only when a run ends, and of runs
// that continue after their rollback.
func agentLateStates() []Fault {
	return []Fault{
		{
			Name: "late-state-is-flushed-after-the-deletion", Breaks: "the state shows a run's messages only when it ends; a rolled-back run writes its messages when it stops, after its deletion", Fails: "AS-ROLLBACK-3",
			Also:  remainsInAll("what a run had written"),
			Apply: compose(stateAtEnd(), leaking(leak{messages: remainingMessages(every, func(t tombstone) []threads.Message { return t.written })})),
		},
		{
			Name: "rolled-back-run-wipes-the-new-messages", Breaks: "a rolled-back run continues; when it ends, the messages of the new run are removed from the state", Fails: "AS-ROLLBACK-4",
			Elsewhere: true, // when a few scenarios run alone, the messages may be gone before they are looked for
			Apply: leaking(leak{wipes: func(t tombstone) bool {
				return t.hasOutput() && time.Now().After(t.due())
			}}),
		},
	}
}

// stateAtEnd hides the messages of a run from the state until the run ends.
func stateAtEnd() Layer {
	return agentStoring(func(s threads.Store) threads.Store {
		return &lateStore{Store: s, hidden: map[string][]string{}}
	})
}

type lateStore struct {
	threads.Store

	mu     sync.Mutex
	hidden map[string][]string // ids of messages by unfinished run
}

func (s *lateStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	plan, err := s.Store.BeginRun(ctx, r, decide)
	if err == nil {
		s.show(plan.Interrupt...)
	}
	return plan, err
}

func (s *lateStore) StartRun(ctx context.Context, thread, run string, input []threads.Message) ([]threads.Message, error) {
	s.hide(run, input)
	return s.Store.StartRun(ctx, thread, run, input)
}

func (s *lateStore) AppendMessages(ctx context.Context, thread, run string, messages []threads.Message) error {
	s.hide(run, messages)
	return s.Store.AppendMessages(ctx, thread, run, messages)
}

func (s *lateStore) FinishRun(ctx context.Context, thread, run string, end threads.Ending) error {
	err := s.Store.FinishRun(ctx, thread, run, end)
	if err == nil {
		s.show(run)
	}
	return err
}

func (s *lateStore) State(ctx context.Context, thread string) ([]threads.Message, error) {
	messages, err := s.Store.State(ctx, thread)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(messages, func(m threads.Message) bool {
		for _, ids := range s.hidden {
			if slices.Contains(ids, m.ID) {
				return true
			}
		}
		return false
	}), err
}

func (s *lateStore) hide(run string, messages []threads.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		s.hidden[run] = append(s.hidden[run], m.ID)
	}
}

func (s *lateStore) show(runs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range runs {
		delete(s.hidden, run)
	}
}
