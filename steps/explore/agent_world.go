package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// world is one history of a thread that explains the responses so far.
type world struct {
	kept    []int // completed runs, whose messages are in the state in this order
	loose   []int // runs that failed, or that completed before another run was rolled back: their messages are not judged
	doomed  []int // runs that a rollback removes when the new run completes
	gone    []int // runs that a rollback has removed
	pending int   // the run in progress, or 0 if there is none
	joined  bool  // the join of the pending run has returned
}

// agentSeen has the results of an operation of the agent server.
type agentSeen struct {
	retrieved map[int]*exchange.Response // for [await]: the response to GET of each run that may be in progress
	started   *agent.GraphRun            // the run that was started
	created   *thread
	over      bool // for [await]: the joins of all these runs have returned
}

// after returns the worlds that may follow w after an operation with this response, or else the violation.
func (s *agentSession) after(w world, d done) ([]world, *Wrong) {
	if d.Caller != s.threads[d.Object].owner {
		return []world{w}, s.stranger(d)
	}
	switch d.Verb {
	case start, startWaiting, startTool, startFailing:
		if s.runs[d.Number].ID == "" {
			return []world{w}, s.notStarted(w, d)
		}
		w.pending, w.joined = d.Number, false
		return []world{w}, nil
	case rollBack, rollWaiting, rollFailing:
		return s.rolledBack(w, d)
	case startUnknown:
		return []world{w}, want(!d.response.OK(), "AS-RUN-6", d.response, "a status of 400 or above")
	case await:
		return s.ended(w, d)
	case retrieve:
		return []world{w}, s.retrieved(w, d.Object, d.Number, d.response)
	case join:
		return s.judgeJoin(w, d)
	case readState:
		return []world{w}, s.shows(w, d.Object, d.response)
	}
	return []world{w}, nil
}

// fails reports whether a run fails. Such a run has ended once its join has returned.
func (s *agentSession) fails(run int) bool {
	g := s.runs[run]
	return g != nil && slices.Contains(failing, g.by.Verb)
}

// stranger judges the response to a caller who is not the owner of the thread.
func (s *agentSession) stranger(d done) *Wrong {
	id := ""
	switch {
	case d.Caller == nobody:
		id = "AS-AUTH-1"
	case d.Caller == unknown:
		id = "AS-AUTH-2"
	case slices.Contains(starts, d.Verb):
		id = "AS-AUTHZ-2"
	case d.Verb == retrieve || d.Verb == readState:
		id = "AS-AUTHZ-1"
	case d.Verb == join:
		id = "AS-RUN-9"
	default:
		return nil
	}
	return wantRefusal(id, d.response, " for "+callers[d.Caller])
}

// notStarted judges the refusal of a run. The first run of a thread must be accepted, and further runs if they are
// additive.
func (s *agentSession) notStarted(w world, d done) *Wrong {
	id, isOpen := "AS-RUN-1", false
	if len(w.kept)+len(w.loose)+len(w.gone) > 0 {
		id, isOpen = "AS-STATE-3", !s.additive
	}
	return want(isOpen && !d.response.OK(), id, d.response, "2xx, with a run_id")
}

// rolledBack judges the response to a run with rollback (section 3). If several are sent at the same time, the server may
// refuse some.
func (s *agentSession) rolledBack(w world, d done) ([]world, *Wrong) {
	g := s.runs[d.Number]
	if g.ID == "" {
		raced := slices.ContainsFunc(d.group, func(o Operation) bool {
			return o != d.Operation && o.Object == d.Object && slices.Contains(starts, o.Verb)
		})
		id := "AS-ROLLBACK-6"
		pending := s.runs[w.pending]
		if pending != nil && d.response.Ended().Before(pending.NotOverBefore()) {
			id = "AS-ROLLBACK-1"
		}
		return []world{w}, want(raced && !d.response.OK(), id, d.response, "2xx, with a run_id")
	}
	prior := w.pending
	w.pending, w.joined = d.Number, false
	if prior == 0 {
		return []world{w}, nil
	}
	replaced := w
	replaced.doomed = append(slices.Clone(w.doomed), prior)
	replaced.loose = slices.Concat(w.loose, w.kept)
	replaced.kept = nil
	if g.Responded().Before(s.runs[prior].NotOverBefore()) {
		return []world{replaced}, nil
	}
	completed := w
	completed.loose = slices.Concat(w.loose, w.kept, []int{prior})
	completed.kept = nil
	return []world{replaced, completed}, nil
}

// ended judges the state after the last run should have ended.
func (s *agentSession) ended(w world, d done) ([]world, *Wrong) {
	if s.fails(w.pending) {
		w.loose = append(slices.Clone(w.loose), w.pending)
		w.gone = slices.Concat(w.gone, w.doomed)
		w.doomed, w.pending, w.joined = nil, 0, false
	}
	if w.pending != 0 {
		g := s.runs[w.pending]
		if !g.CompleteIn(d.response) {
			id := "AS-STATE-2"
			if g.Order.Strategy != "" && !d.over {
				id = "AS-ROLLBACK-1"
			}
			shown := messages.Shown(messages.Of(d.response))
			return nil, wrong(id, outcome.Fails(d.response, outcome.Violation{Kind: outcome.NotFinished,
				Summary: "A run does not complete", Expected: fmt.Sprintf("the input and the answer of run %d", w.pending), Actual: shown}))
		}
		w.kept = append(slices.Clone(w.kept), w.pending)
		w.gone = slices.Concat(w.gone, w.doomed)
		w.doomed, w.pending, w.joined = nil, 0, false
	}
	for id, a := range d.retrieved {
		problem := s.retrieved(w, d.Object, id, a)
		if problem != nil {
			return nil, problem
		}
	}
	return []world{w}, s.shows(w, d.Object, d.response)
}

// retrieved judges GET of a run under a thread.
func (s *agentSession) retrieved(w world, at, run int, a *exchange.Response) *Wrong {
	g := s.runs[run]
	switch {
	case g.by.Object != at && s.sharesID(at, g):
	case g.by.Object != at:
		return wantRefusal("AS-RUN-8", a, "")
	case slices.Contains(w.gone, run):
		return wantRefusal("AS-ROLLBACK-2", a, " for a run that was rolled back")
	case run == w.pending || slices.Contains(w.kept, run):
		return want(a.OK() && exchange.SameID(a.Get("run_id").String(), g.ID), "AS-RUN-2", a, "the run "+g.ID)
	}
	return nil
}

// sharesID reports whether a run of the thread has the same id, because ids may be unique only within a thread.
func (s *agentSession) sharesID(at int, g *startedRun) bool {
	for _, own := range s.runs {
		if own.by.Object == at && exchange.SameID(own.ID, g.ID) {
			return true
		}
	}
	return false
}

// judgeJoin returns the worlds that the response to the join of a run allows, or the violation if it allows none.
func (s *agentSession) judgeJoin(w world, d done) ([]world, *Wrong) {
	a, g := d.response, s.runs[d.Number]
	isServed := a != nil && a.OK()
	switch {
	case s.fails(d.Number) && g.by.Object == d.Object: // the interface does not define the response
	case g.by.Object != d.Object && s.sharesID(d.Object, g):
	case g.by.Object != d.Object:
		return []world{w}, wantRefusal("AS-RUN-9", a, " for the join of a run of another thread")
	case slices.Contains(w.kept, d.Number):
		return []world{w}, want(isServed, "AS-RUN-5", a, "2xx to the join of a completed run")
	case d.Number == w.pending && !isServed:
		id := "AS-RUN-4"
		if a != nil && a.Sent.After(g.NotOverBefore()) {
			id = "AS-RUN-5"
		}
		return nil, want(false, id, a, "2xx to the join of a run")
	case d.Number == w.pending:
		took := a.Sent.Add(a.Took).Sub(g.Response.Sent)
		if took < g.Order.Hold*19/20 {
			return nil, wrong("AS-RUN-4", outcome.Fails(a, outcome.Violation{Kind: outcome.TooEarly,
				Summary: "The join of a run returns before the run has ended", Expected: fmt.Sprintf("a response after %s, when the run ends", g.Order.Hold),
				Actual: fmt.Sprintf("a response after %s", took)}))
		}
		w.joined = true
	}
	return []world{w}, nil
}

// shows compares the state of a thread with the messages of its runs. at is the number of the thread. The interface does
// not define the messages while a run is in progress, and not those of earlier runs after a rollback.
func (s *agentSession) shows(w world, at int, a *exchange.Response) *Wrong {
	kept, open := slices.Clone(w.kept), slices.Concat(w.loose, w.doomed)
	switch {
	case w.joined:
		kept = append(kept, w.pending)
	case w.pending != 0:
		open = append(open, w.pending)
	}
	if !a.OK() {
		id := "AS-STATE-1"
		if w.pending != 0 && !w.joined {
			id = "AS-STATE-6"
		}
		return want(len(kept) == 0, id, a, "2xx, with the state of the thread")
	}
	all := messages.Of(a)
	for _, i := range slices.Sorted(maps.Keys(s.runs)) {
		if slices.Contains(kept, i) || slices.Contains(open, i) {
			continue
		}
		found := slices.IndexFunc(all, func(m messages.Message) bool { return strings.Contains(m.Text, s.runs[i].Text()) })
		if found >= 0 {
			return unlike(s.intruder(w, at, i), outcome.ExtraItem, a, fmt.Sprintf("no message of run %d", i), all[found:found+1])
		}
	}
	rest := s.without(all, open)
	if len(kept) == 0 || !s.additive && w.pending != 0 {
		return nil
	}
	id, last := "AS-STATE-3", s.runs[kept[len(kept)-1]]
	switch {
	case agent.Only(rest, s.graphRuns(kept)...):
		return nil
	case w.joined:
		id = "AS-RUN-4"
	case len(kept) == 1 && len(open) == 0 || !last.CompleteIn(a):
		id = "AS-STATE-2"
	case !s.additive: // the messages of earlier runs are not defined
		return nil
	}
	return unlike(id, outcome.MissingItem, a, "only the messages of "+reports.Count(len(kept), "completed run"), rest)
}

// without removes the messages of the given runs: their inputs, messages that contain an input, and messages that they
// wrote. Comparing texts is not enough, because two runs may write the same answer.
func (s *agentSession) without(all []messages.Message, runs []int) (rest []messages.Message) {
	writers := agent.Writers(all, s.graphRuns(slices.Sorted(maps.Keys(s.runs))))
	for at, m := range all {
		isOf := func(i int) bool {
			g := s.runs[i].GraphRun
			return strings.Contains(m.Text, g.Text()) || slices.Contains(g.Inputs, m.Text) || writers[at] == g
		}
		if !slices.ContainsFunc(runs, isOf) {
			rest = append(rest, m)
		}
	}
	return rest
}

// unlike returns the violation by a state whose messages are not the expected ones.
func unlike(
	requirement string, kind outcome.Kind, a *exchange.Response, expected string, shown []messages.Message,
) *Wrong {
	return wrong(requirement, outcome.Fails(a, outcome.Violation{Kind: kind, Pointer: "/values/messages",
		Summary: "The thread state does not have exactly the messages of its runs", Expected: expected, Actual: messages.Shown(shown)}))
}

// intruder returns the requirement that is violated if the state of a thread contains a message of the run, which does
// not belong there.
func (s *agentSession) intruder(w world, at, run int) string {
	by := s.runs[run].by
	switch {
	case slices.Contains(w.gone, run):
		return "AS-ROLLBACK-3"
	case by.Caller == nobody || by.Caller == unknown:
		return "AS-AUTH-4"
	case by.Caller != s.threads[by.Object].owner:
		return "AS-AUTHZ-2"
	case by.Verb == startUnknown:
		return "AS-RUN-6"
	case by.Caller == s.threads[at].owner: // a run of another thread, or one that was refused
		return "AS-STATE-2"
	}
	return "AS-INVARIANT-4"
}

func (s *agentSession) graphRuns(ids []int) (all []*agent.GraphRun) {
	for _, id := range ids {
		all = append(all, s.runs[id].GraphRun)
	}
	return all
}
