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

// disguise holds the sentences about requests that are written so that a server may take them for those of somebody else.
type disguise struct {
	*World
	answers []*client.Answer
}

// define holds these sentences (section 5).
func (w *disguise) define(r *common.Definitions) {
	r.When(`(a caller without credentials) reads the run by paths with (a slash at the end|a doubled slash|capital letters|a path parameter)`, w.readsRespelled)
	r.When(`(a caller without credentials|the other user) reads the run with (headers that [a-z ]+|a header that overrides the method)`, w.readsClaiming)
	r.Then(`no answer shows anything of the run`, w.showsNothing)
}

func (w *disguise) readsRespelled(ctx context.Context, name, how string) error {
	return w.reads(ctx, name, nil, func(path string) string {
		return target.Respelled(path, how, w.thread.ID, w.current.ID)
	})
}

func (w *disguise) readsClaiming(ctx context.Context, name, what string) error {
	claim, err := w.target.Claim(what)
	if err != nil {
		return err
	}
	return w.reads(ctx, name, claim, func(path string) string { return path })
}

// reads asks for all that the interface shows of a run.
func (w *disguise) reads(ctx context.Context, name string, claim http.Header, written func(path string) string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	paths, err := w.server.ReadsOf(ctx, w.current)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	for _, path := range paths {
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

func (w *disguise) showsNothing() error {
	for _, a := range w.answers {
		if w.shows(a) {
			return outcome.Violated(a, "an HTTP error status, or nothing of the run", "%s", outcome.Seen(a))
		}
	}
	return nil
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
