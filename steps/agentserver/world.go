// Package agentserver holds what the sentences about the agent server mean (sections 2 to 5 and 7 of the interface):
// one file a subject, with the patterns at its top. It judges; speaking with agent servers is for package agent.
package agentserver

import (
	"context"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about the agent server know in one scenario.
type World struct {
	scene  *common.Scene
	target *target.Target
	plane  *plane.Plane
	agents *agent.Agents
	server *agent.Server

	thread *agent.Thread // that the sentences speak of
	// namesOtherOwner: its creation named another user as owner
	namesOtherOwner bool
	threads         []*agent.Thread   // that the scenario has made besides
	current         *agent.GraphRun   // the run that the sentences speak of; the new one, where there is a prior one
	kept            []*agent.GraphRun // whose messages are to be in the thread, in their order
	joined          *agent.Joining    // a join beside the scenario
	joinAgain       func() error      // starts and joins a run on a new thread, as the scenario did

	rows         agent.Listing // the last list of threads, nil where the answer of the scene is none
	mark         string        // in the metadata of threads, by which the scenario knows them
	othersThread *agent.Thread // of the other user, where there is one of each
	filter       string        // of the list, as the sentence names it

	// A run in progress that another one is to replace in time, and what became of it.
	prior    *agent.Progress             // the run that is to be rolled back, or is just in progress
	prepared []func(ctx context.Context) // preconditions that a lost race uses up
	wanted   time.Duration               // how long the run in progress should take, after a lost race
	rolled   *agent.Rollback             // what became of the prior run and the new one
	remains  []*agent.Remains            // what was found of the prior run, and in the state
	started  []*agent.GraphRun           // with rollback, one after the other or at once
	left     []*agent.GraphRun           // those of them that are still found
	aside    []*agent.GraphRun           // runs on other threads: a completed one, and one in progress

	// A request of a caller who may be refused.
	attempted string            // who, as the sentence names them
	operation string            // what they tried, as the sentence names it
	foreign   string            // what a run was to say that was to be refused
	joins     *agent.GraphRun   // as it was joined
	reported  []*agent.GraphRun // that say who their callers are
	disguised []disguised
	extension extension
}

// Define registers the sentences about the agent server for one scenario.
func Define(r *common.Definitions, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents) {
	w := &World{scene: scene, target: t, plane: p, agents: agents}
	r.Given(`a deployed agent server`, w.aDeployedAgentServer)
	r.Given(`the user is the (first|second) configured user`, w.theUserIs)
	r.Given(`the agent server of a deployment that was updated`, w.anUpdatedAgentServer)
	w.defineThreads(r)
	w.defineRuns(r)
	w.defineJoins(r)
	w.defineStates(r)
	w.defineRollback(r)
	w.defineCallers(r)
	w.defineOwners(r)
	w.defineExtensions(r)
}

func (w *World) aDeployedAgentServer(ctx context.Context) (err error) {
	if !w.scene.Stopped {
		w.server, err = w.agents.AgentServer(ctx)
	}
	return err
}

// theUserIs has the sentences after it speak of the first or the second configured user as "the user", and of the
// remaining one as "the other user". By it, what protects a user from another is judged in both directions.
func (w *World) theUserIs(ctx context.Context, order string) {
	if order == "second" {
		w.server = w.server.OwnedBy(w.callerNamed(ctx, target.TheOtherUser))
	}
}

func (w *World) owner() target.Caller { return w.server.Owner() }

// callerNamed returns the caller that a sentence names. The first configured user always comes first, so that what a
// target keeps of its first caller shows with the others.
func (w *World) callerNamed(ctx context.Context, name string) target.Caller {
	switch {
	case name == target.TheUser:
		return w.owner()
	case name == target.TheOtherUser && w.owner().Key != w.target.Owner().Key: // the users are exchanged
		return w.target.Owner()
	}
	who := common.Given(w.target.Caller(name))
	if name == target.TheOtherUser {
		_, _ = w.server.SharedCompletedRun(ctx) // what is wrong with it is judged elsewhere
		common.Requires(w.server.OtherIsLetIn(ctx, who))
	}
	return who
}

// anUpdatedAgentServer goes on at the agent server of the shared deployment that was updated, once the last revision
// of that is DEPLOYED.
func (w *World) anUpdatedAgentServer(ctx context.Context) {
	d := common.Must(w.plane.Shared(ctx, w.plane.Fixtures.Updated))
	h := common.Must(w.plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone))
	common.Check(w.plane.Settled(h))
	w.server = common.Must(w.agents.AgentOf(ctx, d))
}

// isServed wants the request that was tried to be served. That a user is refused is judged here; any other trouble with
// a request that was let in belongs to the requirement about the operation.
func (w *World) isServed(context.Context) error {
	a := w.scene.Answer
	if !a.OK() && w.attempted == target.TheUser && !w.target.Rejects(spec.AgentServer, a.Status) {
		return outcome.Blocked("the request fails for another reason than its credentials: %s", outcome.Seen(a))
	}
	return outcome.Want(a.OK(), a, "status 2xx")
}

// validIsServed blocks where an answer to the user refuses the credentials: that is one requirement's concern,
// whatever was asked for.
func validIsServed(a *exchange.Response) error {
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return outcome.Blocked("valid credentials are refused (AS-AUTH-5): %s", outcome.Seen(a)).ByRequirement("AS-AUTH-5")
	}
	return nil
}

func (w *World) speakOf(g *agent.GraphRun) { w.current, w.thread = g, g.Thread }

// aRunInProgress needs plain runs that work where messages are going to be compared, or its first one is waited for.
func (w *World) aRunInProgress(ctx context.Context, which string) {
	moment := agent.JustStarted
	if which == " that has started" {
		moment = agent.HasStarted
	}
	if which != "" {
		common.Check(w.server.PlainRunsWork(ctx))
	}
	w.prepare(ctx, func(ctx context.Context) {
		w.prior = common.Must(w.server.InProgress(ctx, moment, w.wanted))
		w.speakOf(w.prior.GraphRun)
	})
}

// prepare brings a precondition about that a race may use up. A sentence that loses its race has it brought about
// again, with more time.
func (w *World) prepare(ctx context.Context, f func(ctx context.Context)) {
	w.prepared = append(w.prepared, f)
	f(ctx)
}

// race acts until the race is won, at most a few times, and tells whether it was. After a loss the run in progress
// takes longer.
func (w *World) race(ctx context.Context, act func(ctx context.Context) (won bool)) bool {
	for attempt := range agent.Attempts {
		if attempt > 0 && w.prior != nil {
			w.wanted = w.prior.AfterLoss()
			for _, f := range w.prepared {
				common.Needs(func() { f(ctx) })
			}
		}
		if act(ctx) {
			return true
		}
	}
	return false
}

// nextRun has the user run the graph once more on the thread. A run in progress there may end first.
func (w *World) nextRun(ctx context.Context, o agent.Order) {
	if n := len(w.kept); n > 0 && !w.kept[n-1].Complete() {
		common.Must(w.server.Await(ctx, w.kept[n-1]))
	}
	w.current = common.Must(w.server.Start(ctx, w.thread, o))
	w.kept = append(w.kept, w.current)
	w.scene.Answer = common.Must(w.server.Await(ctx, w.current))
}

// userReadsState reads the state.
func (w *World) userReadsState(ctx context.Context) {
	w.scene.Answer = common.Must(w.server.State(ctx, w.owner(), w.thread))
}

func (w *World) onNewThread(ctx context.Context) {
	w.thread = common.Given(w.server.NewThread(ctx, w.owner()))
}

// createThread creates a thread by the user. Whether that has worked is for a later sentence to judge.
func (w *World) createThread(ctx context.Context, metadata map[string]any) {
	t := common.Must(w.server.CreateThread(ctx, w.owner(), metadata))
	w.thread, w.scene.Answer = t, t.Answer
	w.threads = append(w.threads, t)
}

// answerHoldsID wants a non-empty id; its JSON type is judged by the contract.
func (w *World) answerHoldsID(field string) error {
	a, hint := w.scene.Answer, ""
	switch {
	case w.target.Rejects(spec.AgentServer, a.Status):
		hint = "set users to users that the target knows"
	case a.IsRefused() && field == "run_id":
		hint = "set assistant_id to the name of the conformance graph"
	}
	if !a.OK() || a.Get(field).String() == "" {
		return outcome.Violated(a, "status 2xx with a "+field, "%s", outcome.Seen(a)).At("/" + field).Hinting(hint)
	}
	return nil
}

// rejectedHint names the configuration that may be why a request without valid credentials is answered with another
// status than that of the handler: one that a handler can choose, or that of an operation which the target does not
// have.
func (w *World) rejectedHint(a *exchange.Response) string {
	missing := target.NotServed(a)
	switch {
	case missing && a.Request.Method == http.MethodGet && a.Request.Path == agent.ThreadsPath:
		return "set agent.listing to search if the target lists its threads with POST /threads/search"
	case missing || !a.IsRefused():
		return ""
	}
	return "set agent.rejected_status if the handler chooses another status"
}

// What may be wrong with a graph that understood what it was asked, and with what the configuration says of a user.
const (
	graphHint  = "correct the graph that assistant_id names (reference/graphs/CONTRACT.md)"
	reportHint = "set identity and fields of the user to what the handler returns, or " + graphHint
	callerHint = "give each run the user of its own request in graph_auth_user, or " + graphHint
)
