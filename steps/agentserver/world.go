// Package agentserver has the definitions of the sentences about the agent server (sections 2 to 5 and 7 of the
// interface): one file per subject, with the patterns at its top. Package agent sends the requests, and package judge
// judges the responses.
package agentserver

import (
	"context"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is the state of one scenario about the agent server.
type World struct {
	scene  *common.Scene
	target *target.Target
	plane  *plane.Plane
	agents *agent.Agents
	server *agent.Server

	thread          *agent.Thread        // "the thread"
	namesOtherOwner bool                 // the creation of the thread named another user as its owner
	threads         []*agent.Thread      // all other threads of the scenario
	current         *agent.GraphRun      // "the run"; the new run if there is a prior one
	kept            []*agent.GraphRun    // the runs whose messages the thread must keep, in their order
	failed          *agent.GraphRun      // a run on the thread whose graph has raised an error
	states          []*exchange.Response // that were read during a run
	joined          *agent.Joining       // the last join that was sent at the same time as other requests
	joinAgain       func() error         // starts and joins a run on a new thread, as the scenario did

	sameIdentity bool          // "the other user" has the identity of "the user", in another team
	rows         agent.Listing // the last list of threads; nil if the server returned no list
	mark         string        // a value in the metadata of the scenario's threads
	isNested     bool          // the mark is in an object
	othersThread *agent.Thread // the thread of the other user, if each user has one
	filter       string        // of the list, as the sentence names it

	// The run in progress, which another run must replace before it ends.
	prior     *agent.Progress                   // the run in progress, which most scenarios roll back
	prepared  []func(ctx context.Context) error // preconditions that must be prepared again after a lost race
	wanted    time.Duration                     // how long the run in progress must take, after a lost race
	rolled    *agent.Rollback                   // the prior run and the new one, after the rollback
	remains   []*agent.Remains                  // reads of the prior run and of the state
	started   []*agent.GraphRun                 // runs with rollback, started one after the other or at once
	retrieved []*agent.GraphRun                 // those of them that can still be retrieved
	aside     []*agent.GraphRun                 // runs on other threads: a completed one, and one in progress

	// A request of a caller who may be refused.
	attempted string            // the caller, as the sentence names them
	operation string            // the operation, as the sentence names it
	foreign   string            // the text of a run that must be refused
	joins     *agent.GraphRun   // the run as it was joined
	reported  []*agent.GraphRun // runs that report their callers
	disguised []judge.Disguised
	seen      []*exchange.Response // responses to the other user, who sent the id of the thread
	extension extension
}

// byFeature has the groups of definitions that each feature file needs, in addition to those about the agent server.
var byFeature = map[string][]func(*World, *common.Definitions){
	"agent_server/authentication.feature": {(*World).defineCallers, (*World).defineOwners, (*World).defineRuns,
		(*World).defineStates, (*World).defineThreads},
	"agent_server/authorization.feature": {(*World).defineCallers, (*World).defineExtensions, (*World).defineForeignThreads,
		(*World).defineOwners, (*World).defineRuns, (*World).defineStates, (*World).defineThreads},
	"agent_server/contract.feature":   {},
	"agent_server/errors.feature":     {(*World).defineContentTypes, (*World).defineThreads},
	"agent_server/invariants.feature": {},
	"agent_server/rollback.feature":   {(*World).defineRollback, (*World).defineRuns, (*World).defineStates},
	"agent_server/runs.feature": {(*World).defineRuns, (*World).defineJoins, (*World).defineCallers,
		(*World).defineOwners, (*World).defineStates, (*World).defineThreads},
	"agent_server/state.feature":   {(*World).defineStates, (*World).defineRuns},
	"agent_server/threads.feature": {(*World).defineThreads},
}

// Define registers the definitions about the agent server that a feature file needs, for one scenario.
func Define(
	r *common.Definitions, uri string, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents,
) {
	groups, is := byFeature[uri]
	if !is {
		return
	}
	w := &World{scene: scene, target: t, plane: p, agents: agents}
	r.Given(`a deployed agent server`, w.findAgentServer)
	r.Given(`the user is the (first|second) configured user`, w.chooseUser)
	r.Given(`the user is the (first|third) configured user, and the other user has the same identity`, w.chooseSameIdentity)
	r.Given(`the agent server of a deployment that was updated`, w.findUpdatedAgentServer)
	for _, define := range groups {
		define(w, r)
	}
}

func (w *World) findAgentServer(ctx context.Context) (err error) {
	if !w.scene.Stopped {
		w.server, err = w.agents.AgentServer(ctx)
	}
	return err
}

// chooseUser makes the first or the second configured user "the user" of the later sentences, and the remaining one
// "the other user". So the protection of a user from another is judged in both directions.
func (w *World) chooseUser(ctx context.Context, order string) error {
	if order == "first" {
		return nil
	}
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	w.server = w.server.OwnedBy(other)
	return nil
}

// chooseSameIdentity makes the third user "the other user": their identity is that of the first, and their team is not.
func (w *World) chooseSameIdentity(ctx context.Context, order string) error {
	w.sameIdentity = true
	return w.chooseUser(ctx, order)
}

func (w *World) owner() target.Caller { return w.server.Owner() }

// callerNamed returns the caller that a step names. The first configured user always comes first, so that a
// target that keeps its first caller shows it to the others.
func (w *World) callerNamed(ctx context.Context, name string) (target.Caller, error) {
	switch {
	case name == target.TheUser:
		return w.owner(), nil
	case name == target.TheOtherUser && w.owner().Key != w.target.Owner().Key: // the users are exchanged
		return w.target.Owner(), nil
	}
	isOther := name == target.TheOtherUser
	if isOther && w.sameIdentity {
		name = target.SameIdentityUser
	}
	who, err := w.target.Caller(name)
	if err != nil {
		return who, outcome.AsPrecondition(err)
	}
	if isOther {
		_, _ = w.server.SharedCompletedRun(ctx) // other scenarios judge its error
		if err := w.server.OtherIsLetIn(ctx, who); err != nil {
			return who, outcome.AsPrecondition(err)
		}
	}
	return who, nil
}

// findUpdatedAgentServer continues at the agent server of the shared deployment that was updated, once its last
// revision is DEPLOYED.
func (w *World) findUpdatedAgentServer(ctx context.Context) error {
	d, err := w.plane.Shared(ctx, w.plane.Fixtures.Updated)
	if err != nil {
		return err
	}
	h, err := w.plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	if err != nil {
		return err
	}
	if err := w.plane.CheckUsable(h); err != nil {
		return err
	}
	w.server, err = w.agents.AgentOf(ctx, d)
	return err
}

// isServed judges that the server does not refuse the user. The requirement about the operation judges all other
// errors.
func (w *World) isServed(context.Context) error {
	rejects := func(status int) bool { return w.target.Rejects(spec.AgentServer, status) }
	return judge.IsServed(w.scene.Response, w.attempted == target.TheUser, rejects)
}

func (w *World) setRun(g *agent.GraphRun) { w.current, w.thread = g, g.Thread }

// startInProgress starts a run that stays in progress. It blocks if the scenario compares messages and plain runs do
// not work.
func (w *World) startInProgress(ctx context.Context, which string) error {
	moment := agent.JustStarted
	if which == " that has started" {
		moment = agent.HasStarted
	}
	if which != "" {
		if err := w.server.PlainRunsWork(ctx); err != nil {
			return err
		}
	}
	return w.prepare(ctx, func(ctx context.Context) error {
		p, err := w.server.InProgress(ctx, moment, w.wanted)
		if err != nil {
			return err
		}
		w.prior = p
		w.setRun(p.GraphRun)
		return nil
	})
}

// prepare establishes a precondition that a lost race invalidates. A step that loses its race repeats it with more
// time.
func (w *World) prepare(ctx context.Context, f func(ctx context.Context) error) error {
	w.prepared = append(w.prepared, f)
	return f(ctx)
}

// prepareAgain establishes all these preconditions again.
func (w *World) prepareAgain(ctx context.Context) error {
	for _, f := range w.prepared {
		if err := f(ctx); err != nil {
			return outcome.AsPrecondition(err)
		}
	}
	return nil
}

// race calls act until it reports that the race is won, at most [agent.Attempts] times. After a loss the run in
// progress takes longer. It reports whether the race was won.
func (w *World) race(ctx context.Context, act func(ctx context.Context) (won bool, err error)) (won bool, err error) {
	for attempt := range agent.Attempts {
		if attempt > 0 && w.prior != nil {
			w.wanted = w.prior.AfterLoss()
			if err := w.prepareAgain(ctx); err != nil {
				return false, err
			}
		}
		won, err := act(ctx)
		if won || err != nil {
			return won, err
		}
	}
	return false, nil
}

// win is [World.race], and returns an inconclusive outcome if no attempt won. lost is the reason why an attempt is lost.
func (w *World) win(ctx context.Context, lost string, act func(ctx context.Context) (won bool, err error)) error {
	won, err := w.race(ctx, act)
	if err != nil {
		return err
	}
	if !won {
		return outcome.Inconclusive("%s, in %d attempts; increase agent.hold", lost, agent.Attempts)
	}
	return nil
}

// nextRun runs the graph once more on the thread, as the user. A run in progress there may end first.
func (w *World) nextRun(ctx context.Context, o agent.Order) error {
	if n := len(w.kept); n > 0 && !w.kept[n-1].Complete() {
		if _, err := w.server.Await(ctx, w.kept[n-1]); err != nil {
			return err
		}
	}
	g, err := w.server.Start(ctx, w.thread, o)
	if err != nil {
		return err
	}
	w.current = g
	w.kept = append(w.kept, g)
	state, err := w.server.Await(ctx, g)
	if err != nil {
		return err
	}
	w.scene.Response = state
	return nil
}

// userReadsState reads the state.
func (w *World) userReadsState(ctx context.Context) error {
	var runs []*agent.GraphRun
	if w.current != nil && w.current.Complete() {
		runs = append(runs, w.current)
	}
	state, err := w.server.ReadCompleted(ctx, w.thread, runs...)
	if err != nil {
		return err
	}
	w.scene.Response = state
	return nil
}

func (w *World) onNewThread(ctx context.Context) error {
	t, err := w.server.NewThread(ctx, w.owner())
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.thread = t
	return nil
}

// createThread creates a thread of the user. A later sentence judges the response.
func (w *World) createThread(ctx context.Context, metadata map[string]any) error {
	t, err := w.server.CreateThread(ctx, w.owner(), metadata)
	if err != nil {
		return err
	}
	w.thread, w.scene.Response = t, t.Response
	w.threads = append(w.threads, t)
	return nil
}

// hasID judges that the creation returned an id. If the configuration may be the cause, the failure names the key.
func (w *World) hasID(field string) error {
	a, hint := w.scene.Response, ""
	switch {
	case w.target.Rejects(spec.AgentServer, a.Status):
		hint = "check the users in the configuration: the server may not know them"
	case a.IsRefused() && field == "run_id":
		hint = "set assistant_id to the name of the conformance graph"
	}
	return judge.HoldsID(a, field, hint)
}

// rejectedHint returns the key of the configuration that may be wrong if a request without valid credentials does not
// return the status of the handler: the handler may use another status, or the target may lack the operation.
func (w *World) rejectedHint(a *exchange.Response) string {
	missing := target.NotServed(a)
	switch {
	case missing && a.Request.Method == http.MethodGet && a.Request.Path == agent.ThreadsPath:
		return "set agent.listing to search if the target lists its threads with POST /threads/search"
	case missing || !a.IsRefused():
		return ""
	}
	return "correct agent.rejected_status if the handler chooses this status" // without this key any 4xx passes
}
