package agentserver

import (
	"context"
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// disguised is the answer to a request that is written so that a server may take it for that of somebody else.
type disguised struct {
	answer *client.Answer
	plain  *client.Answer // to the same request without a disguise, before it
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
