// Package endtoend has the definitions of the steps about a deployment together with its agent server (section 1 of
// the interface).
package endtoend

import (
	"context"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is the state of one scenario about a deployment together with its agent server. The deployment is that of the
// steps about the control plane.
type World struct {
	target       *target.Target
	plane        *plane.Plane
	agents       *agent.Agents
	controlPlane *controlplane.World

	runs []*agent.GraphRun // in their order; each has ended
	key  string            // of the source of the last update
}

// Define registers the steps about a deployment and its agent server together for one scenario (section 1).
func Define(r *common.Definitions, t *target.Target, p *plane.Plane, agents *agent.Agents, c *controlplane.World) {
	w := &World{target: t, plane: p, agents: agents, controlPlane: c}
	r.Given(`the deployment was updated to the second source and is DEPLOYED again`, w.wasUpdatedToSecond)
	r.Given(`the deployment was updated to the second graph_config_path and is DEPLOYED again`, w.wasUpdatedToSecondPath)
	r.Given(`the deployment was updated three times in a row, last to the second source, and all revisions have settled`,
		w.wasUpdatedInARow)
	r.When(`the user calls its agent server`, w.userCallsDeployment)
	r.When(`the user calls its agent server again`, w.userCallsUntilNew)
	r.Then(`the agent server replies with an ai message`, w.agentReplies)
	r.Then(`the ai message comes from the new revision`, w.messageIsNew)
	r.Then(`five further threads are served by the new revision`, w.furtherMessagesAreNew)
}

// callDeployment runs the graph of the deployment's agent server with the same input each time.
func (w *World) callDeployment(ctx context.Context) error {
	server, err := w.agents.AgentOf(ctx, w.controlPlane.Deployment)
	if err != nil {
		return err
	}
	t, err := server.CreateThread(ctx, w.target.Owner(), nil)
	if err != nil {
		return err
	}
	if err := judge.ThreadIsNew(t.Response, t.ID, false); err != nil {
		return err
	}
	text := "agentconform " + w.target.RunID + " asks the deployment."
	g, err := server.Start(ctx, t, agent.Order{Text: text})
	if err != nil {
		return err
	}
	if _, err := server.Await(ctx, g); err != nil {
		return err
	}
	w.runs = append(w.runs, g)
	return nil
}

func (w *World) last() *agent.GraphRun { return w.runs[len(w.runs)-1] }

// userCallsDeployment calls twice. A different answer after an update shows a new revision only if one revision gives the
// same answer twice.
func (w *World) userCallsDeployment(ctx context.Context) error {
	for range 2 {
		if err := w.callDeployment(ctx); err != nil {
			return err
		}
	}
	return judge.AnswersAreEqual(w.runs[0].Said(), w.last().Said())
}

func (w *World) agentReplies() error { return agent.HoldsAnswered(w.last().Final, w.last()) }

func (w *World) wasUpdatedToSecond(ctx context.Context) error {
	change, key := w.plane.Sources.Another()
	return w.wasUpdated(ctx, change, key)
}

func (w *World) wasUpdatedToSecondPath(ctx context.Context) error {
	const field = "graph_config_path"
	return w.wasUpdated(ctx, map[string]any{field: w.plane.Sources.ValueOf(field)}, "alternatives."+field)
}

// wasUpdated updates the deployment to the source that a key configures, and waits until it is DEPLOYED.
func (w *World) wasUpdated(ctx context.Context, change map[string]any, key string) error {
	w.key = key
	d := w.controlPlane.Deployment
	if err := w.plane.Update(ctx, d, change); err != nil {
		return err
	}
	h, err := w.plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	if err != nil {
		return err
	}
	return w.plane.CheckUsable(h)
}

// wasUpdatedInARow updates the deployment to the second source, back to the first and again to the second, without
// waiting for the builds. While the first update is built, two others wait, and a server may build the later of them
// first.
func (w *World) wasUpdatedInARow(ctx context.Context) error {
	d := w.controlPlane.Deployment
	_, w.key = w.plane.Sources.Another()
	for n := 1; n <= 3; n++ {
		if err := w.plane.Update(ctx, d, w.plane.Sources.Next(n)); err != nil {
			return err
		}
	}
	h, err := w.plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	if err != nil {
		return err
	}
	if err := w.plane.CheckUsable(h); err != nil {
		return err
	}
	_, err = w.plane.AwaitSettled(ctx, d)
	return err
}

// userCallsUntilNew calls repeatedly for at most timeouts.request, because a proxy may still route requests to the
// earlier revision.
func (w *World) userCallsUntilNew(ctx context.Context) error {
	return w.target.RetryFor(ctx, w.target.Config.Timeouts.Request, func() (bool, error) {
		if err := w.callDeployment(ctx); err != nil {
			return false, err
		}
		return w.agentReplies() == nil && w.isNew() == nil, nil
	})
}

func (w *World) isNew() error {
	return judge.AnswerIsNew(w.last().Final, w.last().Said(), w.runs[0].Said(), w.key)
}

// messageIsNew returns an error if the last ai message equals the message of the first revision. It blocks if the graph
// ignores its input, because such a message does not identify the revision.
func (w *World) messageIsNew() error {
	if err := w.agentReplies(); err != nil {
		return err
	}
	err := w.isNew()
	if err == nil {
		return nil
	}
	if other := w.agents.CheckGraph(w.runs[:2]...); other != nil {
		return other
	}
	return err
}

// furtherMessagesAreNew calls the agent server again after patience, because it may have several replicas, and one may
// still run the earlier revision.
func (w *World) furtherMessagesAreNew(ctx context.Context) error {
	if err := client.Sleep(ctx, w.target.Config.Patience); err != nil {
		return err
	}
	for range 5 {
		if err := w.callDeployment(ctx); err != nil {
			return err
		}
		if err := w.messageIsNew(); err != nil {
			return err
		}
	}
	return nil
}
