package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// Explorer explores the agent server of a target.
type Explorer struct {
	target   *target.Target
	agents   *agent.Agents
	server   *agent.Server
	callers  []target.Caller
	known    func(requirement string) bool // whether it has failed already, so that its failure tells nothing new
	additive bool                          // whether a second run adds its messages to those of the first
}

// Failure is a sequence with an answer that no history explains.
type Failure struct {
	Wrong
	Name       string      // of its sequence
	Line       int         // tells the sequence from others in the record
	Operations []Operation // as few as still fail
	Count      int         // how many sequences have failed so
	Judged     int         // how often the shrunk sequence was sent
	Seen       int         // how often it failed
}

const (
	perSequence = 20 // operations
	beside      = 10 // sequences at the same time
	enough      = 5  // failures
	maxTries    = 40 // sequences that are tried to shrink one, for this long at most
	shrinkTime  = time.Minute
)

// URI stands for the file of a scenario.
const URI = "exploration.feature"

// New returns an explorer. The error says why the agent server cannot be explored.
func New(ctx context.Context, t *target.Target, agents *agent.Agents, known func(requirement string) bool) (*Explorer, error) {
	ctx = evidence.WithScenario(ctx, "fixture: exploration", 0)
	e := &Explorer{target: t, agents: agents, known: known}
	var err error
	if e.server, err = agents.AgentServer(ctx); err != nil {
		return nil, err
	}
	if err := e.server.PlainRunsWork(ctx); err != nil {
		return nil, err
	}
	if e.additive, err = e.server.RunsAdd(ctx); err != nil {
		return nil, err
	}
	e.callers = []target.Caller{t.Owner()}
	if len(t.Config.Users) > 1 {
		other, err := t.Caller(target.TheOtherUser)
		if err != nil {
			return nil, err
		}
		stranger, err := t.Caller(target.NoCredentials)
		if err != nil {
			return nil, err
		}
		guesser, err := t.Caller("a caller with an unknown token")
		if err != nil {
			return nil, err
		}
		e.callers = append(e.callers, other, stranger, guesser)
	}
	return e, nil
}

// Report is what exploration has found.
type Report struct {
	Failure  *Failure // nil: every answer was explained
	Sent     int      // operations that were judged
	Unjudged int      // sequences that could not be judged
	Why      error    // the first of them
}

// Explore sends about so many operations in sequences that the seed chooses, several at a time. One fault may fail
// sequences in many ways: after some failures it ends, and tells what most of them have failed by.
func (e *Explorer) Explore(ctx context.Context, seed int64, operations int) (r Report) {
	n := (operations + perSequence - 1) / perSequence
	var mu sync.Mutex
	var wait sync.WaitGroup
	var failures []*Failure
	next := 0
	take := func() (i int) {
		mu.Lock()
		defer mu.Unlock()
		if i = next; len(failures) >= enough {
			return n
		}
		next++
		return i
	}
	for range min(beside, n) {
		wait.Go(func() {
			for i := take(); i < n && ctx.Err() == nil; i = take() {
				random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
				found, count, err := e.try(ctx, i+1, e.sequence(random, min(perSequence, operations-i*perSequence)))
				mu.Lock()
				if r.add(count, err); found != nil {
					failures = append(failures, found)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if r.Failure = most(failures); r.Failure != nil {
		limited, stop := context.WithTimeout(ctx, shrinkTime)
		defer stop()
		e.shrink(limited, r.Failure)
	}
	return r
}

func (r *Report) add(sent int, err error) {
	if err == nil {
		r.Sent += sent
		return
	}
	if r.Unjudged++; r.Why == nil {
		r.Why = err
	}
}

// most returns the first failure of the requirement that the most have failed by, with their count. What is
// ambiguous counts only where all is.
func most(failures []*Failure) (f *Failure) {
	if sure := slices.DeleteFunc(slices.Clone(failures), func(f *Failure) bool { return f.ambiguous }); len(sure) > 0 {
		failures = sure
	}
	slices.SortFunc(failures, func(a, b *Failure) int { return a.Line - b.Line })
	counts := map[string]int{}
	for _, each := range failures {
		counts[each.Requirement]++
	}
	for _, each := range failures {
		if each.Count = counts[each.Requirement]; f == nil || each.Count > f.Count {
			f = each
		}
	}
	return f
}

// Case sends one sequence.
func (e *Explorer) Case(ctx context.Context, all []Operation) (r Report) {
	f, sent, err := e.try(ctx, 1, all)
	if err == nil && sent < len(all) && f == nil {
		err = fmt.Errorf("%d of its %d operations do not apply: a caller is not configured, or a thread or run is missing", len(all)-sent, len(all))
	}
	r.Failure = f
	r.add(sent, err)
	return r
}

// try sends one sequence. An error keeps it from being judged: that is another requirement's concern.
func (e *Explorer) try(ctx context.Context, line int, all []Operation) (*Failure, int, error) {
	s, name := newSession(e), fmt.Sprintf("Exploration, sequence %d", line)
	problem, err := s.execute(evidence.WithScenario(ctx, fmt.Sprintf("%s:%d %s", URI, line, name), 1<<20), all)
	if err != nil || problem == nil {
		return nil, len(s.sent), err
	}
	return &Failure{Wrong: *problem, Name: name, Line: line, Operations: s.sent, Count: 1, Judged: 1, Seen: 1}, len(s.sent), nil
}

// shrink leaves out operations as long as the same requirement fails, and sends the shortest sequence once more.
func (e *Explorer) shrink(ctx context.Context, f *Failure) {
	count, line, tries := f.Count, 1000*f.Line, 0
	again := func(all []Operation) (fails, judged bool) {
		tries++
		shorter, _, err := e.try(ctx, line+tries, all)
		if shorter == nil || shorter.Requirement != f.Requirement {
			return false, err == nil
		}
		*f = *shorter
		f.Count = count
		return true, true
	}
	more := func() bool { return tries < maxTries && ctx.Err() == nil }
	for part := len(f.Operations) / 2; part > 0; part /= 2 {
		for from := 0; from < len(f.Operations) && more(); {
			if fails, _ := again(slices.Delete(slices.Clone(f.Operations), from, min(from+part, len(f.Operations)))); !fails {
				from += part
			}
		}
	}
	for i := 0; i < len(f.Operations) && more(); i++ {
		if f.Operations[i].Meanwhile {
			simpler := slices.Clone(f.Operations)
			simpler[i].Meanwhile = false
			again(simpler)
		}
	}
	if fails, judged := again(slices.Clone(f.Operations)); judged {
		f.Judged, f.Seen = 2, 1
		if fails {
			f.Seen = 2
		}
	}
}
