// Package endtoend holds what the sentences about a deployment together with its agent server mean (section 1 of the
// interface).
package endtoend

import (
	"context"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about a deployment together with its agent server know in one scenario. The deployment is
// the one that the sentences about the control plane speak of.
type World struct {
	target       *target.Target
	plane        *plane.Plane
	agents       *agent.Agents
	controlPlane *controlplane.World

	runs []*agent.GraphRun // of the agent server, first to last, each awaited
}

// Define registers the sentences about a deployment and its agent server together for one scenario (section 1).
func Define(r *common.Definitions, t *target.Target, p *plane.Plane, agents *agent.Agents, c *controlplane.World) {
	w := &World{target: t, plane: p, agents: agents, controlPlane: c}
	r.Given(`the deployment was updated to the second source and is DEPLOYED again`, w.wasUpdated)
	r.When(`the user calls its agent server`, w.userCallsDeployment)
	r.When(`the user calls its agent server again`, w.userCallsUntilNew)
	r.Then(`the agent server answers`, w.agentAnswers)
	r.Then(`the answer comes from the new revision`, w.answerIsNew)
}

// callDeployment runs the graph of the deployment's agent server with the same input each time.
func (w *World) callDeployment(ctx context.Context) {
	server := common.Must(w.agents.AgentOf(ctx, w.controlPlane.Deployment))
	t := common.Must(server.CreateThread(ctx, w.target.Owner(), nil))
	common.Check(outcome.Want(t.ID != "", t.Answer, "a thread with a thread_id"))
	text := "agentconform " + w.target.RunID + " asks the deployment."
	g := common.Must(server.Start(ctx, t, agent.Order{Text: text}))
	common.Must(server.Await(ctx, g))
	w.runs = append(w.runs, g)
}

func (w *World) last() *agent.GraphRun { return w.runs[len(w.runs)-1] }

// userCallsDeployment calls twice: only where the same revision gives the same answer, a different answer shows another
// revision.
func (w *World) userCallsDeployment(ctx context.Context) error {
	w.callDeployment(ctx)
	w.callDeployment(ctx)
	if first, second := w.runs[0].Said(), w.last().Said(); first != second {
		return outcome.Inconclusive("the graph gives different answers to the same input (%.60q, %.60q), so the answer "+
			"does not identify the revision", first, second)
	}
	return nil
}

func (w *World) agentAnswers() error { return agent.HoldsAnswered(w.last().Final, w.last()) }

func (w *World) wasUpdated(ctx context.Context) error {
	change, _ := w.plane.Sources.Another()
	d := w.controlPlane.Deployment
	common.Check(w.plane.Update(ctx, d, change))
	return w.plane.Settled(common.Must(w.plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)))
}

// userCallsUntilNew gives the target as long as one answer may take: a proxy may still route
// requests to the earlier revision.
func (w *World) userCallsUntilNew(ctx context.Context) {
	common.Retry(ctx, w.target, func() bool {
		w.callDeployment(ctx)
		return w.agentAnswers() == nil && !w.saysTheSame()
	})
}

func (w *World) saysTheSame() bool { return w.last().Said() == w.runs[0].Said() }

// answerIsNew returns an error if the last answer equals that of the first revision. It blocks if the graph ignores its
// input, because such an answer does not identify the revision.
func (w *World) answerIsNew() error {
	if err := w.agentAnswers(); err != nil {
		return err
	}
	if !w.saysTheSame() {
		return nil
	}
	if err := w.agents.CheckGraph(w.runs[:2]...); err != nil {
		return err
	}
	return outcome.Violated(w.last().Final, "an answer that differs from that of the first revision",
		"the same answer, %q", w.last().Said()).At("/values/messages").
		Hinting("set alternatives to a second source whose graph answers differently")
}
