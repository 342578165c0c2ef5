package situations

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// refusedRun is a run that the target has refused. It must not write messages.
type refusedRun struct {
	*agent.GraphRun
	owner string // the requirement that fails if it writes messages
}

// tryRun sends a run that the target should refuse.
func (t *Thread) tryRun(ctx context.Context, who target.Caller, o agent.Order) (*agent.GraphRun, error) {
	g, err := t.server.TryPost(ctx, who, t.Thread, o)
	if err != nil || g.Response.OK() {
		return g, err
	}
	refused := refusedRun{g, "AS-AUTH-4"}
	switch {
	case who.Key == t.owner().Key:
		refused.owner = "AS-RUN-6"
	case who.User != nil:
		refused.owner = "AS-AUTHZ-2"
	}
	t.refused = append(t.refused, refused)
	return g, nil
}

// unlessRefused returns a violation by a state. If the state contains the text of a refused run, the requirement about
// the refusal owns the failure, and the outcome is blocked.
func (t *Thread) unlessRefused(state *exchange.Response, violation error) error {
	if !outcome.Is(violation, reports.Failed) {
		return violation
	}
	for _, g := range t.refused {
		if messages.ContainsText(state, g.Text()) {
			return outcome.Blocked("the state has a message of a run that was refused (%s)", g.owner).ByRequirement(g.owner)
		}
	}
	return violation
}

// refuseEach completes a run, and then sends runs that the target should refuse, without rollback and with it.
func (t *Thread) refuseEach(ctx context.Context, who target.Caller, o agent.Order) error {
	if err := t.complete(ctx); err != nil {
		return err
	}
	for _, strategy := range []string{"", agent.RollbackStrategy} {
		o.Strategy = strategy
		g, err := t.tryRun(ctx, who, o)
		if err != nil {
			return err
		}
		switch {
		case g.Response.OK() && who.Key == t.owner().Key: // only its content makes it invalid, and a target need not check that
			return outcome.Inapplicable("situations", "on this target, the run is not refused: %s", outcome.Seen(g.Response))
		case g.Response.OK():
			return outcome.Blocked("the run was not refused: %s", outcome.Seen(g.Response))
		}
	}
	return nil
}

func (t *Thread) refuseInvalid(ctx context.Context) error {
	return t.refuseEach(ctx, t.owner(), agent.Order{More: map[string]any{"input": 42}, Wrong: true})
}

func (t *Thread) refuseAssistant(ctx context.Context) error {
	return t.refuseEach(ctx, t.owner(), agent.Order{Assistant: "agentconform-" + target.UnknownID()})
}

// refuse returns the event that runs of the caller were refused.
func refuse(name string) func(*Thread, context.Context) error {
	return func(t *Thread, ctx context.Context) error {
		who, err := t.caller(ctx, name)
		if err != nil {
			return err
		}
		return t.refuseEach(ctx, who, agent.Order{})
	}
}

// refused returns the check that the caller is refused by each route.
func refused(name string) func(t *Thread, ctx context.Context) error {
	return func(t *Thread, ctx context.Context) error {
		who, err := t.Target.Caller(name)
		if err != nil {
			return err
		}
		c := config.Invalid
		if name == target.NoCredentials {
			c = config.Missing
		}
		return t.eachRoute(ctx, who, func(a *exchange.Response) error {
			return judge.RefusesCaller(a, name, string(c), t.Target.Config.Agent.RejectedStatus.For(c), "")
		})
	}
}

// refuseDuringRun has other callers read, join and start runs while a run is in progress, which must not affect that run.
// Other checks judge the responses to reads and joins. A join that shows nothing need not be refused.
func (t *Thread) refuseDuringRun(ctx context.Context) error {
	g, err := t.server.Start(ctx, t.Thread, agent.Order{Waits: true})
	if err != nil {
		return err
	}
	for _, name := range []string{target.TheOtherUser, target.NoCredentials, target.UnknownToken} {
		who, err := t.caller(ctx, name)
		if err != nil {
			return err
		}
		err = t.eachRoute(ctx, who, func(a *exchange.Response) error {
			if a.OK() && a.Request.Method == http.MethodPost {
				return outcome.Blocked("a run of %s was not refused: %s", name, outcome.Seen(a))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if _, err := t.server.Await(ctx, g); err != nil {
		return err
	}
	t.completed = append(t.completed, g)
	return nil
}

// eachRoute sends a request to each route of the thread, and judges the responses of existing routes.
func (t *Thread) eachRoute(ctx context.Context, who target.Caller, judge func(*exchange.Response) error) error {
	run := append(t.latest(), &agent.GraphRun{ID: target.UnknownID(), Thread: t.Thread})[0]
	started := func() (*exchange.Response, error) {
		g, err := t.tryRun(ctx, who, agent.Order{})
		if err != nil {
			return nil, err
		}
		return g.Response, nil
	}
	for _, send := range []func() (*exchange.Response, error){
		func() (*exchange.Response, error) { return t.server.State(ctx, who, t.Thread) },
		func() (*exchange.Response, error) { return t.server.GetRun(ctx, who, run) },
		func() (*exchange.Response, error) { return t.server.JoinCompleted(ctx, who, run) },
		started,
	} {
		a, err := send()
		if err != nil {
			return err
		}
		if target.NotServed(a) || a.Status == http.StatusConflict { // the server may check the thread first
			continue
		}
		if err := judge(a); err != nil {
			return err
		}
	}
	return nil
}

// otherCannotRun sends runs in the shapes that servers treat differently: with rollback, and for a thread that may be new.
func (t *Thread) otherCannotRun(ctx context.Context) error {
	other, err := t.caller(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	for _, o := range []agent.Order{
		{},
		{Strategy: agent.RollbackStrategy},
		{More: map[string]any{"if_not_exists": "create"}},
	} {
		g, err := t.tryRun(ctx, other, o)
		if err != nil {
			return err
		}
		if err := judge.IsError(g.Response, ""); err != nil {
			return err
		}
	}
	return nil
}
