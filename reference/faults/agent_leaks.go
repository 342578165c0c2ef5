package faults

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// tombstone is a run that was rolled back.
type tombstone struct {
	run     threads.Run // as it was before it was deleted
	input   []threads.Message
	written []threads.Message // including input; empty if it had not started
	last    time.Time         // when it started or last wrote
	place   int               // position among the unfinished runs of its thread, from 0
	by      string            // id of the run that replaced it
	behind  *tombstone        // the first run deleted with it; may be itself
}

// hasOutput reports whether the run had written messages other than its input.
func (t tombstone) hasOutput() bool { return len(t.written) > len(t.input) }

var waitWords = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

// due returns when the first run deleted with it would have completed.
func (t tombstone) due() time.Time {
	t = *t.behind
	at := t.last
	for _, m := range t.input {
		content, _ := m.Content.(string)
		for _, found := range waitWords.FindAllStringSubmatch(content, -1) {
			ms, _ := strconv.Atoi(found[1]) // digits; 0 if out of range
			at = at.Add(time.Duration(ms) * time.Millisecond)
		}
	}
	return at
}

// leak defines what remains of runs that were rolled back.
type leak struct {
	run      func(t tombstone) (threads.Run, bool) // whether get run finds it, and as what; nil: 404
	messages func(t tombstone) []threads.Message   // shown before all others in the state; nil: none
	wipes    func(t tombstone) bool                // whether it, the only one of its thread, has removed all messages from the state; nil: no
}

// leaking leaves parts of runs behind when they are rolled back.
func leaking(l leak) Layer {
	return agentStoring(func(s threads.Store) threads.Store {
		return &leakingStore{Store: s, leak: l, seen: map[string]*tombstone{}, gone: map[string][]tombstone{}}
	})
}

type leakingStore struct {
	threads.Store
	leak leak

	mu   sync.Mutex
	seen map[string]*tombstone  // by run, while it is unfinished
	gone map[string][]tombstone // by thread
}

func (s *leakingStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
	var unfinished []threads.Run
	plan, err := s.Store.BeginRun(ctx, r, func(all []threads.Run) threads.Plan {
		unfinished = all
		return decide(all)
	})
	if err != nil {
		return plan, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[r.ID] = &tombstone{}
	var first *tombstone
	for place, other := range unfinished {
		if !slices.Contains(plan.Delete, other.ID) {
			continue
		}
		t := s.seen[other.ID]
		if first == nil {
			first = t
		}
		t.run, t.place, t.by, t.behind = other, place, r.ID, first
		s.gone[r.ThreadID] = append(s.gone[r.ThreadID], *t)
	}
	return plan, nil
}

func (s *leakingStore) StartRun(ctx context.Context, thread, run string, input []threads.Message) ([]threads.Message, error) {
	all, err := s.Store.StartRun(ctx, thread, run, input)
	if err == nil {
		s.wrote(run, input, true)
	}
	return all, err
}

func (s *leakingStore) AppendMessages(ctx context.Context, thread, run string, messages []threads.Message) error {
	err := s.Store.AppendMessages(ctx, thread, run, messages)
	if err == nil {
		s.wrote(run, messages, false)
	}
	return err
}

func (s *leakingStore) wrote(run string, messages []threads.Message, input bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.seen[run]
	if input {
		t.input = messages
	}
	t.written = append(t.written, messages...)
	t.last = time.Now()
}

func (s *leakingStore) tombstones(thread string) []tombstone {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone[thread]
}

func (s *leakingStore) Run(ctx context.Context, thread, run string) (threads.Run, error) {
	r, err := s.Store.Run(ctx, thread, run)
	if !errors.Is(err, threads.ErrNotFound) || s.leak.run == nil {
		return r, err
	}
	for _, t := range s.tombstones(thread) {
		if t.run.ID == run {
			if r, found := s.leak.run(t); found {
				return r, nil
			}
		}
	}
	return r, err
}

func (s *leakingStore) State(ctx context.Context, thread string) ([]threads.Message, error) {
	messages, err := s.Store.State(ctx, thread)
	if err != nil {
		return messages, err
	}
	if gone := s.tombstones(thread); s.leak.wipes != nil && len(gone) == 1 && s.leak.wipes(gone[0]) {
		return nil, nil
	}
	if s.leak.messages == nil {
		return messages, nil
	}
	var all []threads.Message
	for _, t := range s.tombstones(thread) {
		all = append(all, s.leak.messages(t)...)
	}
	return append(all, messages...), nil
}

// remainingRun returns the deleted run unchanged if the condition holds.
func remainingRun(where func(t tombstone) bool) func(t tombstone) (threads.Run, bool) {
	return func(t tombstone) (threads.Run, bool) { return t.run, where(t) }
}

// remainingRunAs returns the deleted run with another status.
func remainingRunAs(status string, where func(t tombstone) bool) func(t tombstone) (threads.Run, bool) {
	return func(t tombstone) (threads.Run, bool) {
		r := t.run
		r.Status = status
		return r, where(t)
	}
}

// remainingMessages returns some messages of the deleted run if the condition holds.
func remainingMessages(where func(t tombstone) bool, which func(t tombstone) []threads.Message) func(t tombstone) []threads.Message {
	return func(t tombstone) []threads.Message {
		if !where(t) {
			return nil
		}
		return which(t)
	}
}
