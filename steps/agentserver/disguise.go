package agentserver

import (
	"context"
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// disguises has the responses to reads that a server may attribute to another caller.
type disguises struct {
	*World
	responses []judge.Disguised
}

// define registers the steps about headers and paths that must not replace credentials (section 5).
func (w *disguises) define(r *common.Definitions) {
	r.When(`(a caller without credentials|the other user) reads the run (?:by paths )?with (.+)`, w.readDisguised)
	r.Then(`no response shows anything of the run`, func() error {
		return judge.DisguisesShowNothing(w.responses, w.thread.ID, w.current.Value())
	})
}

// ownerOfRead returns the requirement that fails if the server shows the path to a caller that must not see the run.
func ownerOfRead(caller, path string) string {
	switch {
	case caller == target.NoCredentials:
		return "AS-AUTH-1"
	case path == agent.ThreadsPath:
		return "AS-AUTHZ-3"
	}
	return "AS-AUTHZ-1"
}

// readDisguised sends each read of a run twice: first unchanged, then disguised with the headers or the spelling of the
// scenario.
func (w *disguises) readDisguised(ctx context.Context, name, how string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	paths, err := w.server.ReadsOf(ctx, w.current)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	disguise, err := w.disguise(ctx, how, paths)
	if err != nil {
		return err
	}
	for _, path := range paths {
		forms := disguise.Paths(path)
		if len(forms) == 0 {
			continue
		}
		plain, err := w.target.Client.Do(ctx, w.target.ToAgent(w.server.Base, who, http.MethodGet, path, nil))
		if err != nil {
			return outcome.AsPrecondition(unlessJoinHangs(err))
		}
		for _, form := range forms {
			request := w.target.ToAgent(w.server.Base, who, http.MethodGet, form, nil)
			request.Trusted, request.Renew = false, nil
			request.Wrong, request.Dotted = true, true // only what the response shows is judged
			maps.Copy(request.Header, disguise.Claim)
			a, err := w.target.Client.Do(ctx, request)
			if exchange.IsClosed(err) { // a gateway may close the connection
				continue
			}
			if err != nil {
				return err
			}
			w.responses = append(w.responses, judge.Disguised{Response: a, Plain: plain, Owner: ownerOfRead(name, path)})
		}
	}
	return nil
}

// disguise returns the disguise that a step names. For cookies it first reads the paths as the user.
func (w *disguises) disguise(ctx context.Context, how string, paths []string) (target.Disguise, error) {
	if how != target.ReturnedCookie {
		return w.target.Disguise(how, w.thread.ID, w.current.ID)
	}
	var served []*exchange.Response
	for _, path := range paths {
		a, err := w.target.Client.Do(ctx, w.target.ToAgent(w.server.Base, w.owner(), http.MethodGet, path, nil))
		if err != nil {
			return target.Disguise{}, outcome.AsPrecondition(unlessJoinHangs(err))
		}
		served = append(served, a)
	}
	return w.target.WithCookiesOf(served...)
}
