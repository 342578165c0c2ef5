package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

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
	additive bool // whether a second run adds its messages to those of the first
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
	maxTries    = 40 // sequences that are tried to shrink one
)

// URI stands for the file of a scenario.
const URI = "exploration.feature"

// New returns an explorer. The error says why the agent server cannot be explored.
func New(ctx context.Context, t *target.Target, agents *agent.Agents) (*Explorer, error) {
	ctx = evidence.WithScenario(ctx, "fixture: exploration", 0)
	e := &Explorer{target: t, agents: agents}
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
		e.callers = append(e.callers, other, stranger)
	}
	return e, nil
}

// Explore sends about so many operations in sequences that the seed chooses, several at a time, and returns how many were sent. One fault may
// fail sequences in many ways: after some failures it ends, and returns what most of them have failed by, nil where none has failed.
func (e *Explorer) Explore(ctx context.Context, seed int64, operations int) (f *Failure, sent int) {
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
				found, count := e.try(ctx, i+1, e.sequence(random, min(perSequence, operations-i*perSequence)))
				mu.Lock()
				if sent += count; found != nil {
					failures = append(failures, found)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if f = most(failures); f != nil {
		sent += e.shrink(ctx, f)
	}
	return f, sent
}

// most returns the first failure of the requirement that the most have failed by, with their count. What is ambiguous counts only where all is.
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

// Case sends one sequence, and returns its failure, nil where every answer is explained.
func (e *Explorer) Case(ctx context.Context, all []Operation) *Failure {
	f, _ := e.try(ctx, 1, all)
	return f
}

// try sends one sequence. What keeps it from being judged is another requirement's concern.
func (e *Explorer) try(ctx context.Context, line int, all []Operation) (*Failure, int) {
	s, name := newSession(e), fmt.Sprintf("Exploration, sequence %d", line)
	problem, err := s.execute(evidence.WithScenario(ctx, fmt.Sprintf("%s:%d %s", URI, line, name), 1<<20), all)
	if err != nil || problem == nil {
		return nil, len(s.sent)
	}
	return &Failure{Wrong: *problem, Name: name, Line: line, Operations: s.sent, Count: 1, Judged: 1, Seen: 1}, len(s.sent)
}

// shrink leaves out operations as long as the same requirement fails, and sends the shortest sequence once more.
func (e *Explorer) shrink(ctx context.Context, f *Failure) (sent int) {
	count, line, tries := f.Count, 1000*f.Line, 0
	again := func(all []Operation) bool {
		tries++
		shorter, n := e.try(ctx, line+tries, all)
		sent += n
		if shorter == nil || shorter.Requirement != f.Requirement {
			return false
		}
		*f = *shorter
		f.Count = count
		return true
	}
	for part := len(f.Operations) / 2; part > 0; part /= 2 {
		for from := 0; from < len(f.Operations) && tries < maxTries && ctx.Err() == nil; {
			if !again(slices.Delete(slices.Clone(f.Operations), from, min(from+part, len(f.Operations)))) {
				from += part
			}
		}
	}
	for i := 0; i < len(f.Operations) && tries < maxTries && ctx.Err() == nil; i++ {
		if f.Operations[i].Meanwhile {
			simpler := slices.Clone(f.Operations)
			simpler[i].Meanwhile = false
			again(simpler)
		}
	}
	shrunk := slices.Clone(f.Operations)
	last := *f
	if again(shrunk) {
		f.Judged, f.Seen = 2, 2
	} else {
		*f = last
		f.Judged, f.Seen = 2, 1
	}
	return sent
}
