package steps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// The callers and what they try, as the sentences name them.
const (
	refusedCallers = `(a caller without credentials|a caller with an unknown token|the other user)`
	anyCaller      = `(the user|the other user|a studio user|a caller without credentials|a caller with (?:an unknown token|an empty token|another scheme|a token that has one more character|a token in the other case))`
	anyAttempt     = anyCaller + ` tries to (create a thread|list the threads|list the threads by the other call|start a run|start a run with rollback|retrieve a run|join a run|read the state|(?:start|retrieve|join|read) .* of an unknown thread)`
	twoUsersAsk    = `two users ask runs who the caller is, (in turn|all at once)`
)

// defineCallers holds the sentences about authentication (sections 5 and 7).
func (w *World) defineCallers(b *book) {
	b.configured(`a detail that the authentication handler gives`, w.aHandlersDetail)
	b.configured(`a user with custom fields`, w.aUserWithFields)
	b.given(`a run in progress on a thread of its own`, w.anOwnRunInProgress)
	b.given(refusedCallers+` was refused (a run|a run with rollback) on it`, w.wasRefusedRun)
	b.requires(refusedCallers+` was refused .*`, w.aConfiguredCaller)
	b.when(anyAttempt, w.callerTries)
	b.requires(anyAttempt, w.aConfiguredCaller)
	b.when(`the user asks a run who the caller is`, w.userAsksWho)
	b.requires(`the user asks a run who the caller is`, anyway(w.aConfiguredUser))
	b.when(twoUsersAsk, w.usersAskWho)
	b.requires(twoUsersAsk, anyway(w.aConfiguredOtherUser))
	b.then(`the caller is refused with the status of the authentication handler`, w.refusedByHandler)
	b.then(`the refusal carries the detail`, w.refusalCarriesDetail)
	b.then(`the run tells the (identity|custom fields) of the user`, w.runTells)
	b.then(`each run tells about its own caller`, w.eachTellsItsOwn)
}

// callerNamed returns the caller that a sentence names. The user always comes first, so that what a target keeps of
// its first caller shows with the others.
func (w *World) callerNamed(ctx context.Context, name string) (caller, error) {
	who, err := w.run.caller(name)
	if err == nil && name == theOtherUser {
		if _, err = w.agent.aQuietRun(ctx); err == nil {
			err = w.agent.otherIsLetIn(ctx, who)
		}
	}
	return who, asPrecondition(err)
}

// aConfiguredCaller and its like skip where the configuration lacks the caller.
func (w *World) aConfiguredCaller(name string) error {
	_, err := w.run.caller(name)
	return err
}

func (w *World) aConfiguredUser() error { return w.aConfiguredCaller(theUser) }

func (w *World) aConfiguredOtherUser() error { return w.aConfiguredCaller(theOtherUser) }

func (w *World) aHandlersDetail() error {
	if w.run.config.Agent.RejectedDetail == "" {
		return needs("agent.rejected_detail")
	}
	return nil
}

func (w *World) aUserWithFields() error {
	if who, err := w.run.caller(theUser); err != nil || len(who.user.Fields) == 0 {
		return needs("users.0.fields")
	}
	return nil
}

func (w *World) anOwnRunInProgress(ctx context.Context) error {
	if err := w.agent.plainRunsWork(ctx); err != nil {
		return err
	}
	return w.aRunInProgress(ctx)
}

// callerTries has the caller do one of the things that an agent server offers, to the run and thread that the
// sentences speak of. Who may start a run gets a thread for it: the run may be shared by scenarios.
func (w *World) callerTries(ctx context.Context, name, operation string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	w.attempted = name
	t, g := w.thread, w.current
	operation, unknown := strings.CutSuffix(operation, " of an unknown thread")
	if unknown {
		t = &thread{id: unlike(t.id), owner: t.owner}
		g = &graphRun{id: g.id, thread: t}
	}
	switch operation {
	case "create a thread":
		made, err := w.agent.createThread(ctx, who, nil)
		if err == nil {
			w.answer = made.answer
		}
		return err
	case "list the threads":
		return w.listThreads(ctx, who, nil)
	case byOtherCall:
		return w.listOtherwise(ctx, who)
	case "start a run", "start a run with rollback":
		if name == theUser {
			if t, err = w.agent.newThread(ctx, who); err != nil {
				return asPrecondition(err)
			}
		}
		return w.tryRun(ctx, who, t, operation)
	case "retrieve a run":
		w.answer, err = w.agent.getRun(ctx, who, g)
	case "join a run":
		w.answer, err = w.agent.joinCompleted(ctx, who, g)
		if none := (*client.NoAnswer)(nil); errors.As(err, &none) && none.Timeout {
			return blocked("the join of a completed run is not answered (AS-RUN-5)")
		}
	case "read the state":
		w.answer, err = w.agent.state(ctx, who, t)
	}
	return err
}

func (w *World) tryRun(ctx context.Context, who caller, t *thread, operation string) error {
	o := order{}
	if strings.HasSuffix(operation, rollbackStrategy) {
		o.strategy = rollbackStrategy
	}
	theirs := *t // whatever becomes of it, the owner's count of runs is not changed
	g, err := w.agent.post(ctx, who, &theirs, o)
	if err == nil {
		w.answer, w.foreign = g.answer, g.text()
	}
	return err
}

// wasRefusedRun needs the refusal: a request that is served is another requirement's concern. While a run is in
// progress the attempt has to come before its end.
func (w *World) wasRefusedRun(ctx context.Context, name, what string) error {
	if len(w.kept) == 0 {
		w.kept = []*graphRun{w.current}
	}
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	inTime := true
	err = w.race(ctx, func(ctx context.Context) (bool, error) {
		if err := w.tryRun(ctx, who, w.thread, what); err != nil {
			return false, err
		}
		if w.prior != nil {
			w.kept = []*graphRun{w.prior.graphRun}
			inTime = w.answer.Sent.Add(w.answer.Took).Before(w.prior.until)
			w.wanted = w.prior.afterLoss()
		}
		return inTime, nil
	})
	switch {
	case err != nil:
		return err
	case !inTime:
		return inconclusive("the run was over before the attempt was refused, in %d attempts", attempts)
	case w.answer.Status < 400:
		return blocked("the attempt was not refused: %s", seen(w.answer))
	}
	return nil
}

// validIsServed blocks where an answer to the user refuses the credentials: that is one requirement's concern,
// whatever was asked for.
func validIsServed(a *client.Answer) error {
	if a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden {
		return blocked("valid credentials are refused (AS-AUTH-5): %s", seen(a))
	}
	return nil
}

func (w *World) refusedByHandler() error {
	a, status := w.answer, w.run.config.Agent.RejectedStatus
	if a.Status != status {
		return violated(a, fmt.Sprintf("status %d", status), "%s", seen(a)).hinting("if the handler chooses another status, set agent.rejected_status")
	}
	return nil
}

func (w *World) refusalCarriesDetail() error {
	a, detail := w.answer, w.run.config.Agent.RejectedDetail
	if a.Status < 400 {
		return blocked("the caller was not refused: %s", seen(a))
	}
	if !saysText(a, detail) {
		return violated(a, fmt.Sprintf("a refusal with the detail %q", detail), "%s", seen(a))
	}
	if found := a.Get("detail"); found.Type != gjson.String {
		w.noted("the detail comes, but not as the detail of a JSON object")
	}
	return nil
}

// introduction is what a run said about who had started it.
type introduction struct {
	of     caller
	text   string
	answer *client.Answer
}

// whoami has the caller ask a run on a thread of its own.
func (s *agentServer) whoami(ctx context.Context, who caller, hold time.Duration) (introduction, error) {
	t, err := s.newThread(ctx, who)
	if err != nil {
		return introduction{}, asPrecondition(err)
	}
	g, err := s.start(ctx, t, order{words: "whoami", hold: hold})
	if err != nil {
		return introduction{}, asPrecondition(err)
	}
	state, err := s.completed(ctx, g)
	if err != nil {
		return introduction{}, asPrecondition(err)
	}
	rest, _ := g.after(messagesOf(state))
	return introduction{who, rest[len(rest)-1].text, state}, nil
}

func (w *World) userAsksWho(ctx context.Context) error {
	who, err := w.run.caller(theUser)
	if err != nil {
		return err
	}
	said, err := w.agent.whoami(ctx, who, 0)
	w.introductions = append(w.introductions, said)
	return err
}

// usersAskWho lets runs that are asked for at once be in progress at the same time.
func (w *World) usersAskWho(ctx context.Context, when string) error {
	user, err := w.run.caller(theUser)
	if err != nil {
		return err
	}
	other, err := w.callerNamed(ctx, theOtherUser)
	if err != nil {
		return err
	}
	callers := []caller{user, other, user, other}
	w.introductions = make([]introduction, len(callers))
	if when == "in turn" {
		for i, who := range callers {
			if w.introductions[i], err = w.agent.whoami(ctx, who, 0); err != nil {
				return err
			}
		}
		return nil
	}
	var wait sync.WaitGroup
	errs := make([]error, len(callers))
	for i, who := range callers {
		wait.Go(func() { w.introductions[i], errs[i] = w.agent.whoami(ctx, who, w.run.pace.hold(0)/4) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (w *World) runTells(what string) error {
	said := w.introductions[0]
	fields := map[string]string{"identity": said.of.user.Identity}
	if what == "custom fields" {
		fields = said.of.user.Fields
	}
	for field, value := range fields {
		if !tells(said.text, field, value) {
			return violated(said.answer, fmt.Sprintf("the user's %s %q", field, value), "%q", said.text).at("/values/messages").
				hinting(w.fieldHint(said.of.user, field))
		}
	}
	return nil
}

// eachTellsItsOwn looks for what belongs to the other user. That a run tells nothing of its caller is another
// requirement's concern.
func (w *World) eachTellsItsOwn() error {
	first, second := w.introductions[0].of.user, w.introductions[1].of.user
	told := false
	for _, said := range w.introductions {
		other := first
		if said.of.user == first {
			other = second
		}
		for field, value := range differing(*other, *said.of.user) {
			if tells(said.text, field, value) && !tells(said.text, field, identifying(*said.of.user)[field]) {
				return violated(said.answer, fmt.Sprintf("what belongs to %s", said.of.user.Name), "%s %q, which belongs to %s", field, value, other.Name).at("/values/messages").
					hinting(w.fieldHint(said.of.user, field) + "; " + w.fieldHint(other, field))
			}
		}
		told = told || tells(said.text, "identity", said.of.user.Identity)
	}
	if !told {
		return blocked("the runs do not tell who their caller is (AS-AUTH-6): %q", w.introductions[0].text)
	}
	return nil
}

// identifying returns what the configuration knows of a user.
func identifying(u config.User) map[string]string {
	all := map[string]string{"identity": u.Identity}
	for field, value := range u.Fields {
		all[field] = value
	}
	return all
}

// differing returns what of the first user differs from the second.
func differing(u, from config.User) map[string]string {
	all, other := identifying(u), identifying(from)
	for field, value := range all {
		if other[field] == value {
			delete(all, field)
		}
	}
	return all
}
