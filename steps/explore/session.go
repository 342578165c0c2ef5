package explore

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// session is one sequence at the target, with what is known of its threads and runs.
type session struct {
	*Explorer
	threads map[int]*thread
	runs    map[int]*agent.GraphRun
	by      map[int]Operation // that started the run
	sent    []Operation
}

// thread is one that the sequence has created.
type thread struct {
	*agent.Thread
	owner  int
	worlds []world
}

func newSession(e *Explorer) *session {
	return &session{Explorer: e, threads: map[int]*thread{}, runs: map[int]*agent.GraphRun{}, by: map[int]Operation{}}
}

// atOnce bounds the operations that are sent at the same time: they are tried in each order.
const atOnce = 4

// execute sends the operations and returns what is wrong with the first answer that no history explains. Operations
// that do not apply, since what they need is not there, are left out. An error keeps the rest from being judged.
func (s *session) execute(ctx context.Context, all []Operation) (*Wrong, error) {
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
		s.sent = append(s.sent, group...)
		answered, err := s.together(ctx, group)
		if err != nil {
			return nil, err
		}
		if problem := s.explain(answered); problem != nil {
			return problem, nil
		}
	}
	return nil, nil
}

// applies tells whether what the operation needs is there. What the interface does not say of a second run without
// rollback while one is in progress is not asked.
func (s *session) applies(o Operation, group []Operation) bool {
	if o.Caller >= len(s.callers) {
		return false
	}
	t := s.threads[o.Thread]
	_, known := s.by[o.Run]
	beside := has(group, o.Thread, vocabulary...)
	switch o.Verb {
	case list:
		return o.Caller <= second
	case create:
		return t == nil && o.Caller <= second && !beside
	case await:
		return t != nil && o.Caller == t.owner && !beside
	case retrieve, join:
		return t != nil && known && s.runs[o.Run].ID != ""
	case start, startWaiting:
		idle := t != nil && !slices.ContainsFunc(t.worlds, func(w world) bool { return w.pending != 0 })
		return idle && !known && !has(group, o.Thread, append([]string{await}, starts...)...)
	case rollBack, rollWaiting, startUnknown:
		return t != nil && !known && !has(group, o.Thread, start, startWaiting, await)
	}
	return t != nil
}

// has tells whether one of the verbs is among the operations at a thread.
func has(group []Operation, thread int, verbs ...string) bool {
	return slices.ContainsFunc(group, func(o Operation) bool { return o.Thread == thread && slices.Contains(verbs, o.Verb) })
}

// together sends the operations at the same time.
func (s *session) together(ctx context.Context, group []Operation) ([]done, error) {
	all, errs := make([]done, len(group)), make([]error, len(group))
	for i, o := range group {
		all[i].Operation = o
		all[i].raced = slices.ContainsFunc(group, func(other Operation) bool {
			return other != o && other.Thread == o.Thread && slices.Contains(starts, other.Verb)
		})
		if slices.Contains(starts, o.Verb) {
			s.by[o.Run] = o
		}
	}
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { errs[i] = s.send(ctx, &all[i]) })
	}
	wait.Wait()
	for _, d := range all {
		if d.started != nil {
			s.runs[d.Run] = d.started
		}
		if d.created != nil {
			s.threads[d.Thread] = d.created
		}
	}
	return all, errors.Join(errs...)
}

// send sends one operation. Others are sent at the same time: it changes nothing but what was done.
func (s *session) send(ctx context.Context, d *done) (err error) {
	who, t, g := s.callers[d.Caller], s.threads[d.Thread], s.runs[d.Run]
	switch d.Verb {
	case create:
		made, err := s.server.CreateThread(ctx, who, nil)
		if err != nil {
			return err
		}
		if err := outcome.AsPrecondition(made.Usable()); err != nil {
			return err
		}
		d.created = &thread{Thread: made, owner: d.Caller, worlds: []world{{}}}
	case start, startWaiting, rollBack, rollWaiting, startUnknown:
		if d.started, err = s.startRun(ctx, *d, who, t); err != nil {
			return err
		}
		d.answer = d.started.Answer
	case await:
		return s.awaitEnd(ctx, d, t)
	case retrieve:
		d.answer, err = s.server.GetRun(ctx, who, &agent.GraphRun{ID: g.ID, Thread: t.Thread})
	case join:
		d.answer, err = s.server.Join(ctx, who, &agent.GraphRun{ID: g.ID, Thread: t.Thread, Order: g.Order})
		var none *client.NoAnswer
		if errors.As(err, &none) && none.Closed {
			err = nil // the join of a run that is rolled back meanwhile may end so
		}
	case readState:
		d.answer, err = s.server.State(ctx, who, t.Thread)
	case list:
		_, d.answer, err = s.server.List(ctx, who, nil)
	}
	return err
}

// startRun starts a run: one of the owner in its turn, and any other at once, since it is to be refused. A thread
// may be busy for a moment after its last run.
func (s *session) startRun(ctx context.Context, d done, who target.Caller, t *thread) (*agent.GraphRun, error) {
	order, own := agent.Order{Waits: d.waits()}, *t.Thread
	if d.rolls() {
		order.Strategy = agent.RollbackStrategy
	}
	if d.Verb == startUnknown {
		order.Assistant = "agentconform-" + target.UnknownID()
	}
	if d.Verb == startUnknown || d.Caller != t.owner {
		return s.server.TryPost(ctx, who, &own, order)
	}
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		g, err := s.server.Post(ctx, who, &own, order)
		if err != nil || g.ID != "" || d.rolls() || wait > time.Second {
			return g, err
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// awaitEnd reads the state, and each run that may be in progress, until a history explains them or all had their
// time: a while after their joins were answered. A run that has written all is over when its join is answered.
func (s *session) awaitEnd(ctx context.Context, d *done, t *thread) error {
	may, limit := t.inProgress(), time.Now().Add(s.target.Config.Timeouts.Run)
	var joins []*agent.Joining
	for _, id := range may {
		limit = limit.Add(s.runs[id].Order.Hold)
		if slices.ContainsFunc(t.worlds, func(w world) bool { return w.pending == id }) {
			j := s.server.JoinNow(ctx, s.runs[id])
			defer j.Leave()
			joins = append(joins, j)
		}
	}
	for wait := 5 * time.Millisecond; ; wait = min(wait*3/2, 250*time.Millisecond) {
		a, err := s.server.State(ctx, s.callers[t.owner], t.Thread)
		if err != nil {
			return err
		}
		d.answer, d.retrieved = a, map[int]*client.Answer{}
		if slices.ContainsFunc(t.worlds, func(w world) bool { return w.pending == 0 || s.runs[w.pending].CompleteIn(a) }) {
			for _, id := range may {
				if d.retrieved[id], err = s.server.GetRun(ctx, s.callers[t.owner], s.runs[id]); err != nil {
					return err
				}
			}
			if last := s.ending(t, *d); last != nil {
				return s.server.SurelyOver(ctx, last)
			}
		}
		if d.over = s.hadTheirTime(joins); d.over || time.Now().After(limit) {
			break
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return err
		}
	}
	for _, id := range may {
		if err := s.server.StillQueued(ctx, s.runs[id]); err != nil {
			return err
		}
	}
	return nil
}

// hadTheirTime tells whether all joins were answered a while ago.
func (s *session) hadTheirTime(joins []*agent.Joining) bool {
	return !slices.ContainsFunc(joins, func(j *agent.Joining) bool { return !j.Over() || time.Since(j.Ended) < s.agents.Patience() })
}

// inProgress are the runs that may be, or may be about to be removed.
func (t *thread) inProgress() (all []int) {
	for _, w := range t.worlds {
		for _, id := range append([]int{w.pending}, w.doomed...) {
			if id != 0 && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}

// ending is the last run of a history that explains what was seen.
func (s *session) ending(t *thread, d done) *agent.GraphRun {
	for _, w := range t.worlds {
		if _, problem := s.ended(w, d); problem == nil && w.pending != 0 {
			return s.runs[w.pending]
		}
	}
	return nil
}

// explain tries the operations of each thread in each order, and keeps the histories that explain their answers.
func (s *session) explain(group []done) *Wrong {
	for at, t := range s.threads {
		about := slices.DeleteFunc(slices.Clone(group), func(d done) bool { return d.Thread != at || d.Verb == create || d.Verb == list })
		if len(about) == 0 {
			continue
		}
		var possible []world
		var problem *Wrong
		for _, order := range orders(len(about)) {
			worlds := t.worlds
			for _, i := range order {
				var next []world
				for _, w := range worlds {
					more, wrong := s.after(w, about[i])
					if wrong != nil && s.known(wrong.Requirement) {
						more, wrong = []world{w}, nil
					}
					if problem == nil {
						problem = wrong
					}
					if wrong == nil {
						next = append(next, more...)
					}
				}
				worlds = next
			}
			possible = append(possible, worlds...)
		}
		if len(possible) == 0 {
			problem.ambiguous = len(t.worlds) > 1 || len(about) > 1
			return problem
		}
		t.worlds = distinct(possible)
	}
	return nil
}

func distinct(all []world) (each []world) {
	for _, w := range all {
		if !slices.ContainsFunc(each, w.equal) {
			each = append(each, w)
		}
	}
	return each
}

func (w world) equal(other world) bool {
	return w.pending == other.pending && w.joined == other.joined && slices.Equal(w.kept, other.kept) && slices.Equal(w.loose, other.loose) &&
		slices.Equal(w.doomed, other.doomed) && slices.Equal(w.gone, other.gone)
}

// orders are all orders of so many things, the one in which they are first.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, order := range orders(n - 1) {
		for at := n - 1; at >= 0; at-- {
			all = append(all, slices.Insert(slices.Clone(order), at, n-1))
		}
	}
	return all
}
