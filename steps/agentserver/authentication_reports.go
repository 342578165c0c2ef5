package agentserver

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// callerReports has the runs whose graph reports the caller that the server passed to it.
type callerReports struct {
	*World
	runs []*agent.GraphRun // in the order of their callers
}

// define registers the steps about the user in graph_auth_user (section 5).
func (w *callerReports) define(r *common.Definitions) {
	r.When(`the user starts a run that reports its caller`, w.userStartsReport)
	r.When(`the user starts a run that reports its caller, and names another user in its config`, w.userClaimsAnother)
	r.When(`a studio user starts a run that reports its caller on the same thread`, w.studioStartsReport)
	r.When(`two users start runs that report their caller, (in turn|all at once)`, w.usersStartReports)
	r.Then(`the run reports the (identity|custom fields) of the user`, w.runReports)
	r.Then(`the run of the studio user does not report the user`, w.studioIsNotUser)
	r.Then(`each run reports its own caller`, w.eachReportsItsOwn)
}

func (w *callerReports) userStartsReport(ctx context.Context) error {
	g, err := w.server.RunAlone(ctx, w.owner(), agent.Order{Words: agent.Whoami})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.runs = append(w.runs, g)
	return nil
}

// userClaimsAnother starts a run that reports its caller. The body has another user's object at the place where the graph
// reads the authenticated user. A server may refuse these members, which are not part of the interface.
func (w *callerReports) userClaimsAnother(ctx context.Context) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := w.server.Understood(ctx, agent.Whoami); err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	claim := map[string]any{"graph_auth_user": map[string]any{"identity": w.target.Name("claimed"), "role": "administrator"}}
	o := agent.Order{Words: agent.Whoami, More: map[string]any{"config": map[string]any{"configurable": claim}, "context": claim}}
	if err := w.post(ctx, o); err != nil {
		return outcome.AsPrecondition(err)
	}
	if w.current.ID == "" && w.current.Response.IsRefused() {
		return outcome.Inapplicable("config of a run", "the target refuses a run with a user object in its config: %s",
			outcome.Seen(w.current.Response))
	}
	if err := w.current.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	if _, err := w.server.Await(ctx, w.current); err != nil {
		return outcome.AsPrecondition(err)
	}
	w.runs = append(w.runs, w.current)
	return nil
}

// studioStartsReport starts a run as a studio user on the thread of the user's run. The server may refuse studio users.
func (w *callerReports) studioStartsReport(ctx context.Context) error {
	studio, err := w.callerNamed(ctx, target.StudioUser)
	if err != nil {
		return err
	}
	g, err := w.server.Post(ctx, w.runs[0].Thread, agent.Order{Words: agent.Whoami, By: &studio})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if g.Response.IsRefused() {
		return outcome.Inapplicable("runs of studio users", "the target refuses a studio user's run on the thread of a user: %s",
			outcome.Seen(g.Response))
	}
	if err := g.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	if _, err := w.server.Await(ctx, g); err != nil {
		return outcome.AsPrecondition(err)
	}
	w.runs = append(w.runs, g)
	return nil
}

// usersStartReports starts two runs of each user, in turn, or so that they are in progress at the same time.
func (w *callerReports) usersStartReports(ctx context.Context, when string) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	callers := []target.Caller{w.owner(), other, w.owner(), other}
	w.runs = make([]*agent.GraphRun, len(callers))
	if when == "in turn" {
		for i, who := range callers {
			w.runs[i], err = w.server.RunAlone(ctx, who, agent.Order{Words: agent.Whoami})
			if err != nil {
				return outcome.AsPrecondition(err)
			}
		}
		return nil
	}
	together, leave, err := w.server.Together(ctx, len(callers), agent.Wait)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	defer leave()
	return outcome.AsPrecondition(agent.AtOnce(len(callers), func(i int) (err error) {
		o := agent.Order{Words: agent.Whoami, Hold: w.agents.Hold(0) / 4}
		w.runs[i], err = together.RunAlone(ctx, callers[i], o)
		return err
	}))
}

// report returns the answer of a run as a value for judgements. other is another user.
func report(g *agent.GraphRun, other *config.User) judge.Report {
	r := judge.Report{State: g.Final, Said: g.Said(), Of: userOf(g.Thread.Owner.User)}
	if other != nil {
		r.Other = userOf(other)
	}
	return r
}

func userOf(u *config.User) judge.User { return judge.User{Name: u.Name, Known: u.Known()} }

func (w *callerReports) runReports(ctx context.Context, what string) error {
	user := w.runs[0].Thread.Owner.User
	fields := map[string]any{"identity": user.Identity}
	if what == "custom fields" {
		fields = user.Fields
	}
	var others []string
	for _, u := range w.target.Config.Users {
		if u.Owner() != user.Owner() {
			others = append(others, u.Owner())
		}
	}
	return outcome.Unless(ctx, judge.ReportsFields(report(w.runs[0], nil), fields, others...), w.repeatsInput(w.runs[0]))
}

// eachReportsItsOwn judges that each run reports its own caller. It skips if the known fields of the two users are equal.
func (w *callerReports) eachReportsItsOwn(ctx context.Context) error {
	user, other := w.runs[0].Thread.Owner.User, w.runs[1].Thread.Owner.User
	if !judge.UsersDiffer(userOf(user), userOf(other)) {
		at := slices.IndexFunc(w.target.Config.Users, func(u config.User) bool { return u.Identity == "" })
		key := fmt.Sprintf("users.%d.identity", max(at, 0))
		return outcome.NotConfigured(key, "not configured: nothing is known in which the two users differ; set %s", key)
	}
	var runs []judge.Report
	for _, g := range w.runs {
		foreign := other
		if g.Thread.Owner.User == other {
			foreign = user
		}
		runs = append(runs, report(g, foreign))
	}
	return outcome.Unless(ctx, judge.ReportOwnCallers(runs...), w.repeatsInput(w.runs[0]))
}

// studioIsNotUser judges the run of the studio user. If it reports the user, a run on a thread of the studio user shows
// whether the two users have the same identity.
func (w *callerReports) studioIsNotUser(ctx context.Context) error {
	user, g := w.runs[0].Thread.Owner.User, w.runs[1]
	wrong := judge.ReportsNoOwner(judge.Report{State: g.Final, Said: g.Said(), Other: userOf(user)})
	if wrong == nil || outcome.Is(wrong, reports.Inconclusive) {
		return wrong
	}
	studio, err := w.callerNamed(ctx, target.StudioUser)
	if err != nil {
		return err
	}
	own, err := w.server.RunAlone(ctx, studio, agent.Order{Words: agent.Whoami})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if messages.ReportsField(own.Said(), "identity", user.Identity) {
		return outcome.Inapplicable("another identity of studio users", "studio users have the identity of the first user")
	}
	return wrong
}
