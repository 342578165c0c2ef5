// Package explore sends random sequences of operations by several clients and compares each answer with a model of
// the interface. It finds what no scenario shows: faults that need a certain history. A sequence that fails is
// shrunk to the fewest operations that still fail, and is told as sentences of a closed vocabulary, which [Parse]
// reads again.
//
// The model of each half keeps every history that explains the answers so far ([world] of a thread, [past] of a
// deployment). Operations that were sent at the same time are tried in each order. Where no history is left, the last
// answer breaks a requirement. Where the interface is silent the model allows all answers.
package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Explorer explores one half of the interface at a target.
type Explorer struct {
	Profile string // of its requirements
	uri     string // stands for the file of a scenario
	begin   func() session
}

// session is one sequence at the target, with what is known of the half, and of the objects that it has created.
type session interface {
	// sequence returns random operations that apply, as far as that is known before they are sent.
	sequence(random *rand.Rand, n int) []Operation
	// applies tells whether what the operation needs is there, beside those that are sent at the same time.
	applies(o Operation, group []Operation) bool
	// send sends one operation. Others are sent at the same time: it changes nothing but what was done. An error that
	// keeps the sequence from being judged ends it, as [common.Check] ends a step.
	send(ctx context.Context, d *done)
	// explain takes over what was done, and returns what is wrong with the first answer that no history explains.
	explain(ctx context.Context, group []done) *Wrong
}

// Failure is a sequence with an answer that no history explains.
type Failure struct {
	Wrong
	URI, Name  string      // of its sequence
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

// IsURI tells whether a scenario is a sequence that exploration has found.
func IsURI(uri string) bool { return uri == agentURI || uri == planeURI }

const (
	agentURI = "exploration.feature"
	planeURI = "exploration_of_the_control_plane.feature"
)

// Report is what exploration has found.
type Report struct {
	Failure  *Failure // nil: every answer was explained
	Sent     int      // operations that were judged
	Unjudged []error  // why sequences could not be judged
}

// Explore sends about so many operations in sequences that the seed chooses, several at a time. One fault may fail
// sequences in many ways: after some failures it ends, and tells what most of them have failed by.
func (e *Explorer) Explore(ctx context.Context, seed int64, operations int) (r Report) {
	n := (operations + perSequence - 1) / perSequence
	var mu sync.Mutex
	var wait sync.WaitGroup
	var failures []*Failure
	var failed atomic.Int64
	for worker := range beside {
		wait.Go(func() {
			client.Stagger(worker)
			for i := worker; i < n && failed.Load() < enough && ctx.Err() == nil; i += beside {
				random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
				all := e.begin().sequence(random, min(perSequence, operations-i*perSequence))
				found, count, err := e.try(ctx, i+1, all)
				mu.Lock()
				if r.add(count, err); found != nil {
					failures = append(failures, found)
					failed.Add(1)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if len(failures) > 0 {
		r.Failure = most(failures)
		limited, stop := context.WithTimeout(ctx, shrinkTime)
		defer stop()
		e.shrink(limited, r.Failure)
	}
	return r
}

func (r *Report) add(sent int, err error) {
	if err != nil {
		r.Unjudged = append(r.Unjudged, err)
		return
	}
	r.Sent += sent
}

// most returns the first failure of the requirement that the most have failed by, with their count. What is
// ambiguous counts only where all is.
func most(failures []*Failure) *Failure {
	if sure := slices.DeleteFunc(slices.Clone(failures), func(f *Failure) bool { return f.ambiguous }); len(sure) > 0 {
		failures = sure
	}
	slices.SortFunc(failures, func(a, b *Failure) int { return a.Line - b.Line })
	counts := map[string]int{}
	for _, f := range failures {
		counts[f.Requirement]++
	}
	f := slices.MaxFunc(failures, func(a, b *Failure) int { return counts[a.Requirement] - counts[b.Requirement] })
	f.Count = counts[f.Requirement]
	return f
}

// Case sends one sequence.
func (e *Explorer) Case(ctx context.Context, all []Operation) (r Report) {
	f, sent, err := e.try(ctx, 1, all)
	if err == nil && sent < len(all) && f == nil {
		err = fmt.Errorf("%d of its %d operations do not apply: a caller or value is not configured, "+
			"or what it names is missing", len(all)-sent, len(all))
	}
	r.Failure = f
	r.add(sent, err)
	return r
}

// try sends one sequence. An error keeps it from being judged: that is another requirement's concern.
func (e *Explorer) try(ctx context.Context, line int, all []Operation) (*Failure, int, error) {
	name := fmt.Sprintf("Exploration, sequence %d", line)
	sent, problem, err := e.execute(evidence.WithScenario(ctx, fmt.Sprintf("%s:%d %s", e.uri, line, name), 1<<20), all)
	if err != nil || problem == nil {
		return nil, len(sent), err
	}
	f := &Failure{Wrong: *problem, URI: e.uri, Name: name, Line: line, Operations: sent, Count: 1, Judged: 1, Seen: 1}
	return f, len(sent), nil
}

// atOnce bounds the operations that are sent at the same time: they are tried in each order.
const atOnce = 4

// execute sends the operations and returns those that were sent, with what is wrong with the first answer that no
// history explains. Operations that do not apply, since what they need is not there, are left out. An error keeps the
// rest from being judged.
func (e *Explorer) execute(ctx context.Context, all []Operation) (sent []Operation, problem *Wrong, err error) {
	s := e.begin()
	for len(all) > 0 && problem == nil && err == nil {
		n := 1
		for n < min(len(all), atOnce) && all[n].Meanwhile {
			n++
		}
		var group []Operation
		for _, o := range all[:n] {
			if s.applies(o, group) {
				o.Meanwhile = len(group) > 0
				group = append(group, o)
			}
		}
		all = all[n:]
		sent = append(sent, group...)
		var answered []done
		if answered, err = together(ctx, s, group); err == nil {
			err = common.Try(func() { problem = s.explain(ctx, answered) })
		}
	}
	return sent, problem, err
}

// together sends the operations at the same time.
func together(ctx context.Context, s session, group []Operation) ([]done, error) {
	all, errs := make([]done, len(group)), make([]error, len(group))
	var wait sync.WaitGroup
	for i, o := range group {
		all[i].Operation, all[i].group, all[i].position = o, group, i
		wait.Go(func() {
			client.Stagger(i)
			errs[i] = common.Try(func() { s.send(ctx, &all[i]) })
		})
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

// has tells whether one of the verbs is among the operations at an object.
func has(group []Operation, object int, verbs ...string) bool {
	return slices.ContainsFunc(group, func(o Operation) bool {
		return o.Object == object && slices.Contains(verbs, o.Verb)
	})
}

// done is an operation that was sent, with what was seen.
type done struct {
	Operation
	position int                // in the group
	group    []Operation        // all that were sent at the same time, with it
	answer   *exchange.Response // nil where there was none
	agentSeen
	planeSeen
}

// beside tells whether others were sent at the same time.
func (d *done) beside() bool { return len(d.group) > 1 }

// Wrong is an answer that no history explains, and the requirement that it breaks.
type Wrong struct {
	Requirement string
	*outcome.Outcome
	ambiguous bool // there were several histories, which it breaks in several ways
}

func wrong(requirement string, o *outcome.Outcome) *Wrong {
	return &Wrong{Requirement: requirement, Outcome: o}
}

// want is nothing where the answer is as expected, else what is wrong.
func want(is bool, requirement string, a *exchange.Response, expected string) *Wrong {
	switch {
	case is:
		return nil
	case a == nil:
		return wrong(requirement, outcome.Violated(nil, expected, "no answer"))
	}
	return wrong(requirement, outcome.Violated(a, expected, "%s", outcome.Seen(a)))
}

// wantRefusal is nothing where the answer is a refusal, as a closed connection is. Words may say what is refused.
func wantRefusal(requirement string, a *exchange.Response, of string) *Wrong {
	return want(a == nil || a.Status >= http.StatusBadRequest, requirement, a, "a status of 400 or above"+of)
}

// explained tries operations in each order, and returns the histories that may follow the given ones and explain the
// answers; where none does, what is wrong in the first. What is known to be wrong changes no history.
func explained[W any](worlds []W, about []done, after func(W, done) ([]W, *Wrong),
	known func(requirement string) bool) (possible []W, problem *Wrong) {
	if len(about) == 0 {
		return worlds, nil
	}
	for i, first := range about {
		var next []W
		for _, w := range worlds {
			more, wrong := after(w, first)
			if wrong != nil && known(wrong.Requirement) {
				more, wrong = []W{w}, nil
			}
			if problem = cmp.Or(problem, wrong); wrong == nil {
				next = append(next, more...)
			}
		}
		if len(next) == 0 {
			continue
		}
		ends, wrong := explained(next, slices.Delete(slices.Clone(about), i, i+1), after, known)
		problem = cmp.Or(problem, wrong)
		for _, w := range ends {
			if !slices.ContainsFunc(possible, func(other W) bool { return reflect.DeepEqual(w, other) }) {
				possible = append(possible, w)
			}
		}
	}
	if len(possible) > 0 {
		return possible, nil
	}
	problem.ambiguous = len(worlds) > 1 || len(about) > 1
	return nil, problem
}

// shrink leaves out operations as long as the same requirement fails, and sends the shortest sequence once more. What
// is ambiguous may turn out to be another's failure.
func (e *Explorer) shrink(ctx context.Context, f *Failure) {
	count, line, tries := f.Count, 1000*f.Line, 0
	again := func(all []Operation) (fails, judged bool) {
		tries++
		shorter, _, err := e.try(ctx, line+tries, all)
		if shorter == nil || shorter.Requirement != f.Requirement && (!f.ambiguous || shorter.ambiguous) {
			return false, err == nil
		}
		*f = *shorter
		f.Count = count
		return true, true
	}
	more := func() bool { return tries < maxTries && ctx.Err() == nil }
	for part := len(f.Operations) / 2; part > 0; part /= 2 {
		for from := 0; from < len(f.Operations) && more(); {
			shorter := slices.Delete(slices.Clone(f.Operations), from, min(from+part, len(f.Operations)))
			if from < len(shorter) && !f.Operations[from].Meanwhile { // it does not join those before
				shorter[from].Meanwhile = false
			}
			if fails, _ := again(shorter); !fails {
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
