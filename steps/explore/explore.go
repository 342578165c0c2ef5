// Package explore sends random sequences of operations by several clients and compares each response with a model of the
// interface. It detects faults that need a certain history, which no scenario creates. A failing sequence is shrunk to
// the fewest operations that still fail, and reported as sentences of a fixed vocabulary, which [Parse] reads. Start with
// [Explore].
//
// The model of each half keeps every history that explains the responses so far ([world] of a thread, [past] of a
// deployment). Operations that were sent at the same time are tried in each order. If no history remains, the last
// response violates a requirement. The model allows all responses that the interface does not define.
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
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Explorer explores one half of the interface at a target.
type Explorer struct {
	Profile string // profile of its requirements
	uri     string // takes the place of the file name of a scenario
	begin   func() session
}

// session is one sequence at the target, with its objects and a model of the half.
type session interface {
	// sequence returns random operations that probably apply, and counts their pairs.
	sequence(random *rand.Rand, n int, c coverage) []Operation
	// applies reports whether the objects of an operation exist, so that it can be sent at the same time as the group.
	applies(o Operation, group []Operation) bool
	// send sends one operation. Other operations are sent at the same time, so it must only modify d. It returns an error
	// if the sequence cannot be judged.
	send(ctx context.Context, d *done) error
	// explain adds the results of a group to the model, and returns the violation of the first response that no history
	// explains. It returns an error if the sequence cannot be judged.
	explain(ctx context.Context, group []done) (*Wrong, error)
}

// Failure is a sequence with a response that no history explains.
type Failure struct {
	Wrong
	URI, Name  string      // file and name of its sequence
	Line       int         // number of the sequence in the record
	Operations []Operation // the shrunk sequence
	Count      int         // number of sequences that violated the same requirement
	Judged     int         // how often the shrunk sequence was sent
	Seen       int         // how often the shrunk sequence failed
}

const (
	perSequence = 20          // operations in a sequence
	concurrent  = 10          // sequences at the same time
	enough      = 5           // number of failures after which exploration ends
	maxTries    = 40          // attempts to shrink a sequence
	shrinkTime  = time.Minute // time limit of these attempts
)

// IsURI reports whether a scenario is a sequence of exploration.
func IsURI(uri string) bool { return uri == agentURI || uri == planeURI }

const (
	agentURI = "exploration.feature"
	planeURI = "exploration_of_the_control_plane.feature"
)

// Report is the result of exploration.
type Report struct {
	Failure  *Failure // nil if all responses were explained
	Sent     int      // number of judged operations
	Unjudged []error  // the reasons why sequences could not be judged
}

// Explore sends about this number of operations in random sequences that depend on the seed, several sequences at a time.
// One fault may violate several requirements, so exploration ends after some failures and reports the most frequent.
func (e *Explorer) Explore(ctx context.Context, seed int64, operations int) (r Report) {
	sequences := e.sequences(seed, operations)
	var mu sync.Mutex
	var wait sync.WaitGroup
	var failures []*Failure
	var failed atomic.Int64
	for worker := range concurrent {
		wait.Go(func() {
			client.Stagger(worker)
			for i := worker; i < len(sequences) && failed.Load() < enough && ctx.Err() == nil; i += concurrent {
				found, count, err := e.try(ctx, i+1, sequences[i], 0)
				mu.Lock()
				r.add(count, err)
				if found != nil {
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

// sequences returns random sequences with about this number of operations.
func (e *Explorer) sequences(seed int64, operations int) (all [][]Operation) {
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	s, c := e.begin(), coverage{}
	for operations > 0 {
		n := min(perSequence, operations)
		all = append(all, s.sequence(random, n, c))
		operations -= n
	}
	return all
}

func (r *Report) add(sent int, err error) {
	if err != nil {
		r.Unjudged = append(r.Unjudged, err)
		return
	}
	r.Sent += sent
}

// most returns the first failure of the requirement with the most failures, and their number. Ambiguous failures count
// only if all failures are ambiguous.
func most(failures []*Failure) *Failure {
	var certain []*Failure
	for _, f := range failures {
		if !f.ambiguous {
			certain = append(certain, f)
		}
	}
	if len(certain) > 0 {
		failures = certain
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

// pauses are the pauses between the operations of a sequence when it is sent again. Some faults show only if a build or a
// run has ended before the next operation, and others only if it has not.
var pauses = []time.Duration{0, 5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond}

// Case sends one sequence with each of the pauses until it fails.
func (e *Explorer) Case(ctx context.Context, all []Operation) (r Report) {
	var f *Failure
	var sent int
	var err error
	for i, pause := range pauses {
		f, sent, err = e.try(ctx, i+1, all, pause)
		if f != nil || err != nil || sent < len(all) {
			break
		}
	}
	if err == nil && sent < len(all) && f == nil {
		err = fmt.Errorf("%d of its %d operations do not apply: a caller or value is not configured, "+
			"or a thread, run, deployment or revision does not exist", len(all)-sent, len(all))
	}
	r.Failure = f
	r.add(sent, err)
	return r
}

// try sends one sequence. It returns an error if the sequence could not be judged.
func (e *Explorer) try(ctx context.Context, line int, all []Operation, pause time.Duration) (*Failure, int, error) {
	name := fmt.Sprintf("Exploration, sequence %d", line)
	sent, problem, err := e.execute(evidence.WithScenario(ctx, fmt.Sprintf("%s:%d %s", e.uri, line, name), 1<<20), all, pause)
	if err != nil || problem == nil {
		return nil, len(sent), err
	}
	f := &Failure{Wrong: *problem, URI: e.uri, Name: name, Line: line, Operations: sent, Count: 1, Judged: 1, Seen: 1}
	return f, len(sent), nil
}

// atOnce is the maximum number of operations that are sent at the same time. It is small, because all orders are tried.
const atOnce = 4

// execute sends the operations that apply, and returns those that were sent, with the violation of the first response
// that no history explains. It returns an error if the sequence could not be judged.
func (e *Explorer) execute(ctx context.Context, all []Operation, pause time.Duration) ([]Operation, *Wrong, error) {
	s := e.begin()
	var sent []Operation
	for len(all) > 0 {
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
		results, err := together(ctx, s, group)
		if err != nil {
			return sent, nil, err
		}
		problem, err := s.explain(ctx, results)
		if err == nil && pause > 0 {
			err = client.Sleep(ctx, pause)
		}
		if err != nil || problem != nil {
			return sent, problem, err
		}
	}
	return sent, nil, nil
}

// together sends the operations at the same time.
func together(ctx context.Context, s session, group []Operation) ([]done, error) {
	all, errs := make([]done, len(group)), make([]error, len(group))
	var wait sync.WaitGroup
	for i, o := range group {
		all[i].Operation, all[i].group, all[i].position = o, group, i
		wait.Go(func() {
			client.Stagger(i)
			errs[i] = s.send(ctx, &all[i])
		})
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

// has reports whether the group has an operation on an object with one of the verbs.
func has(group []Operation, object int, verbs ...string) bool {
	return slices.ContainsFunc(group, func(o Operation) bool {
		return o.Object == object && slices.Contains(verbs, o.Verb)
	})
}

// operationsAt returns the operations of a group on an object that exists. Lists are not about one object.
func operationsAt(object int, group []done) (about []done) {
	for _, d := range group {
		if d.Object == object && !slices.Contains([]string{deploy, create, list}, d.Verb) {
			about = append(about, d)
		}
	}
	return about
}

// done is an operation that was sent, with its results.
type done struct {
	Operation
	position int                // index in the group
	group    []Operation        // all operations that were sent at the same time, including this one
	response *exchange.Response // nil if there was none
	agentSeen
	planeSeen
}

// isConcurrent reports whether other operations were sent at the same time.
func (d *done) isConcurrent() bool { return len(d.group) > 1 }

// Wrong is a response that no history explains, with the requirement that it violates.
type Wrong struct {
	Requirement string
	*outcome.Outcome
	ambiguous bool // several histories are possible, and it may violate a different requirement in each
}

func wrong(requirement string, o *outcome.Outcome) *Wrong {
	return &Wrong{Requirement: requirement, Outcome: o}
}

// want returns nil if the response is as expected. Otherwise it returns the violation.
func want(isMet bool, requirement string, a *exchange.Response, expected string) *Wrong {
	switch {
	case isMet:
		return nil
	case a == nil:
		return wrong(requirement, outcome.Fails(nil, outcome.Violation{Kind: outcome.NoResponse,
			Summary: "The server does not respond", Expected: expected, Actual: "no response"}))
	}
	v := outcome.Violation{Kind: outcome.Unserved(a), Summary: a.Request.Name() + " contradicts earlier responses", Expected: expected}
	if !a.OK() {
		v.Summary = fmt.Sprintf("%s returns %d", a.Request.Name(), a.Status)
		v.Check = outcome.Statuses("2XX")
	}
	return wrong(requirement, outcome.Fails(a, v))
}

// wantRefusal returns nil if the response is a refusal, or if the connection was closed. The text is appended to the
// expectation.
func wantRefusal(requirement string, a *exchange.Response, of string) *Wrong {
	if a == nil || a.Status >= http.StatusBadRequest {
		return nil
	}
	return wrong(requirement, outcome.Fails(a, outcome.Violation{Kind: outcome.Accepted,
		Summary: fmt.Sprintf("%s returns %d%s", a.Request.Name(), a.Status, of), Expected: "400 or above" + of,
		Check: outcome.Statuses("4XX", "5XX")}))
}

// explained tries the operations in each order, beginning with each of the worlds. It returns the worlds after all orders
// that explain the responses, or the first violation if no order does. An operation that violates a known requirement
// does not change a world.
func explained[W any](worlds []W, about []done, after func(W, done) ([]W, *Wrong),
	known func(requirement string) bool) (possible []W, problem *Wrong) {
	if len(about) == 0 {
		return worlds, nil
	}
	for i, first := range about {
		var next []W
		for _, w := range worlds {
			more, violation := after(w, first)
			switch {
			case violation == nil:
				next = append(next, more...)
			case known(violation.Requirement):
				next = append(next, w)
			default:
				problem = cmp.Or(problem, violation)
			}
		}
		if len(next) == 0 {
			continue
		}
		rest := slices.Concat(about[:i], about[i+1:])
		ends, violation := explained(next, rest, after, known)
		problem = cmp.Or(problem, violation)
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

// shrink removes operations as long as the same requirement fails, and sends the shortest sequence once more. If the
// failure is ambiguous, the requirement may change.
func (e *Explorer) shrink(ctx context.Context, f *Failure) {
	count, line, tries := f.Count, 1000*f.Line, 0
	again := func(all []Operation) (fails, judged bool) {
		tries++
		shorter, _, err := e.try(ctx, line+tries, all, 0)
		fails = shorter != nil && (shorter.Requirement == f.Requirement || f.ambiguous && !shorter.ambiguous)
		if fails {
			*f = *shorter
			f.Count = count
		}
		return fails, err == nil
	}
	mayTry := func() bool { return tries < maxTries && ctx.Err() == nil }
	for part := len(f.Operations) / 2; part > 0; part /= 2 {
		from := 0
		for from < len(f.Operations) && mayTry() {
			to := min(from+part, len(f.Operations))
			shorter := slices.Concat(f.Operations[:from], f.Operations[to:])
			if from < len(shorter) && !f.Operations[from].Meanwhile { // keeps the group before it complete
				shorter[from].Meanwhile = false
			}
			fails, _ := again(shorter)
			if !fails {
				from += part
			}
		}
	}
	for i := 0; i < len(f.Operations) && mayTry(); i++ {
		if f.Operations[i].Meanwhile {
			simpler := slices.Clone(f.Operations)
			simpler[i].Meanwhile = false
			again(simpler)
		}
	}
	fails, judged := again(slices.Clone(f.Operations))
	if !judged {
		return
	}
	f.Judged, f.Seen = 2, 1
	if fails {
		f.Seen = 2
	}
}
