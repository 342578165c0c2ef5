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

// disguise holds the sentences about requests that are written so that a server may take them for those of somebody else (section 5).
type disguise struct {
	*World
	answers []*client.Answer
	plain   []client.Request // the same ones without a disguise
	listed  bool             // the list of threads without a disguise shows the thread
	owner   string           // the requirement that fails where these are served too
}

func (w *disguise) define(r *common.Definitions) {
	r.When(`(a caller without credentials|the other user) reads the run (?:by paths )?with (.+)`, w.reads)
	r.Then(`no answer shows anything of the run`, w.showsNothing)
}

// reads asks for all that the interface shows of a run.
func (w *disguise) reads(ctx context.Context, name, how string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	claim, written, err := w.target.Disguise(how, w.thread.ID, w.current.ID)
	if err != nil {
		return err
	}
	if w.owner = "AS-AUTHZ-1"; name == target.NoCredentials {
		w.owner = "AS-AUTH-1"
	}
	paths, err := w.server.ReadsOf(ctx, w.current)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	for _, path := range paths {
		w.plain = append(w.plain, w.target.ToAgent(w.server.Base, who, http.MethodGet, path, nil))
		if path == agent.ThreadsPath { // it may be a page, from which newer threads push this one out: it is read before
			before, err := w.target.Client.Do(ctx, w.plain[len(w.plain)-1])
			if err != nil {
				return err
			}
			w.listed = w.shows(before)
		}
		request := w.target.ToAgent(w.server.Base, who, http.MethodGet, written(path), nil)
		request.Trusted, request.Renew, request.Wrong = false, nil, true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		a, err := w.target.Client.Do(ctx, request)
		if err != nil {
			return err
		}
		w.answers = append(w.answers, a)
	}
	return nil
}

// showsNothing compares with the same request without a disguise: where that is served too, the disguise shows nothing.
func (w *disguise) showsNothing(ctx context.Context) error {
	for i, a := range w.answers {
		if w.shows(a) {
			return outcome.Unless(ctx, nothingOfTheRun(a), func(ctx context.Context) error {
				plain, err := w.target.Client.Do(ctx, w.plain[i])
				if err == nil && (w.shows(plain) || w.listed && w.plain[i].Path == agent.ThreadsPath) {
					return nothingOfTheRun(plain).ByRequirement(w.owner)
				}
				return err
			})
		}
	}
	return nil
}

func nothingOfTheRun(a *client.Answer) *outcome.Outcome {
	return outcome.Violated(a, "an HTTP error status, or nothing of the run", "%s", outcome.Seen(a))
}

// shows looks for ids where the interface has them, and for the text of the run: an answer may repeat the path of its request.
func (w *disguise) shows(a *client.Answer) bool {
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
