package agentserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
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
	duringRun = `during the run, (the other user|a caller without credentials) tries to ((?:read|retrieve) .+|` + startsRun + `)`
)

// callers has the last request of a caller that the server may have to refuse.
type callers struct {
	*World
	attempted string          // the caller, as the step names them
	operation string          // the operation, as the step names it
	about     *agent.GraphRun // the run in the request
}

// define registers the steps about callers that the server must refuse (sections 5 and 7).
func (w *callers) define(r *common.Definitions) {
	r.Given(`a completed run, or an unknown one`, w.useAnyRun)
	r.Given(refusedCallers+` was refused (a run(?: with rollback)?) on it`,
		w.requireRefusedRun)
	r.When(anyAttempt, w.callerTries)
	r.When(`on a connection that has served the user, (the other user|a caller without credentials) tries to (read the state|retrieve a run)`,
		w.callerTriesOnConnection)
	r.When(duringRun, w.callerTriesDuringRun)
	r.When(whileInProgress, w.joinAsOther)
	r.Then(`the caller is refused with the status of the authentication handler`, w.refusedByHandler)
	r.Then(`the refusal contains the detail`, w.refusalCarriesDetail)
	r.Then(`the response contains nothing of the run`, w.holdsNothingOfRun)
	r.Then(`the join is refused, or returns before the end of the run`, w.joinDoesNotWait)
	r.Then(`the join of another user's run returns an HTTP error status`, w.joinIsRefused)
}

// useAnyRun uses an unknown run if the suite only reads, or if no user is configured and the agent server refuses callers
// without credentials. A request without valid credentials must be refused even if the run does not exist.
func (w *callers) useAnyRun(ctx context.Context) error {
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

// callerTries sends the request of a caller about the run and thread of the earlier steps.
func (w *callers) callerTries(ctx context.Context, name, operation string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	w.attempted, w.operation, w.scene.Served = name, operation, w.isServed
	g, err := w.runToTry(ctx, who, name, operation)
	if err != nil {
		return err
	}
	a, err := w.sendAs(ctx, who, operation, g)
	if err != nil {
		return err
	}
	w.scene.Response = a
	if name == target.TheOtherUser {
		w.scene.Cases = []common.Case{{Response: a, What: "a user who does not own it"}}
	}
	return nil
}

// sendAs sends the request of a caller about a run.
func (w *callers) sendAs(ctx context.Context, who target.Caller, operation string, g *agent.GraphRun) (*exchange.Response, error) {
	verb, _, _ := strings.Cut(operation, " ")
	switch {
	case verb == "create":
		t, err := w.server.CreateThread(ctx, who, nil)
		if err != nil {
			return nil, err
		}
		return t.Response, nil
	case operation == "list the threads with the other listing endpoint":
		return w.listOther(ctx, who)
	case verb == "list":
		_, a, err := w.server.List(ctx, who, nil)
		return a, err
	case verb == "start":
		err := w.tryRun(ctx, who, g.Thread, w.orderOf(operation))
		return w.scene.Response, err
	}
	w.about = g
	a, err := w.ask(ctx, who, verb, g)
	return a, unlessJoinHangs(err)
}

// unlessJoinHangs returns the error of a read. If a join of a completed run did not return, it returns an outcome that
// blocks, because AS-RUN-5 judges that.
func unlessJoinHangs(err error) error {
	none, is := errors.AsType[*exchange.NoResponse](err)
	if is && none.Timeout && strings.HasSuffix(none.Request.Path, "/join") {
		return outcome.Blocked("the join of a completed run did not return (AS-RUN-5)").ByRequirement("AS-RUN-5")
	}
	return err
}

// callerTriesOnConnection sends the request of a caller on a connection that has already served an equal request of the
// user.
func (w *callers) callerTriesOnConnection(ctx context.Context, name, operation string) error {
	ctx = w.target.Client.OneConnection(ctx)
	if err := w.callerTries(ctx, target.TheUser, operation); err != nil {
		return err
	}
	return w.callerTries(ctx, name, operation)
}

// callerTriesDuringRun sends the request of a caller while the run of the user is in progress.
func (w *callers) callerTriesDuringRun(ctx context.Context, name, operation string) error {
	return w.win(ctx, "the run ended before the response to "+name, func(ctx context.Context) (bool, error) {
		if err := w.callerTries(ctx, name, operation); err != nil {
			return false, err
		}
		return w.scene.Response.Ended().Before(w.prior.Until()), nil
	})
}

// isServed judges that the server does not refuse the user. The requirement about the operation judges all other
// errors.
func (w *callers) isServed(context.Context) error {
	rejects := func(status int) bool { return w.target.Rejects(spec.AgentServer, status) }
	return judge.IsServed(w.scene.Response, w.attempted == target.TheUser, rejects)
}

// runToTry returns the run and the thread for the request of a caller. A caller who may start a run uses a new thread,
// because other scenarios may share the run.
func (w *callers) runToTry(ctx context.Context, who target.Caller, name, operation string) (*agent.GraphRun, error) {
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

// orderOf returns the order of a run that a step names.
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

// requireRefusedRun starts a run that the server must refuse, while a run is in progress on the thread if there is one.
// It blocks if the server accepts the run, because another requirement judges that.
func (w *callers) requireRefusedRun(ctx context.Context, name, what string) error {
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

// refusalCase returns the case of agent.rejected_status for the caller: missing, invalid or blocked credentials, or
// either of the first two.
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
func (w *callers) refusedByHandler(ctx context.Context) error {
	a, c := w.scene.Response, refusalCase(w.attempted)
	if err := w.routeExists(ctx); err != nil {
		return err
	}
	statuses := w.target.Config.Agent.RejectedStatus.For(c)
	err := judge.RefusesCaller(a, w.attempted, string(c), statuses, rejectedHint(a))
	if err == nil && len(statuses) == 0 {
		w.target.Note(reports.Note{Kind: reports.NoteRefusal, Exchange: a.ID, Text: fmt.Sprintf(
			"the server refuses callers with status %d; any 4xx was accepted, because agent.rejected_status is not set", a.Status)})
	}
	return err
}

// rejectedHint returns the key of the configuration to check if a request without valid credentials does not return the
// status of the handler. The handler may use another status, or the target may lack the operation.
func rejectedHint(a *exchange.Response) string {
	missing := target.NotServed(a)
	switch {
	case missing && a.Request.Method == http.MethodGet && a.Request.Path == agent.ThreadsPath:
		return "set agent.listing to search if the target lists its threads with POST /threads/search"
	case missing || !a.IsRefused():
		return ""
	}
	return "correct agent.rejected_status if the handler chooses this status" // without this key any 4xx passes
}

// routeExists returns an error if the route does not exist: the server returns 404, 405 or 501 even to the owner of the
// thread.
func (w *callers) routeExists(ctx context.Context) error {
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
func (w *callers) refusalCarriesDetail(ctx context.Context) error {
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

// joinAsOther joins a run as the other user. If the response comes after the end of the run, it tries again with a longer
// run, because the server may be slow and not waiting.
func (w *callers) joinAsOther(ctx context.Context, operation string) error {
	_, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		if err := w.callerTries(ctx, target.TheOtherUser, operation); err != nil {
			return false, err
		}
		return w.joinDoesNotWait() == nil, nil
	})
	return err
}

func (w *callers) joinDoesNotWait() error {
	return judge.ForeignJoinDoesNotWait(w.scene.Response, w.prior.Until(), w.prior.Order.Hold)
}

// holdsNothingOfRun judges that the responses contain nothing of the run. It compares a response that may be about the
// run with the response to the join of an unknown run.
func (w *callers) holdsNothingOfRun(ctx context.Context) error {
	a, run := w.scene.Response, w.current.Value()
	if !judge.MayHoldRun(a, run) {
		return judge.HoldsNothingOfRun(a, run, w.about.ID, nil, "")
	}
	who, err := w.callerNamed(ctx, w.attempted)
	if err != nil {
		return err
	}
	id := unlike(w.about.ID)
	unknown, err := w.server.JoinCompleted(ctx, who, &agent.GraphRun{ID: id, Thread: w.about.Thread})
	if err != nil {
		return err
	}
	return judge.HoldsNothingOfRun(a, run, w.about.ID, unknown, id)
}

// joinIsRefused judges that the joins are refused. It blocks if a response contains something of the run, which another
// requirement judges.
func (w *callers) joinIsRefused(ctx context.Context) error {
	return outcome.Unless(ctx, judge.IsError(w.scene.Response, ""), w.holdsNothingOfRun)
}

// unlike returns an unknown id of the same form. Only the last eight characters differ, so that a UUID keeps its version,
// because a target may check the form of an id before the credentials.
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
