package agentserver

import (
	"context"
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// disguised is a request that is written so that a server may take it for that of somebody else.
type disguised struct {
	answer *client.Answer
	plain  client.Request // the same one without a disguise
	listed bool           // the list of threads without a disguise shows the thread
	owner  string         // the requirement that fails where that is served too
}

// defineDisguise registers the sentences about disguised requests (section 5).
func (w *World) defineDisguise(r *common.Definitions) {
	r.When(`(a caller without credentials|the other user) reads the run (?:by paths )?with (.+)`, w.readsDisguised)
	r.Then(`no answer shows anything of the run`, w.showsNothing)
}

// readsDisguised asks for all that the interface shows of a run.
func (w *World) readsDisguised(ctx context.Context, name, how string) {
	who := w.callerNamed(ctx, name)
	claim, written, err := w.target.Disguise(how, w.thread.ID, w.current.ID)
	common.Check(err)
	for _, path := range common.Given(w.server.ReadsOf(ctx, w.current)) {
		d := disguised{plain: w.target.ToAgent(w.server.Base, who, http.MethodGet, path, nil), owner: "AS-AUTHZ-1"}
		if name == target.NoCredentials {
			d.owner = "AS-AUTH-1"
		}
		if path == agent.ThreadsPath { // it may be a page, from which newer threads push this one out: it is read before
			d.listed = w.shows(common.Must(w.target.Client.Do(ctx, d.plain)))
		}
		request := w.target.ToAgent(w.server.Base, who, http.MethodGet, written(path), nil)
		request.Trusted, request.Renew, request.Wrong = false, nil, true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		d.answer = common.Must(w.target.Client.Do(ctx, request))
		w.disguised = append(w.disguised, d)
	}
}

// showsNothing compares with the same request without a disguise: where that is served too, the disguise shows nothing.
func (w *World) showsNothing(ctx context.Context) error {
	for _, d := range w.disguised {
		if !w.shows(d.answer) {
			continue
		}
		plain := common.Given(w.target.Client.Do(ctx, d.plain))
		if d.listed || w.shows(plain) {
			return outcome.AsPrecondition(nothingOfTheRun(plain).ByRequirement(d.owner))
		}
		return nothingOfTheRun(d.answer)
	}
	return nil
}

func nothingOfTheRun(a *client.Answer) *outcome.Outcome {
	return outcome.Violated(a, "an HTTP error status, or nothing of the run", "%s", outcome.Seen(a))
}

// shows looks for ids where the interface has them, and for the text of the run: an answer may repeat the path of its
// request.
func (w *World) shows(a *client.Answer) bool {
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
