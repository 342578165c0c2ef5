package explore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// agentServer explores the half with threads and runs.
type agentServer struct {
	target   *target.Target
	agents   *agent.Agents
	server   *agent.Server
	callers  []target.Caller
	known    func(requirement string) bool
	additive bool            // a second run adds its messages to those of the first
	unsent   map[string]bool // operations that the graph or the server does not support
}

// NewAgentServer returns an explorer of the agent server, or the reason why it cannot be explored. keepsRuns returns an
// error if the server does not complete runs after their joins were dropped.
func NewAgentServer(ctx context.Context, t *target.Target, agents *agent.Agents, known func(requirement string) bool,
	keepsRuns func(context.Context) error) (*Explorer, error) {
	ctx = evidence.WithScenario(ctx, "fixture: exploration", 0)
	h := &agentServer{target: t, agents: agents, known: known, callers: []target.Caller{t.Owner()}, unsent: map[string]bool{}}
	server, err := agents.AgentServer(ctx)
	if err != nil {
		return nil, err
	}
	h.server = server
	if err := server.PlainRunsWork(ctx); err != nil {
		return nil, err
	}
	h.additive, err = server.RunsAdd(ctx)
	if err != nil {
		return nil, err
	}
	for verb, word := range map[string]string{startTool: agent.ToolCall, startFailing: agent.Fail, rollFailing: agent.Fail} {
		h.unsent[verb] = server.Understood(ctx, word) != nil
	}
	h.unsent[dropJoin] = keepsRuns(ctx) != nil
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(t.Config.Users) > 1 {
		for _, name := range []string{target.TheOtherUser, target.NoCredentials, "a caller with an unknown token"} {
			caller, err := t.Caller(name)
			if err != nil {
				return nil, err
			}
			h.callers = append(h.callers, caller)
		}
	}
	return &Explorer{features.AgentServer, agentURI, h.begin}, nil
}

// canSend reports whether the graph and the server support an operation.
func (h *agentServer) canSend(verb string) bool { return !h.unsent[verb] }

// agentSession is one sequence with its threads and runs.
type agentSession struct {
	*agentServer
	threads map[int]*thread
	runs    map[int]*startedRun
}

func (h *agentServer) begin() session {
	return &agentSession{agentServer: h, threads: map[int]*thread{}, runs: map[int]*startedRun{}}
}

// startedRun is a run with the operation that started it. The server may have refused the run.
type startedRun struct {
	*agent.GraphRun
	by Operation
}

// thread is a thread that the sequence has created.
type thread struct {
	*agent.Thread
	owner  int
	worlds []world
}

// applies implements session. A second run without rollback while one is in progress does not apply, because the interface
// does not define it.
func (s *agentSession) applies(o Operation, group []Operation) bool {
	if o.Caller >= len(s.callers) || !s.canSend(o.Verb) {
		return false
	}
	t := s.threads[o.Object]
	run := s.runs[o.Number]
	isConcurrent := has(group, o.Object, vocabulary...)
	idle := t != nil && !slices.ContainsFunc(t.worlds, func(w world) bool { return w.pending != 0 })
	switch o.Verb {
	case list:
		return o.Caller <= second
	case create:
		return t == nil && o.Caller <= second && !isConcurrent
	case await:
		return t != nil && o.Caller == t.owner && !isConcurrent && !idle
	case retrieve, join:
		return t != nil && run != nil && run.ID != ""
	case dropJoin:
		return t != nil && run != nil && run.ID != "" && run.Thread == t.Thread && o.Caller == t.owner
	case start, startWaiting, startTool, startFailing:
		return idle && run == nil && !has(group, o.Object, starts...)
	case rollBack, rollWaiting, rollFailing, startUnknown:
		return t != nil && run == nil && !has(group, o.Object, slices.Concat(plainStarts, []string{await})...)
	}
	return t != nil && o.Verb == readState
}

func (s *agentSession) send(ctx context.Context, d *done) (err error) {
	who := s.callers[d.Caller]
	t := s.threads[d.Object]
	g := s.runs[d.Number]
	switch d.Verb {
	case create:
		made, err := s.server.CreateThread(ctx, who, nil)
		if err != nil {
			return err
		}
		d.created = &thread{Thread: made, owner: d.Caller, worlds: []world{{}}}
		return outcome.AsPrecondition(made.Usable())
	case start, startWaiting, startTool, startFailing, rollBack, rollWaiting, rollFailing, startUnknown:
		d.started, err = s.startRun(ctx, *d, who, t)
		if err != nil {
			return err
		}
		d.response = d.started.Response
	case await:
		return s.awaitEnd(ctx, d, t)
	case retrieve:
		d.response, err = s.server.GetRun(ctx, who, runUnder(t, g))
	case join:
		d.response, err = s.server.Join(ctx, who, runUnder(t, g))
		none, isNone := errors.AsType[*exchange.NoResponse](err)
		if isNone && none.Closed { // allowed for the join of a run that was rolled back
			err = nil
		}
	case dropJoin:
		j := s.server.JoinNow(ctx, g.GraphRun)
		defer j.Leave()
		return j.OrUntil(ctx, time.Now().Add(min(s.agents.Slack(), g.Order.Hold/4)))
	case readState:
		d.response, err = s.server.State(ctx, who, t.Thread)
		if err != nil || d.Caller != t.owner || s.explains(d.Object, d.response) {
			return err
		}
		if err := client.Sleep(ctx, s.target.Config.Patience); err != nil { // a replica may be outdated
			return err
		}
		d.response, err = s.server.State(ctx, who, t.Thread)
	case list:
		_, d.response, err = s.server.List(ctx, who, nil)
	}
	return err
}

// runUnder returns a run under the path of a thread, which may be a different thread than its own.
func runUnder(t *thread, g *startedRun) *agent.GraphRun {
	if g.Thread == t.Thread {
		return g.GraphRun
	}
	return &agent.GraphRun{ID: g.ID, Thread: t.Thread, Order: g.Order}
}

// explains reports whether a history of the thread explains a state.
func (s *agentSession) explains(at int, state *exchange.Response) bool {
	return slices.ContainsFunc(s.threads[at].worlds, func(w world) bool { return s.shows(w, at, state) == nil })
}

// startRun starts a run. If the server must refuse the run, it does not wait for a slot.
func (s *agentSession) startRun(ctx context.Context, d done, who target.Caller, t *thread) (*agent.GraphRun, error) {
	order := agent.Order{Waits: d.Verb == startWaiting || d.Verb == rollWaiting}
	if slices.Contains(rollbacks, d.Verb) {
		order.Strategy = agent.RollbackStrategy
	}
	switch {
	case slices.Contains(failing, d.Verb):
		order.Words = agent.Fail
	case d.Verb == startTool:
		order.Words = agent.ToolCall
	}
	if d.Verb == startUnknown {
		order.Assistant = "agentconform-" + target.UnknownID()
	}
	if d.Verb == startUnknown || d.Caller != t.owner {
		return s.server.TryPost(ctx, who, t.Thread, order)
	}
	return s.server.Post(ctx, t.Thread, order)
}

// awaitEnd reads the state, and each run that may be in progress, until a history explains the responses. It stops some
// time after the responses to the joins of these runs, or at the limit.
func (s *agentSession) awaitEnd(ctx context.Context, d *done, t *thread) error {
	may := t.inProgress()
	limit := time.Now().Add(s.agents.RunTimeout())
	var joins []*agent.Joining
	for _, id := range may {
		limit = limit.Add(s.runs[id].Order.Hold)
		if slices.ContainsFunc(t.worlds, func(w world) bool { return w.pending == id }) {
			j := s.server.JoinNow(ctx, s.runs[id].GraphRun)
			defer j.Leave()
			joins = append(joins, j)
		}
	}
	isRecent := func(j *agent.Joining) bool { return !j.Over() || time.Since(j.Ended) < s.agents.Patience() }
	var last *agent.GraphRun
	var failed error
	_, _, err := s.server.ReadState(ctx, t.Thread, limit, func(a *exchange.Response) bool {
		d.response = a
		d.retrieved = map[int]*exchange.Response{}
		hasReturned := !slices.ContainsFunc(joins, func(j *agent.Joining) bool { return !j.Over() })
		isComplete := func(w world) bool {
			return w.pending == 0 || s.runs[w.pending].CompleteIn(a) || s.fails(w.pending) && hasReturned
		}
		if slices.ContainsFunc(t.worlds, isComplete) {
			for _, id := range may {
				d.retrieved[id], failed = s.server.GetRun(ctx, s.callers[t.owner], s.runs[id].GraphRun)
				if failed != nil {
					return true
				}
			}
			last = s.ending(t, *d)
		}
		d.over = !slices.ContainsFunc(joins, isRecent)
		return last != nil || d.over
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	if last != nil {
		_, err := s.server.Await(ctx, last)
		return err
	}
	check := s.server.StillQueued
	if s.agents.HasUnended() { // a scenario has found that runs do not end, so the limit was short
		check = s.server.RequireEnded
	}
	for _, id := range may {
		if err := check(ctx, s.runs[id].GraphRun); err != nil {
			return err
		}
	}
	return nil
}

// inProgress returns the runs that may be in progress, or may be about to be removed.
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

// ending returns the last run of a history that explains the responses, or nil if there is none.
func (s *agentSession) ending(t *thread, d done) *agent.GraphRun {
	for _, w := range t.worlds {
		_, problem := s.ended(w, d)
		if problem == nil && w.pending != 0 {
			return s.runs[w.pending].GraphRun
		}
	}
	return nil
}

// startedBy has the requirements that are violated by a run without run_id.
var startedBy = []string{"AS-RUN-1", "AS-ROLLBACK-1", "AS-ROLLBACK-6"}

// explain implements session. It tries the operations of each thread in each order, and keeps the histories that explain
// the responses.
func (s *agentSession) explain(_ context.Context, group []done) (*Wrong, error) {
	for _, d := range group {
		if d.started != nil && d.started.ID == "" && d.started.Response.OK() && slices.ContainsFunc(startedBy, s.known) {
			return nil, outcome.Blocked("a run without run_id was started, which later responses may show").ByRequirement(startedBy...)
		}
		if d.started != nil {
			s.runs[d.Number] = &startedRun{d.started, d.Operation}
		}
		if d.created != nil {
			s.threads[d.Object] = d.created
		}
	}
	for _, at := range slices.Sorted(maps.Keys(s.threads)) {
		t := s.threads[at]
		possible, problem := explained(t.worlds, operationsAt(at, group), s.after, s.known)
		if problem != nil {
			return problem, nil
		}
		t.worlds = possible
	}
	return nil, nil
}
