package controlplane

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// access holds the sentences about authentication at the control plane (section 5).
type access struct {
	*World
	asker     target.Asker // who sent the request
	operation string       // what for
	name      string       // of the deployment that was to be refused
	empty     bool         // what was sent has no body that could be served
}

// The operations of the interface, as the sentences name them, and the mistakes in credentials. Each wrong credential
// is sent alone: a valid one beside it is not judged.
const (
	reads = `retrieve a deployment|list its revisions|list its revisions with a filter and a limit|` +
		`retrieve a revision`
	operations = `(create a deployment|update a deployment|` + reads + `)`
	nearMiss   = `one character too long|one character too short|changed in its last character|in another case`
)

func (w *access) define(r *common.Definitions) {
	r.Given(`another existing deployment`, w.existing(w.Plane.Fixtures.Existing))
	r.Given(`an existing deployment, or an unknown id`, w.anIDToAskFor)
	r.Given(`a target that can list its deployments`, w.aTargetThatListsDeployments)
	r.When(`a client without credentials tries to `+operations, func(ctx context.Context, operation string) {
		w.try(ctx, target.Nobody, operation)
	})
	r.When(`a client with (an API key that is (?:unknown|empty|whitespace|`+nearMiss+`)) tries to `+operations,
		w.clientTries)
	r.When(`a client with (a (?:bearer token|tenant ID) that is (?:unknown|empty|whitespace)) tries to `+operations,
		w.clientTries)
	r.When(`a client with (the token of a user of the agent server) tries to `+operations, w.clientTries)
	r.When(`a client tries each operation with (a (?:bearer token|tenant ID) that is (?:`+nearMiss+`))`, w.clientTriesAll)
	r.When(`a client with the scheme (API Key|Tenant ID|Bearer Auth) tries to `+operations, w.clientWithSchemeTries)
	r.When(`the other tenant tries to (`+reads+`)`, func(ctx context.Context, operation string) {
		w.asker, w.operation = target.AnotherTenant, operation
		w.try(ctx, target.AnotherTenant, operation)
	})
	r.When(`a client with (no credentials|an unknown API key) tries to update its source`, w.unauthorizedUpdates)
	r.When(`the other tenant tries to update its source`, func(ctx context.Context) {
		w.asker, w.operation = target.AnotherTenant, "update a deployment"
		w.unauthorizedUpdates(ctx, string(target.AnotherTenant))
	})
	r.When(`a client with (no credentials|an unknown API key) tries to create a deployment with a unique name`,
		w.unauthorizedCreates)
	r.When(`a client with (no credentials|an unknown API key) retrieves it and an unknown deployment`,
		w.unauthorizedRetrievesBoth)
	r.When(`a client without credentials reads it (?:by paths )?with (.+)`, w.readsInDisguise)
	r.Then(`the request is refused with 401 or 403`, func() error {
		return w.refusedForCredentials(w.Scene.Answer, w.empty)
	})
	r.Then(`each request is refused with 401 or 403`, func() error {
		return common.Each(w.tried, func(t tried) error { return w.refusedForCredentials(t.answer, w.empty) })
	})
	r.Then(`both requests are refused with the same status`, w.sameStatus)
	r.Then(`the answer has the status for an unknown deployment`, w.asForUnknown)
	r.Then(`no deployment with that name is listed`, w.noDeploymentWithName)
	r.Then(`no answer shows anything of the deployment`, w.showsNothing)
}

// anIDToAskFor is that of a deployment where there is one that can be read: what nobody may do is tried with any.
func (w *access) anIDToAskFor(ctx context.Context) {
	if w.Plane.Existing.Readable(1) != nil {
		w.Deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
		return
	}
	w.existing(w.Plane.Fixtures.Existing)(ctx)
}

func (w *access) aTargetThatListsDeployments(ctx context.Context) error {
	_, supported, err := w.Plane.Named(ctx, w.Target.Name("none"))
	if err == nil && !supported {
		return outcome.Inapplicable("GET /v2/deployments", "the target does not list deployments (the interface does not "+
			"require it), so a deployment that was created in spite of the refusal cannot be found")
	}
	return err
}

// try has the asker do one of the five operations of the interface to the deployment.
func (w *access) try(ctx context.Context, who target.Asker, operation string) {
	id, method, path, query, body := w.Deployment.ID, http.MethodGet, "", "", any(nil)
	switch operation {
	case "retrieve a deployment":
		path = plane.DeploymentPath(id)
	case "list its revisions":
		path = plane.RevisionsPath(id)
	case "list its revisions with a filter and a limit":
		path, query = plane.RevisionsPath(id), "status=DEPLOYED&limit=1"
	case "retrieve a revision":
		path = plane.RevisionPath(id, w.Deployment.First)
	case "create a deployment":
		w.tryCreate(ctx, who)
		return
	case "update a deployment": // without a new source it makes no revision, whoever may do it
		if w.CanCreate() != nil { // what was there before the run is not put at risk
			id = target.UnknownID()
		}
		method, path, body = http.MethodPatch, plane.DeploymentPath(id), plane.SourceUpdate(map[string]any{})
	}
	request := w.Target.ToControlPlane(who, method, path, body)
	request.Query = query
	w.send(ctx, request)
}

// tryCreate enters what is created in the ledger, also where it should not have been.
func (w *access) tryCreate(ctx context.Context, who target.Asker) {
	if who == target.TheClient || target.IsScheme(who) {
		common.Check(w.Plane.TakeDeployment(ctx))
	}
	d := &plane.Deployment{Body: map[string]any{}}
	if w.empty = w.CanCreate() != nil; !w.empty {
		d.Body = w.Plane.Sources.Body(w.Target.Name("access"), nil)
	}
	request := w.Target.ToControlPlane(who, http.MethodPost, plane.DeploymentsPath, d.Body)
	request.Wrong = w.empty
	w.creates(ctx, request, d)
}

// clientTries has a client with the credentials that the sentence names try the operation. It skips where the mistake
// of a near miss changes nothing in the credential.
func (w *access) clientTries(ctx context.Context, credentials, operation string) error {
	if scheme, key, isSame := w.Target.IsSame(target.Asker(credentials)); isSame {
		return outcome.Inapplicable(key,
			"the %s is the same with this mistake: it is too short, or has no letters that have a case", scheme)
	}
	w.try(ctx, target.Asker(credentials), operation)
	return nil
}

func (w *access) clientTriesAll(ctx context.Context, credentials string) {
	for operation := range strings.SplitSeq(strings.Trim(operations, "()"), "|") {
		common.Check(w.clientTries(ctx, credentials, operation))
		w.tried = append(w.tried, tried{answer: w.Scene.Answer})
	}
}

func (w *access) clientWithSchemeTries(ctx context.Context, scheme, operation string) {
	w.operation, w.Scene.Served = operation, w.schemeOpens
	w.try(ctx, target.Asker(scheme), operation)
	a := w.Scene.Answer
	if operation == "update a deployment" && a.Refused() && w.refusedForCredentials(a, false) != nil {
		common.Check(w.Plane.Settle(ctx, w.Deployment.ID)) // it may be busy with its first revision
		w.try(ctx, target.Asker(scheme), operation)
	}
}

func (w *access) unauthorizedUpdates(ctx context.Context, who string) {
	w.send(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodPatch, plane.DeploymentPath(w.Deployment.ID),
		plane.SourceUpdate(w.Plane.Sources.Next(1))))
}

func (w *access) unauthorizedCreates(ctx context.Context, who string) {
	w.name = w.Target.Name("refused")
	w.send(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodPost, plane.DeploymentsPath,
		w.Plane.Sources.Body(w.name, nil)))
}

func (w *access) unauthorizedRetrievesBoth(ctx context.Context, who string) {
	for _, id := range []string{w.Deployment.ID, target.UnknownID()} {
		w.send(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodGet, plane.DeploymentPath(id), nil))
	}
}

// refusedForCredentials does not judge a refusal of the empty object: a target may look at the body first.
func (w *access) refusedForCredentials(a *client.Answer, empty bool) error {
	isRefused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
	if empty && a.Refused() && !isRefused {
		return outcome.NotConfigured("create.body", "the empty object was refused with status %d before the credentials "+
			"were checked: set create.body", a.Status)
	}
	return outcome.Want(isRefused, a, "status 401 or 403")
}

// schemeOpens wants the request to be served. Where it is not, and not because of the credentials, the answer to the
// request with all credentials tells whether the scheme is the cause.
func (w *access) schemeOpens(ctx context.Context) error {
	a := w.Scene.Answer
	if a.OK() {
		return nil
	}
	if w.refusedForCredentials(a, w.empty) != nil {
		one := plane.Cost{Deployments: 1} // the one that was not served
		ctx = plane.WithAllowance(ctx, "the request with all credentials", one, nil)
		w.try(ctx, target.TheClient, w.operation)
		if all := w.Scene.Answer; !all.OK() {
			return outcome.Inconclusive("the request fails with all configured credentials too: %s", outcome.Seen(all))
		}
	}
	return outcome.Violated(a, "status 2xx", "%s", outcome.Seen(a))
}

func (w *access) sameStatus() error {
	existing, unknown := w.Answers[0], w.Answers[1]
	if existing.OK() {
		return outcome.Blocked("the request was not refused: %s", outcome.Seen(existing))
	}
	if existing.Status != unknown.Status {
		return outcome.Violated(existing, "the same status for both",
			"status %d for the existing deployment and %d for an unknown one", existing.Status, unknown.Status).
			Comparing(existing, unknown)
	}
	return nil
}

// asForUnknown compares with the answer to the same asker for an unknown deployment.
func (w *access) asForUnknown(ctx context.Context) error {
	a, known := w.Scene.Answer, w.Deployment
	w.Deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
	w.try(ctx, w.asker, w.operation)
	unknown := w.Scene.Answer
	if a.Status != unknown.Status || a.OK() && strings.Contains(string(a.Body), known.First) {
		expected := fmt.Sprintf("the answer for an unknown deployment, status %d", unknown.Status)
		return outcome.Violated(a, expected, "%s", outcome.Seen(a)).Comparing(a, unknown)
	}
	return nil
}

func (w *access) noDeploymentWithName(ctx context.Context) error {
	supported, err := w.noneNamed(ctx, w.name, w.Scene.Answer)
	if err == nil && !supported {
		return outcome.Inconclusive("the list of deployments is no longer answered with 2xx")
	}
	return err
}

// readsInDisguise asks for all that the interface shows of a deployment, by requests that a server may take for those
// of somebody else.
func (w *access) readsInDisguise(ctx context.Context, how string) {
	id := w.Deployment.ID
	claim, written, err := w.Target.Disguise(how, id, w.Deployment.First)
	common.Check(err)
	paths := []string{plane.DeploymentPath(id), plane.RevisionsPath(id), plane.RevisionPath(id, w.Deployment.First)}
	for _, path := range paths {
		request := w.Target.ToControlPlane(target.Nobody, http.MethodGet, written(path), nil)
		request.Wrong = true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		w.send(ctx, request)
	}
}

// showsNothing looks for what only these answers have: another one may repeat the path of its request.
func (w *access) showsNothing() error {
	for _, a := range w.Answers {
		members := []string{"latest_revision_id", "source_revision_config", "resources.0"}
		shown := slices.IndexFunc(members, func(member string) bool { return a.OK() && a.Get(member).Exists() })
		if shown >= 0 {
			return outcome.Violated(a, "status 401 or 403, or nothing of the deployment", "%s", outcome.Seen(a)).
				At(inPointer(members[shown]))
		}
	}
	return nil
}
