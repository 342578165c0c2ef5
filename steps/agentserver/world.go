// Package agentserver has the definitions of the steps about the agent server (sections 2 to 5 and 7 of the
// interface): one file per subject, with the patterns at its top. Package agent sends the requests, and package judge
// judges the responses.
package agentserver

import (
	"context"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is the state that all steps of a scenario share. Each group of definitions embeds it in a struct with the state
// that only its own steps use.
type World struct {
	scene        *common.Scene
	target       *target.Target
	agents       *agent.Agents
	server       *agent.Server
	sameIdentity bool // "the other user" has the identity of "the user", in another team

	thread      *agent.Thread     // "the thread"
	current     *agent.GraphRun   // "the run"; after a rollback, the new run
	kept        []*agent.GraphRun // the runs whose messages the thread must keep, in their order
	refusedText string            // the text of a run that must be refused
	inProgress
}

// inProgress is the run in progress that a step must act on before it ends. If the step comes too late, the run is
// started again with a longer hold.
type inProgress struct {
	prior    *agent.Progress                   // the run in progress, or nil
	prepared []func(ctx context.Context) error // preconditions that must be prepared again after a lost race
	wanted   time.Duration                     // hold of the run after a lost race
}

// Define registers the definitions about the agent server that a feature file needs, for one scenario. Groups of
// definitions that use the last list of threads share it.
func Define(
	r *common.Definitions, uri string, scene *common.Scene, t *target.Target, p *plane.Plane, agents *agent.Agents,
) {
	if !strings.HasPrefix(uri, "agent_server/") {
		return
	}
	w := &World{scene: scene, target: t, agents: agents}
	r.Given(`a deployed agent server`, w.findAgentServer)
	r.Given(`the user is the (first|second) configured user`, w.chooseUser)
	r.Given(`the user is the (first|third) configured user, and the other user has the same identity`, w.chooseSameIdentity)
	r.Given(`the agent server of a deployment that was updated`, func(ctx context.Context) error {
		return w.findUpdatedAgentServer(ctx, p)
	})
	list := &threadList{World: w}
	switch uri {
	case "agent_server/authentication.feature":
		(&callers{World: w}).define(r)
		(&callerReports{World: w}).define(r)
		(&disguises{World: w}).define(r)
		(&owners{threadList: list}).define(r)
		(&runs{World: w}).define(r)
		(&states{World: w}).define(r)
		(&threads{threadList: list}).define(r)
	case "agent_server/authorization.feature":
		(&callers{World: w}).define(r)
		(&disguises{World: w}).define(r)
		(&extensions{World: w}).define(r)
		(&foreignThreads{World: w}).define(r)
		(&owners{threadList: list}).define(r)
		(&runs{World: w}).define(r)
		(&states{World: w}).define(r)
		(&threads{threadList: list}).define(r)
	case "agent_server/errors.feature":
		w.defineContentTypes(r)
		(&threads{threadList: list}).define(r)
	case "agent_server/rollback.feature":
		(&rollback{World: w}).define(r)
		(&rollbacks{World: w}).define(r)
		(&runs{World: w}).define(r)
		(&states{World: w}).define(r)
	case "agent_server/runs.feature":
		(&callers{World: w}).define(r)
		(&joins{World: w}).define(r)
		(&runs{World: w}).define(r)
		(&states{World: w}).define(r)
		(&threads{threadList: list}).define(r)
	case "agent_server/state.feature":
		(&runs{World: w}).define(r)
		(&states{World: w}).define(r)
	case "agent_server/threads.feature":
		(&threads{threadList: list}).define(r)
	}
}

func (w *World) findAgentServer(ctx context.Context) (err error) {
	if !w.scene.Stopped {
		w.server, err = w.agents.AgentServer(ctx)
	}
	return err
}

// chooseUser makes the first or the second configured user "the user" of the later steps, and the remaining one "the
// other user". So each user is tested for protection from the other.
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

// chooseSameIdentity makes the third user "the other user". This user has the identity of the first user and a different
// team.
func (w *World) chooseSameIdentity(ctx context.Context, order string) error {
	w.sameIdentity = true
	return w.chooseUser(ctx, order)
}

func (w *World) owner() target.Caller { return w.server.Owner() }

// callerNamed returns the caller that a step names. It first lets the first configured user send a request, so that a
// target that remembers its first caller confuses the others with that user.
func (w *World) callerNamed(ctx context.Context, name string) (target.Caller, error) {
	switch {
	case name == target.TheUser:
		return w.owner(), nil
	case name == target.TheOtherUser && w.owner().Key != w.target.Owner().Key: // "the user" and "the other user" are exchanged
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

// findUpdatedAgentServer switches to the agent server of the shared deployment that was updated, after its last revision
// is DEPLOYED.
func (w *World) findUpdatedAgentServer(ctx context.Context, p *plane.Plane) error {
	d, err := p.Shared(ctx, p.Fixtures.Updated)
	if err != nil {
		return err
	}
	h, err := p.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	if err != nil {
		return err
	}
	if err := p.CheckUsable(h); err != nil {
		return err
	}
	w.server, err = w.agents.AgentOf(ctx, d)
	return err
}

func (w *World) setRun(g *agent.GraphRun) { w.current, w.thread = g, g.Thread }

// prepare establishes a precondition that must be repeated after a lost race. The step that loses the race repeats it
// with more time.
func (w *inProgress) prepare(ctx context.Context, f func(ctx context.Context) error) error {
	w.prepared = append(w.prepared, f)
	return f(ctx)
}

// prepareAgain establishes all these preconditions again.
func (w *inProgress) prepareAgain(ctx context.Context) error {
	for _, f := range w.prepared {
		if err := f(ctx); err != nil {
			return outcome.AsPrecondition(err)
		}
	}
	return nil
}

// race calls act until it reports that the race is won, at most [agent.Attempts] times. After a loss the run in
// progress takes longer. It reports whether the race was won.
func (w *inProgress) race(ctx context.Context, act func(ctx context.Context) (won bool, err error)) (won bool, err error) {
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

// win is [inProgress.race], but returns an inconclusive outcome if no attempt won. lost is the reason for it.
func (w *inProgress) win(ctx context.Context, lost string, act func(ctx context.Context) (won bool, err error)) error {
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

// threadWith creates a thread with metadata. If there is none, or if the target refuses it, the thread has no metadata.
func (w *World) threadWith(ctx context.Context, who target.Caller, metadata map[string]any) (*agent.Thread, error) {
	if metadata != nil {
		t, err := w.server.CreateThread(ctx, who, metadata)
		if err != nil {
			return nil, err
		}
		if t.ID != "" {
			return t, t.Usable()
		}
	}
	return w.server.NewThread(ctx, who)
}

// createThread creates a thread of the user. A later step judges the response.
func (w *World) createThread(ctx context.Context, metadata map[string]any) error {
	t, err := w.server.CreateThread(ctx, w.owner(), metadata)
	if err != nil {
		return err
	}
	w.thread, w.scene.Response = t, t.Response
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
