package agentserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The callers and what they try, as the sentences name them.
const (
	refusedCallers  = `(the user|the other user|a caller without credentials|a caller with an unknown token)`
	anyCaller       = `(the user|the other user|a studio user|a caller with(?:out)? .+?)`
	anyAttempt      = anyCaller + ` tries to ((?:create|list|retrieve|join|read) .+|` + startsRun + `)`
	startsRun       = `start a run(?: with rollback| of an unknown thread)?`
	whileInProgress = `the other user, while it is in progress, tries to ` +
		`(join a run|join the run under a thread of their own)`
	twoUsersAsk = `two users start runs that report their caller, (in turn|all at once)`
)

// defineCallers registers the sentences about authentication at the agent server (sections 5 and 7).
func (w *World) defineCallers(r *common.Definitions) {
	r.Given(`a completed run, or an unknown one`, w.aRunToAskFor)
	r.Given(refusedCallers+` was refused (a run(?: with rollback)?) on it`,
		w.wasRefusedRun)
	r.When(anyAttempt, w.callerTries)
	r.When(`the user starts a run that reports its caller`, w.userAsksWho)
	r.When(twoUsersAsk, w.usersAskWho)
	r.Then(`the caller is refused with the status of the authentication handler`, w.refusedByHandler)
	r.Then(`the refusal carries the detail`, w.refusalCarriesDetail)
	r.Then(`the run reports the (identity|custom fields) of the user`, w.runReports)
	r.Then(`each run reports its own caller`, w.eachReportsItsOwn)
	r.When(`(a caller without credentials|the other user) reads the run (?:by paths )?with (.+)`, w.readsDisguised)
	r.Then(`no answer shows anything of the run`, w.showsNothing)
}

// aRunToAskFor is an unknown one where the run only reads, or no user is configured and the agent server refuses
// callers without credentials: what needs credentials is tried with any run.
func (w *World) aRunToAskFor(ctx context.Context) {
	if w.target.AgentRefusal() != 0 || w.target.Config.ReadOnly {
		w.speakOf(&agent.GraphRun{ID: target.UnknownID(), Thread: &agent.Thread{ID: target.UnknownID()}})
		return
	}
	w.speakOf(common.Must(w.server.SharedCompletedRun(ctx)))
}

// callerTries has the caller do one of the things that an agent server offers, to the run and thread that the
// sentences speak of. Who may start a run gets a thread for it: the run may be shared by scenarios.
func (w *World) callerTries(ctx context.Context, name, operation string) {
	who := w.callerNamed(ctx, name)
	w.attempted, w.operation, w.scene.Served = name, operation, w.isServed
	verb, _, _ := strings.Cut(operation, " ")
	g := &agent.GraphRun{Thread: w.thread}
	if w.current != nil {
		g.ID = w.current.ID
	}
	switch {
	case strings.HasSuffix(operation, " of an unknown thread"):
		g.Thread = &agent.Thread{ID: unlike(w.thread.ID), Owner: w.thread.Owner}
	case strings.HasSuffix(operation, " under a thread of their own"), verb == "start" && name == target.TheUser:
		g.Thread = common.Given(w.server.NewThread(ctx, who))
	}
	switch {
	case verb == "create":
		w.scene.Answer = common.Must(w.server.CreateThread(ctx, who, nil)).Answer
	case operation == "list the threads with the other listing endpoint":
		w.listOther(ctx, who)
	case verb == "list":
		w.list(ctx, who, nil)
	case verb == "start":
		w.tryRun(ctx, who, g.Thread, w.orderOf(operation))
	default:
		a, err := w.ask(ctx, who, verb, g)
		if none := (*exchange.NoResponse)(nil); verb == "join" && errors.As(err, &none) && none.Timeout {
			err = outcome.Blocked("the join of a completed run was not answered (AS-RUN-5)").ByRequirement("AS-RUN-5")
		}
		w.joins, w.scene.Answer = g, common.Must(a, err)
	}
}

// orderOf is a run as the sentences name it.
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

// wasRefusedRun needs the refusal of a run on the thread, before the end of the run in progress where there is one. A
// request that is served is another requirement's concern.
func (w *World) wasRefusedRun(ctx context.Context, name, what string) error {
	who := w.callerNamed(ctx, name)
	inTime := w.race(ctx, func(ctx context.Context) bool {
		w.tryRun(ctx, who, w.thread, w.orderOf(what))
		w.kept = []*agent.GraphRun{w.current}
		return w.prior == nil || w.scene.Answer.Ended().Before(w.prior.Until())
	})
	if !inTime {
		return outcome.Inconclusive("the run ended before the request was refused, in %d attempts", agent.Attempts)
	}
	return mustBeRefused(w.scene.Answer)
}

// mustBeRefused blocks what speaks of a refusal where the request was served.
func mustBeRefused(a *exchange.Response) error {
	if a.Status < 400 {
		return outcome.Blocked("the request was not refused: %s", outcome.Seen(a))
	}
	return nil
}

// refusalCase returns the case of the refusal for the caller.
func refusalCase(caller string) config.RefusalCase {
	switch {
	case caller == target.NoCredentials:
		return config.Missing
	case target.MayLackCredentials(caller):
		return config.Either
	}
	return config.Invalid
}

// refusedByHandler judges the refusal of a request to a route that exists.
func (w *World) refusedByHandler(ctx context.Context) error {
	a, c, configured := w.scene.Answer, refusalCase(w.attempted), w.target.Config.Agent.RejectedStatus
	if err := w.routeExists(ctx); err != nil {
		return err
	}
	accepted := configured.For(c)
	switch {
	case slices.Contains(accepted, a.Status):
		return nil
	case len(accepted) > 0:
		return outcome.Violated(a, "status "+configured.Words(c), "%s", outcome.Seen(a)).Hinting(w.rejectedHint(a))
	case !a.IsRefused():
		return outcome.Violated(a, "a 4xx status", "%s", outcome.Seen(a)).Hinting(w.rejectedHint(a))
	}
	w.target.Note(reports.Note{Kind: reports.NoteRefusal, Exchange: a.ID, Text: fmt.Sprintf(
		"the server refused %s with %d; set agent.rejected_status to check this status", w.attempted, a.Status)})
	return nil
}

// routeExists returns an error if the route does not exist: the server returns 404, 405 or 501 to the owner of the thread
// as well.
func (w *World) routeExists(ctx context.Context) error {
	refused, caller, operation := w.scene.Answer, w.attempted, w.operation
	if !target.NotServed(refused) {
		return nil
	}
	isListed := strings.HasPrefix(operation, "list ")
	if len(w.target.Config.Users) == 0 || w.current != nil && w.current.Answer == nil && !isListed {
		return outcome.Inconclusive("the server returned %d, which may mean that the route does not exist; configure users "+
			"so that the suite can check", refused.Status)
	}
	err := common.Try(func() {
		w.callerTries(ctx, target.TheUser, strings.TrimSuffix(operation, " of an unknown thread"))
	})
	owned := w.scene.Answer
	w.attempted, w.operation, w.scene.Answer = caller, operation, refused
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if target.NotServed(owned) {
		return outcome.Inapplicable(owned.Request.Method+" "+owned.Request.Path, "the route does not exist: the server returns "+
			"%d to the user as well", owned.Status)
	}
	return nil
}

// refusalCarriesDetail judges the detail of a refusal. Clients look for it as a string in a JSON object.
func (w *World) refusalCarriesDetail(ctx context.Context) error {
	a, c, configured := w.scene.Answer, refusalCase(w.attempted), w.target.Config.Agent.RejectedDetail
	if err := mustBeRefused(a); err != nil {
		return err
	}
	accepted := configured.For(c)
	if len(accepted) == 0 {
		return outcome.Needs("agent.rejected_detail." + string(c))
	}
	if err := w.routeExists(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(accepted, func(detail string) bool { return messages.ContainsText(a, detail) }) {
		return outcome.Violated(a, "a refusal with the detail "+configured.Words(c), "%s", outcome.Seen(a))
	}
	switch found := a.Get("detail"); {
	case found.Type != gjson.String:
		w.scene.Note("the refusal contains the detail, but not as the string detail of a JSON object")
	case !slices.Contains(accepted, found.Str):
		return outcome.Violated(a, "the detail "+configured.Words(c), "%s", outcome.Shown(found)).At("/detail")
	}
	return nil
}

func (w *World) userAsksWho(ctx context.Context) {
	g := common.Given(w.server.RunAlone(ctx, w.owner(), agent.Order{Words: agent.Whoami}))
	w.reported = append(w.reported, g)
}

// usersAskWho lets runs that are asked for at once be in progress at the same time.
func (w *World) usersAskWho(ctx context.Context, when string) error {
	user, other := w.owner(), w.callerNamed(ctx, target.TheOtherUser)
	callers := []target.Caller{user, other, user, other}
	w.reported = make([]*agent.GraphRun, len(callers))
	if when == "in turn" {
		for i, who := range callers {
			w.reported[i] = common.Given(w.server.RunAlone(ctx, who, agent.Order{Words: agent.Whoami}))
		}
		return nil
	}
	together, leave, err := w.server.Together(ctx, len(callers), agent.Wait, agent.Whoami)
	common.Requires(err)
	defer leave()
	return outcome.AsPrecondition(agent.AtOnce(len(callers), func(i int) (err error) {
		o := agent.Order{Words: agent.Whoami, Hold: w.agents.Hold(0) / 4}
		w.reported[i], err = together.RunAlone(ctx, callers[i], o)
		return err
	}))
}

func (w *World) runReports(what string) error {
	state, user := w.reported[0].Final, w.reported[0].Thread.Owner.User
	said, fields := w.reported[0].Said(), map[string]any{"identity": user.Identity}
	if what == "custom fields" {
		fields = user.Fields
	}
	hint := reportHint
	if slices.ContainsFunc(w.target.Config.Users, func(u config.User) bool {
		return u.Owner() != user.Owner() && messages.ReportsField(said, "identity", u.Owner())
	}) {
		hint = callerHint // that is no mistake of the configuration
	}
	for field, value := range fields {
		if !messages.ReportsField(said, field, value) {
			return outcome.Violated(state, fmt.Sprintf("the user's %s %s", field, messages.InJSON(value)),
				"an answer without it: %s", said).At("/values/messages").Hinting(hint)
		}
	}
	return nil
}

// eachReportsItsOwn looks for what belongs to the other user, by what is known of both and differs. That a run reports
// nothing of its caller is another requirement's concern.
func (w *World) eachReportsItsOwn() error {
	user, other := w.reported[0].Thread.Owner.User, w.reported[1].Thread.Owner.User
	compared, reported := false, false
	for _, g := range w.reported {
		said, of, foreign := g.Said(), g.Thread.Owner.User, other
		if of == other {
			foreign = user
		}
		own := of.Known()
		for field, value := range foreign.Known() {
			text, isText := value.(string)
			byChance := field != "identity" && (!isText || len(text) < unlikely) // others may have it, too
			if value == nil || reflect.DeepEqual(own[field], value) || own[field] == nil && byChance {
				continue
			}
			compared = true
			if own[field] != nil && messages.ReportsField(said, field, own[field]) {
				reported = reported || field == "identity" || own["identity"] == nil
				continue
			}
			if !isText && !messages.DescribesUser(said) {
				continue // a number may stand in any text by chance
			}
			if messages.ReportsField(said, field, value) {
				return outcome.Violated(g.Final, "identity and fields of "+of.Name, "%s %s of %s",
					field, messages.InJSON(value), foreign.Name).At("/values/messages").Hinting(callerHint)
			}
		}
	}
	switch {
	case !compared:
		at := slices.IndexFunc(w.target.Config.Users, func(u config.User) bool { return u.Identity == "" })
		key := fmt.Sprintf("users.%d.identity", max(at, 0))
		return outcome.NotConfigured(key, "not configured: nothing is known in which the two users differ; set %s", key)
	case !reported:
		return outcome.Blocked("the runs do not report their caller (AS-AUTH-6): %q", w.reported[0].Said()).
			ByRequirement("AS-AUTH-6")
	}
	return nil
}

// unlikely is the length in bytes from which a text is not another's by chance.
const unlikely = 12

// unlike makes an id of the same form that nothing has, by its last eight characters, so that a UUID keeps its version:
// a target may check the form of an id before the credentials.
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

// disguised is the answer to a request that is written so that a server may take it for that of somebody else.
type disguised struct {
	answer *exchange.Response
	plain  *exchange.Response // to the same request without a disguise, before it
	owner  string             // the requirement that fails where that is served too
}

// readsDisguised asks for all that the interface shows of a run.
func (w *World) readsDisguised(ctx context.Context, name, how string) {
	who := w.callerNamed(ctx, name)
	owner := map[bool]string{false: "AS-AUTHZ-1", true: "AS-AUTH-1"}[name == target.NoCredentials]
	claim, written, err := w.target.Disguise(how, w.thread.ID, w.current.ID)
	common.Check(err)
	for _, path := range common.Given(w.server.ReadsOf(ctx, w.current)) {
		plain := w.target.ToAgent(w.server.Base, who, http.MethodGet, path, nil)
		request := w.target.ToAgent(w.server.Base, who, http.MethodGet, written(path), nil)
		request.Trusted, request.Renew, request.Wrong = false, nil, true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		d := disguised{plain: common.Given(w.target.Client.Do(ctx, plain)), owner: owner}
		d.answer = common.Must(w.target.Client.Do(ctx, request))
		w.disguised = append(w.disguised, d)
	}
}

// showsNothing takes it that the disguise shows nothing where the same request without it is served too.
func (w *World) showsNothing() error {
	for _, d := range w.disguised {
		switch {
		case w.shows(d.answer) && w.shows(d.plain):
			return outcome.AsPrecondition(nothingOfTheRun(d.plain).ByRequirement(d.owner))
		case w.shows(d.answer):
			return nothingOfTheRun(d.answer)
		}
	}
	return nil
}

func nothingOfTheRun(a *exchange.Response) *outcome.Outcome {
	return outcome.Violated(a, "an HTTP error status, or nothing of the run", "%s", outcome.Seen(a))
}

// shows looks for ids where the interface has them, and for the text of the run: an answer may repeat the path of its
// request.
func (w *World) shows(a *exchange.Response) bool {
	if !a.OK() {
		return false
	}
	for _, row := range append(a.Get("@this").Array(), a.Get("@this")) {
		if row.Get("thread_id").String() == w.thread.ID {
			return true
		}
	}
	return messages.ContainsText(a, w.current.Text()) || a.Get("run_id").String() == w.current.ID
}
