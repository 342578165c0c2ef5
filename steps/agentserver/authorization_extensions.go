package agentserver

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// extensions has a vendor extension, and the responses to the callers that have tried it. An extension is an operation
// that agent servers offer and the interface does not define (section 5, items 2 and 6).
type extensions struct {
	*World
	operation spec.Operation
	others    []common.Case      // requests of callers who must not be served
	state     *exchange.Response // the state after these requests
	owners    *exchange.Response // the response to the owner of the thread
}

// define registers the steps about vendor extensions.
func (w *extensions) define(r *common.Definitions) {
	r.When(`the other user, a caller without credentials and then the user try the vendor extension (.+)`, w.tryAll)
	r.Then(`it returns an HTTP error to all but the user`, w.refusesAllOthers)
	r.Then(`the attempts of the others leave the thread unchanged`, w.threadIsUnchanged)
}

// tryAll sends the request of the owner last, because the operation may remove the thread. It skips the scenario if the
// target does not have the operation. All operations have the same reason, so that reports show it once. The name of the
// scenario contains the operation.
func (w *extensions) tryAll(ctx context.Context, id string) error {
	w.operation = w.target.Collector.Operation(spec.AgentServer, id)
	if w.operation.ID == "" {
		return outcome.SuiteError("spec/agent-server.yaml has no operation %s", id)
	}
	touched, err := w.tryAsOthers(ctx)
	if err != nil {
		return err
	}
	w.state, err = w.server.ReadCompleted(ctx, w.thread, w.current)
	if err != nil {
		return err
	}
	w.owners, err = w.tryExtension(ctx, w.owner(), w.thread.ID, w.current.ID)
	if err != nil {
		return err
	}
	// The run may have ended before the owner's request.
	touched = touched || w.prior != nil && !time.Now().Before(w.prior.Until())
	removes := w.operation.Method == http.MethodDelete && !strings.Contains(w.operation.Path, "{run_id}")
	switch {
	case w.owners.OK() && removes:
		w.noteExtension()
		return w.target.Ledger.Tried(reports.LedgerEntry{Kind: evidence.Thread, ID: w.thread.ID, Address: w.server.Base,
			Removed: true})
	case !w.owners.OK() && (touched || !w.state.OK()):
		if err := w.tryAnotherAsOwner(ctx); err != nil {
			return err
		}
	}
	if !w.owners.OK() {
		return outcome.Inapplicable("vendor extensions",
			"vendor extensions that the target does not serve to the owner of a thread")
	}
	w.noteExtension()
	return nil
}

// noteExtension records the vendor extension that is judged, so that the requirement lists those that the target serves.
func (w *extensions) noteExtension() {
	w.scene.Note(w.operation.Method + " " + w.operation.Path + " is judged")
}

// tryAsOthers sends the requests of the callers who must not be served, and reports whether any was served.
func (w *extensions) tryAsOthers(ctx context.Context) (served bool, err error) {
	for _, name := range []string{target.TheOtherUser, target.NoCredentials} {
		who, err := w.callerNamed(ctx, name)
		if err != nil {
			return false, err
		}
		a, err := w.tryExtension(ctx, who, w.thread.ID, w.current.ID)
		if err != nil {
			return false, err
		}
		w.others = append(w.others, common.Case{Response: a, What: name})
		served = served || a.Status < http.StatusBadRequest
	}
	return served, nil
}

// tryAnotherAsOwner sends the request of the owner for a thread that no other caller has requested.
func (w *extensions) tryAnotherAsOwner(ctx context.Context) error {
	t, err := w.server.NewThread(ctx, w.owner())
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	var g *agent.GraphRun
	if w.prior != nil {
		g, err = w.server.Start(ctx, t, agent.Order{Hold: w.prior.Order.Hold})
	} else {
		g, err = w.server.Run(ctx, t, agent.Order{})
	}
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.owners, err = w.tryExtension(ctx, w.owner(), t.ID, g.ID)
	return err
}

func (w *extensions) tryExtension(ctx context.Context, who target.Caller, thread, run string) (*exchange.Response, error) {
	x := w.operation
	ids := strings.NewReplacer("/threads/{thread_id}", agent.ThreadPath(thread), "{run_id}", url.PathEscape(run))
	body := x.Example
	if example, is := body.(map[string]any); is && example["assistant_id"] != nil {
		example = maps.Clone(example)
		example["assistant_id"], body = w.target.Config.AssistantID, example
	}
	a, err := w.target.Client.Do(ctx, w.target.ToAgent(w.server.Base, who, x.Method, ids.Replace(x.Path), body))
	none, is := errors.AsType[*exchange.NoResponse](err)
	if is && who.Key == w.owner().Key {
		return nil, outcome.Inconclusive("the target does not respond to the owner of the thread: %s", none.Cause)
	}
	if err != nil {
		return nil, err
	}
	w.scene.Response = a
	if made := a.Get("thread_id").String(); a.OK() && made != "" && !exchange.SameID(made, thread) { // a copy
		if err := w.server.NoteThread(ctx, &agent.Thread{ID: made, Owner: who, Response: a}); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// refusesAllOthers judges the responses to all callers except the user. If another caller was served, it compares the
// response with that to the same request for an unknown thread.
func (w *extensions) refusesAllOthers(ctx context.Context) error {
	run := w.current.Value()
	for _, c := range w.others {
		attempt := judge.Attempt{Caller: c.What, Response: c.Response}
		if judge.ExtensionRefuses(attempt, run, w.owners) == nil {
			continue
		}
		who, err := w.callerNamed(ctx, c.What)
		if err != nil {
			return err
		}
		if who.User != nil && !messages.ContainsText(c.Response, run.Text()) {
			attempt.Unknown, err = w.tryExtension(ctx, who, unlike(w.thread.ID), w.current.ID)
			if err != nil {
				return err
			}
		}
		if err := judge.ExtensionRefuses(attempt, run, w.owners); err != nil {
			return err
		}
	}
	return nil
}

func (w *extensions) threadIsUnchanged() error {
	return judge.ThreadIsUnchanged(w.state, w.current.Value())
}
