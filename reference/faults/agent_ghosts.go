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

// ghost is a run that was rolled back.
type ghost struct {
	run     threads.Run // as it was when it was deleted
	input   []threads.Message
	written []threads.Message // input included; nothing where it had not begun
	last    time.Time         // when it had begun, or written for the last time
	place   int               // among the unfinished runs of its thread, from 0
	by      string            // the run that took its place
	behind  *ghost            // the first in line that made room with it; itself where it was that
}

// spoken tells whether the run had written something of its own.
func (g ghost) spoken() bool { return len(g.written) > len(g.input) }

var waitWords = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

// due is when the run that was first in line would have ended by itself.
func (g ghost) due() time.Time {
	g = *g.behind
	at := g.last
	for _, m := range g.input {
		content, _ := m.Content.(string)
		for _, found := range waitWords.FindAllStringSubmatch(content, -1) {
			ms, _ := strconv.Atoi(found[1]) // digits; one that is too large is none
			at = at.Add(time.Duration(ms) * time.Millisecond)
		}
	}
	return at
}

// haunt is what remains of runs that were rolled back.
type haunt struct {
	run      func(g ghost) (threads.Run, bool) // whether it is found, and as what; nil: it is not
	messages func(g ghost) []threads.Message   // that the state holds before all others; nil: none
}

// haunted has runs leave something behind when they are rolled back.
func haunted(h haunt) Layer {
	return agentStoring(func(s threads.Store) threads.Store {
		return &hauntedStore{Store: s, haunt: h, seen: map[string]*ghost{}, gone: map[string][]ghost{}}
	})
}

type hauntedStore struct {
	threads.Store
	haunt haunt

	mu   sync.Mutex
	seen map[string]*ghost  // by run, while it is unfinished
	gone map[string][]ghost // by thread
}

func (s *hauntedStore) BeginRun(ctx context.Context, r threads.Run, decide threads.Strategy) (threads.Plan, error) {
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
	s.seen[r.ID] = &ghost{}
	var first *ghost
	for place, other := range unfinished {
		if !slices.Contains(plan.Delete, other.ID) {
			continue
		}
		g := s.seen[other.ID]
		if first == nil {
			first = g
		}
		g.run, g.place, g.by, g.behind = other, place, r.ID, first
		s.gone[r.ThreadID] = append(s.gone[r.ThreadID], *g)
	}
	return plan, nil
}

func (s *hauntedStore) StartRun(ctx context.Context, thread, run string, input []threads.Message) ([]threads.Message, error) {
	all, err := s.Store.StartRun(ctx, thread, run, input)
	if err == nil {
		s.wrote(run, input, true)
	}
	return all, err
}

func (s *hauntedStore) AppendMessages(ctx context.Context, thread, run string, messages []threads.Message) error {
	err := s.Store.AppendMessages(ctx, thread, run, messages)
	if err == nil {
		s.wrote(run, messages, false)
	}
	return err
}

func (s *hauntedStore) wrote(run string, messages []threads.Message, input bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.seen[run]
	if input {
		g.input = messages
	}
	g.written = append(g.written, messages...)
	g.last = time.Now()
}

func (s *hauntedStore) ghosts(thread string) []ghost {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone[thread]
}

func (s *hauntedStore) Run(ctx context.Context, thread, run string) (threads.Run, error) {
	r, err := s.Store.Run(ctx, thread, run)
	if !errors.Is(err, threads.ErrNotFound) || s.haunt.run == nil {
		return r, err
	}
	for _, g := range s.ghosts(thread) {
		if g.run.ID == run {
			if r, found := s.haunt.run(g); found {
				return r, nil
			}
		}
	}
	return r, err
}

func (s *hauntedStore) State(ctx context.Context, thread string) (threads.State, error) {
	state, err := s.Store.State(ctx, thread)
	if err != nil || s.haunt.messages == nil {
		return state, err
	}
	var all []threads.Message
	for _, g := range s.ghosts(thread) {
		left := s.haunt.messages(g)
		if all = append(all, left...); len(left) > 0 && state.RunID == "" {
			state.RunID, state.At = g.run.ID, g.last
		}
	}
	state.Messages = append(all, state.Messages...)
	return state, nil
}

// left keeps a ghost's record as it was, where the condition holds.
func left(where func(g ghost) bool) func(g ghost) (threads.Run, bool) {
	return func(g ghost) (threads.Run, bool) { return g.run, where(g) }
}

// ended shows a ghost's record with another status.
func ended(status string, where func(g ghost) bool) func(g ghost) (threads.Run, bool) {
	return func(g ghost) (threads.Run, bool) {
		r := g.run
		r.Status = status
		return r, where(g)
	}
}

// kept keeps some of a ghost's messages, where the condition holds.
func kept(where func(g ghost) bool, which func(g ghost) []threads.Message) func(g ghost) []threads.Message {
	return func(g ghost) []threads.Message {
		if !where(g) {
			return nil
		}
		return which(g)
	}
}
