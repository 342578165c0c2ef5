package controlplane

import (
	"context"
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// disguise holds the sentences about requests that are written so that a server may take them for those of somebody else.
type disguise struct {
	*World
	plain []string // the paths of the interface for which the answers were asked
}

// define holds these sentences (section 5).
func (w *disguise) define(r *common.Definitions) {
	r.When(`a client without credentials reads it by paths with (a slash at the end|a doubled slash|capital letters|a path parameter)`, w.readsRespelled)
	r.When(`a client without credentials reads it with (headers that [a-z ]+|a header that overrides the method)`, w.readsClaiming)
	r.Then(`no answer shows anything of the deployment`, w.showsNothing)
}

func (w *disguise) readsRespelled(ctx context.Context, how string) error {
	return w.reads(ctx, nil, func(path string) string { return target.Respelled(path, how, w.Deployment.ID, w.Deployment.First) })
}

func (w *disguise) readsClaiming(ctx context.Context, what string) error {
	claim, err := w.Target.Claim(what)
	if err != nil {
		return err
	}
	return w.reads(ctx, claim, func(path string) string { return path })
}

// reads asks for all that the interface shows of a deployment.
func (w *disguise) reads(ctx context.Context, claim http.Header, written func(path string) string) error {
	id := w.Deployment.ID
	for _, path := range []string{plane.DeploymentPath(id), plane.RevisionsPath(id), plane.RevisionPath(id, w.Deployment.First)} {
		request := w.Target.ToControlPlane(target.Nobody, http.MethodGet, written(path), nil)
		request.Wrong = true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		a, err := w.Do(ctx, request)
		if err != nil {
			return err
		}
		w.Answers, w.plain = append(w.Answers, a), append(w.plain, path)
	}
	return nil
}

// showsNothing compares with the same request without a disguise: where that is served too, the disguise shows nothing.
func (w *disguise) showsNothing(ctx context.Context) error {
	for i, a := range w.Answers {
		if wrong := shown(a); wrong != nil {
			return outcome.Unless(ctx, wrong, func(ctx context.Context) error {
				plain, err := w.Do(ctx, w.Target.ToControlPlane(target.Nobody, http.MethodGet, w.plain[i], nil))
				if o := shown(plain); err == nil && o != nil {
					return o.ByRequirement("CP-AUTH-1")
				}
				return err
			})
		}
	}
	return nil
}

// shown looks for what only these answers have: another one may repeat the path of its request.
func shown(a *client.Answer) *outcome.Outcome {
	for _, member := range []string{"latest_revision_id", "source_revision_config", "resources.0"} {
		if a != nil && a.OK() && a.Get(member).Exists() {
			return outcome.Violated(a, "status 401 or 403, or nothing of the deployment", "%s", outcome.Seen(a)).At("/" + pointerOf(member))
		}
	}
	return nil
}
