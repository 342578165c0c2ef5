package agentserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Names of operations in the steps.
const (
	refusedCallers  = `(the user|the other user|a caller without credentials|a caller with an unknown token)`
	anyCaller       = `(the user|the other user|a studio user|a caller with(?:out)? .+?)`
	anyAttempt      = anyCaller + ` tries to ((?:create|list|retrieve|join|read) .+|` + startsRun + `)`
	startsRun       = `start a run(?: with rollback| of an unknown thread)?`
	whileInProgress = `the other user, while it is in progress, tries to ` +
		`(join a run|join the run under a thread of their own)`
	duringRun      = `during the run, (the other user|a caller without credentials) tries to ((?:read|retrieve) .+|` + startsRun + `)`
	twoUsersReport = `two users start runs that report their caller, (in turn|all at once)`
)

// defineCallers registers the sentences about authentication at the agent server (sections 5 and 7).
func (w *World) defineCallers(r *common.Definitions) {
	r.Given(`a completed run, or an unknown one`, w.useAnyRun)
	r.Given(refusedCallers+` was refused (a run(?: with rollback)?) on it`,
		w.requireRefusedRun)
	r.When(anyAttempt, w.callerTries)
	r.When(`on a connection that has served the user, (the other user|a caller without credentials) tries to (read the state|retrieve a run)`,
		w.callerTriesOnConnection)
	r.When(duringRun, w.callerTriesDuringRun)
	r.When(`the user starts a run that reports its caller`, w.userStartsReport)
	r.When(`the user starts a run that reports its caller, and names another user in its config`, w.userClaimsAnother)
	r.When(`a studio user starts a run that reports its caller on the same thread`, w.studioStartsReport)
	r.When(twoUsersReport, w.usersStartReports)
	r.Then(`the caller is refused with the status of the authentication handler`, w.refusedByHandler)
	r.Then(`the refusal contains the detail`, w.refusalCarriesDetail)
	r.Then(`the run reports the (identity|custom fields) of the user`, w.runReports)
	r.Then(`the run of the studio user does not report the user`, w.studioIsNotUser)
	r.Then(`each run reports its own caller`, w.eachReportsItsOwn)
	r.When(`(a caller without credentials|the other user) reads the run (?:by paths )?with (.+)`, w.readDisguised)
	r.Then(`no response shows anything of the run`, func() error {
		return judge.DisguisesShowNothing(w.disguised, w.thread.ID, w.current.Value())
	})
}

// useAnyRun uses an unknown run if the suite only reads, or if no user is configured and the agent server refuses
// callers without credentials. Requests that must be refused for their credentials do not need an existing run.
func (w *World) useAnyRun(ctx context.Context) error {
	if w.target.AgentRefusal() != 0 || w.target.Config.ReadOnly {
		w.setRun(&agent.GraphRun{ID: target.UnknownID(), Thread: &agent.Thread{ID: target.UnknownID()}})
		return nil
	}
	g, err := w.server.SharedCompletedRun(ctx)
	if err != nil {
		return err
	}
	w.setRun(g)
	return nil
}

// callerTries sends the request of a caller, about the run and thread of the earlier sentences. A caller who may
// start a run does so on a new thread, because other scenarios may share the run.
func (w *World) callerTries(ctx context.Context, name, operation string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	w.attempted, w.operation, w.scene.Served = name, operation, w.isServed
	g, err := w.runToTry(ctx, who, name, operation)
	if err != nil {
		return err
	}
	verb, _, _ := strings.Cut(operation, " ")
	switch {
	case verb == "create":
		t, err := w.server.CreateThread(ctx, who, nil)
		if err != nil {
			return err
		}
		w.scene.Response = t.Response
		return nil
	case operation == "list the threads with the other listing endpoint":
		return w.listOther(ctx, who)
	case verb == "list":
		return w.list(ctx, who, nil)
	case verb == "start":
		return w.tryRun(ctx, who, g.Thread, w.orderOf(operation))
	}
	w.joins = g
	a, err := w.ask(ctx, who, verb, g)
	none, is := errors.AsType[*exchange.NoResponse](err)
	if is && none.Timeout && verb == "join" {
		return outcome.Blocked("the join of a completed run did not return (AS-RUN-5)").ByRequirement("AS-RUN-5")
	}
	if err != nil {
		return err
	}
	w.scene.Response = a
	return nil
}

// callerTriesOnConnection sends the request of a caller on the connection of an equal request of the user.
func (w *World) callerTriesOnConnection(ctx context.Context, name, operation string) error {
	ctx = w.target.Client.OneConnection(ctx)
	if err := w.callerTries(ctx, target.TheUser, operation); err != nil {
		return err
	}
	return w.callerTries(ctx, name, operation)
}

// callerTriesDuringRun sends the request of a caller while the run of the user is in progress.
func (w *World) callerTriesDuringRun(ctx context.Context, name, operation string) error {
	return w.win(ctx, "the run ended before the response to "+name, func(ctx context.Context) (bool, error) {
		if err := w.callerTries(ctx, name, operation); err != nil {
			return false, err
		}
		return w.scene.Response.Ended().Before(w.prior.Until()), nil
	})
}

// runToTry returns the run and the thread that the request of a caller is about.
func (w *World) runToTry(ctx context.Context, who target.Caller, name, operation string) (*agent.GraphRun, error) {
	g := &agent.GraphRun{Thread: w.thread}
	if w.current != nil {
		g.ID = w.current.ID
	}
	isStart := strings.HasPrefix(operation, "start ")
	switch {
	case strings.HasSuffix(operation, " of an unknown thread"):
		g.Thread = &agent.Thread{ID: unlike(w.thread.ID), Owner: w.thread.Owner}
	case strings.HasSuffix(operation, " under a thread of their own"), isStart && name == target.TheUser:
		t, err := w.server.NewThread(ctx, who)
		if err != nil {
			return nil, outcome.AsPrecondition(err)
		}
		g.Thread = t
	}
	return g, nil
}

// orderOf returns the order of a run as the sentence names it.
func (w *World) orderOf(name string) (o agent.Order) {
	if strings.Contains(name, "with rollback") {
		o.Strategy = agent.RollbackStrategy
	}
	switch {
	case strings.HasSuffix(name, "of an unknown assistant_id"):
		o.Assistant = "agentconform-" + target.UnknownID()
	case strings.HasSuffix(name, "of the assistant_id with one more character"):
		o.Assistant = w.target.Config.AssistantID + "x"
	}
	return o
}

// requireRefusedRun starts a run on the thread that the server must refuse, while a run is in progress if there is one.
// It blocks if the request is served, which another requirement judges.
func (w *World) requireRefusedRun(ctx context.Context, name, what string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	err = w.win(ctx, "the run ended before the request was refused", func(ctx context.Context) (bool, error) {
		if err := w.tryRun(ctx, who, w.thread, w.orderOf(what)); err != nil {
			return false, err
		}
		w.kept = []*agent.GraphRun{w.current}
		return w.prior == nil || w.scene.Response.Ended().Before(w.prior.Until()), nil
	})
	if err != nil {
		return err
	}
	return requireRefused(w.scene.Response)
}

// requireRefused blocks a scenario about a refusal if the request was served.
func requireRefused(a *exchange.Response) error {
	if a.Status < http.StatusBadRequest {
		return outcome.Blocked("the request was not refused: %s", outcome.Seen(a))
	}
	return nil
}

// refusalCase returns the case of agent.rejected_status for the caller: missing credentials, invalid ones, either of
// them, or blocked ones.
func refusalCase(caller string) config.RefusalCase {
	switch {
	case caller == target.NoCredentials:
		return config.Missing
	case caller == target.BlockedToken:
		return config.Blocked
	case target.MayLackCredentials(caller):
		return config.Either
	}
	return config.Invalid
}

// refusedByHandler judges the refusal of a request to a route that exists.
func (w *World) refusedByHandler(ctx context.Context) error {
	a, c := w.scene.Response, refusalCase(w.attempted)
	if err := w.routeExists(ctx); err != nil {
		return err
	}
	statuses := w.target.Config.Agent.RejectedStatus.For(c)
	err := judge.RefusesCaller(a, w.attempted, string(c), statuses, w.rejectedHint(a))
	if err == nil && len(statuses) == 0 {
		w.target.Note(reports.Note{Kind: reports.NoteRefusal, Exchange: a.ID, Text: fmt.Sprintf(
			"the server refuses callers with status %d; any 4xx was accepted, because agent.rejected_status is not set", a.Status)})
	}
	return err
}

// routeExists returns an error if the route does not exist: the server returns 404, 405 or 501 to the owner of the
// thread as well.
func (w *World) routeExists(ctx context.Context) error {
	refused, caller, operation := w.scene.Response, w.attempted, w.operation
	if !target.NotServed(refused) {
		return nil
	}
	isListed := strings.HasPrefix(operation, "list ")
	if len(w.target.Config.Users) == 0 || w.current != nil && w.current.Response == nil && !isListed {
		return outcome.Inconclusive("the server returned %d, which may mean that the route does not exist; configure users "+
			"so that the suite can check", refused.Status)
	}
	err := w.callerTries(ctx, target.TheUser, strings.TrimSuffix(operation, " of an unknown thread"))
	owned := w.scene.Response
	w.attempted, w.operation, w.scene.Response = caller, operation, refused
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if target.NotServed(owned) {
		return outcome.Inapplicable(owned.Request.Method+" "+owned.Request.Path, "the route does not exist: the server returns "+
			"%d to the user as well", owned.Status)
	}
	return nil
}

// refusalCarriesDetail judges the detail of a refusal.
func (w *World) refusalCarriesDetail(ctx context.Context) error {
	a, c := w.scene.Response, refusalCase(w.attempted)
	if err := requireRefused(a); err != nil {
		return err
	}
	details := w.target.Config.Agent.RejectedDetail.For(c)
	if len(details) == 0 {
		return outcome.Needs("agent.rejected_detail." + string(c))
	}
	if err := w.routeExists(ctx); err != nil {
		return err
	}
	if err := judge.RefusalHasDetail(a, details); err != nil {
		return err
	}
	if a.Get("detail").Type != gjson.String {
		w.scene.Note("the refusal contains the detail, but not as the string detail of a JSON object")
		w.target.Note(reports.Note{Kind: reports.NoteDetail, Exchange: a.ID, Text: "the refusal of " + w.attempted +
			" has the handler's detail, but not as the string detail of a JSON object, where clients look for it (AS-AUTH-3)"})
	}
	return nil
}

func (w *World) userStartsReport(ctx context.Context) error {
	g, err := w.server.RunAlone(ctx, w.owner(), agent.Order{Words: agent.Whoami})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.reported = append(w.reported, g)
	return nil
}

// usersStartReports starts two runs of each user, in turn, or so that they are in progress at the same time.
func (w *World) usersStartReports(ctx context.Context, when string) error {
	other, err := w.callerNamed(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	callers := []target.Caller{w.owner(), other, w.owner(), other}
	w.reported = make([]*agent.GraphRun, len(callers))
	if when == "in turn" {
		for i, who := range callers {
			w.reported[i], err = w.server.RunAlone(ctx, who, agent.Order{Words: agent.Whoami})
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
		w.reported[i], err = together.RunAlone(ctx, callers[i], o)
		return err
	}))
}

// report returns the answer of a run as a value for judgements. other is the user who did not start it.
func report(g *agent.GraphRun, other *config.User) judge.Report {
	r := judge.Report{State: g.Final, Said: g.Said(), Of: userOf(g.Thread.Owner.User)}
	if other != nil {
		r.Other = userOf(other)
	}
	return r
}

func userOf(u *config.User) judge.User { return judge.User{Name: u.Name, Known: u.Known()} }

func (w *World) runReports(ctx context.Context, what string) error {
	user := w.reported[0].Thread.Owner.User
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
	return outcome.Unless(ctx, judge.ReportsFields(report(w.reported[0], nil), fields, others...), w.repeatsInput(w.reported[0]))
}

// eachReportsItsOwn judges that each run reports its own caller. It skips if no known field of the two users differs.
func (w *World) eachReportsItsOwn(ctx context.Context) error {
	user, other := w.reported[0].Thread.Owner.User, w.reported[1].Thread.Owner.User
	if !judge.UsersDiffer(userOf(user), userOf(other)) {
		at := slices.IndexFunc(w.target.Config.Users, func(u config.User) bool { return u.Identity == "" })
		key := fmt.Sprintf("users.%d.identity", max(at, 0))
		return outcome.NotConfigured(key, "not configured: nothing is known in which the two users differ; set %s", key)
	}
	var runs []judge.Report
	for _, g := range w.reported {
		foreign := other
		if g.Thread.Owner.User == other {
			foreign = user
		}
		runs = append(runs, report(g, foreign))
	}
	return outcome.Unless(ctx, judge.ReportOwnCallers(runs...), w.repeatsInput(w.reported[0]))
}

// unlike returns an unknown id of the same form. Only the last eight characters differ, so that a UUID keeps its
// version: a target may check the form of an id before the credentials.
func unlike(id string) string {
	const digits, others = "0123456789abcdefABCDEF", "5678901234defabcDEFABC"
	kept := id[:max(0, len(id)-8)]
	other := kept + strings.Map(func(c rune) rune {
		if at := strings.IndexRune(digits, c); at >= 0 {
			return rune(others[at])
		}
		return c
	}, id[len(kept):])
	if other == id {
		return id + id
	}
	return other
}
