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
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// extension is a vendor extension: an operation that agent servers in the field have and the interface does not name
// (section 5, items 2 and 6), with the answers to those who have tried it. Only who is served by it is judged.
type extension struct {
	operation spec.Operation
	others    []common.Case      // those who must not be served
	state     *exchange.Response // after their attempts
	owners    *exchange.Response // to the owner of the thread
}

// defineExtensions registers the sentences about vendor extensions.
func (w *World) defineExtensions(r *common.Definitions) {
	r.When(`the other user, a caller without credentials and then the user try the vendor extension (.+)`, w.allTry)
	r.Then(`it serves the user at most`, w.servesUserAtMost)
	r.Then(`the attempts of the others leave the thread unchanged`, w.threadIsUnchanged)
}

// allTry lets the owner come last: the operation may remove the thread. It skips where the target does not have the
// operation. The reason is the same for all operations, so that reports show it once; the scenario names the operation.
func (w *World) allTry(ctx context.Context, id string) error {
	x := &w.extension
	if x.operation = w.target.Collector.Operation(spec.AgentServer, id); x.operation.ID == "" {
		return outcome.SuiteError("spec/agent-server.yaml has no operation %s", id)
	}
	touched := false
	for _, name := range []string{target.TheOtherUser, target.NoCredentials} {
		a := w.tryExtension(ctx, w.callerNamed(ctx, name), w.thread.ID, w.current.ID)
		x.others = append(x.others, common.Case{Answer: a, What: name})
		touched = touched || a.Status < 400
	}
	x.state = common.Must(w.server.State(ctx, w.owner(), w.thread))
	x.owners = w.tryExtension(ctx, w.owner(), w.thread.ID, w.current.ID)
	// its run may have ended before the owner's turn
	touched = touched || w.prior != nil && !time.Now().Before(w.prior.Until())
	switch removes := x.operation.Method == http.MethodDelete && !strings.Contains(x.operation.Path, "{run_id}"); {
	case x.owners.OK() && removes:
		return w.target.Ledger.Tried(reports.LedgerEntry{Kind: evidence.Thread, ID: w.thread.ID, Address: w.server.Base,
			Removed: true})
	case !x.owners.OK() && (touched || !x.state.OK()):
		w.ownerTriesAnother(ctx)
	}
	if !x.owners.OK() {
		return outcome.Inapplicable("vendor extensions",
			"vendor extensions that the target does not serve to the owner of a thread")
	}
	return nil
}

// ownerTriesAnother asks about a thread that nobody has touched.
func (w *World) ownerTriesAnother(ctx context.Context) {
	t := common.Given(w.server.NewThread(ctx, w.owner()))
	var g *agent.GraphRun
	if w.prior != nil {
		g = common.Given(w.server.Start(ctx, t, agent.Order{Hold: w.prior.Order.Hold}))
	} else {
		g = common.Given(w.server.Run(ctx, t, agent.Order{}))
	}
	w.extension.owners = w.tryExtension(ctx, w.owner(), t.ID, g.ID)
}

func (w *World) tryExtension(ctx context.Context, who target.Caller, thread, run string) *exchange.Response {
	x := w.extension.operation
	ids := strings.NewReplacer("/threads/{thread_id}", agent.ThreadPath(thread), "{run_id}", url.PathEscape(run))
	body := x.Example
	if example, is := body.(map[string]any); is && example["assistant_id"] != nil {
		example = maps.Clone(example)
		example["assistant_id"], body = w.target.Config.AssistantID, example
	}
	a, err := w.target.Client.Do(ctx, w.target.ToAgent(w.server.Base, who, x.Method, ids.Replace(x.Path), body))
	var none *exchange.NoResponse
	if errors.As(err, &none) && who.Key == w.owner().Key {
		err = outcome.Inconclusive("the target does not answer the owner of the thread: %s", none.Cause)
	}
	common.Check(err)
	w.scene.Answer = a
	if made := a.Get("thread_id").String(); a.OK() && made != "" && made != thread { // a copy
		common.Check(w.server.NoteThread(ctx, &agent.Thread{ID: made, Owner: who, Answer: a}))
	}
	return a
}

// servesUserAtMost takes a 2xx that an unknown thread gets too for no service, if it holds nothing of the thread.
func (w *World) servesUserAtMost(ctx context.Context) error {
	for _, c := range w.extension.others {
		if c.Answer.Status >= 400 {
			continue
		}
		if who := w.callerNamed(ctx, c.What); who.User != nil && !messages.ContainsText(c.Answer, w.current.Text()) {
			if w.tryExtension(ctx, who, unlike(w.thread.ID), w.current.ID).Status == c.Answer.Status {
				continue
			}
		}
		return c.Violates("an HTTP error status").Comparing(c.Answer, w.extension.owners)
	}
	return nil
}

func (w *World) threadIsUnchanged() error {
	state := w.extension.state
	common.Check(outcome.Want(state.Status != http.StatusNotFound, state, "the thread"))
	return agent.HoldsOnly(state, w.current)
}
