package controlplane

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
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
	tried     []attempt
}

// attempt is the answer to a request, and whether its body could not be served.
type attempt struct {
	answer *client.Answer
	empty  bool
}

// The operations of the interface, as the sentences name them, and the mistakes in credentials. Each wrong credential is sent alone: a
// valid one beside it is not judged.
const (
	reads      = `retrieve a deployment|list its revisions|list its revisions with a filter and a limit|retrieve a revision`
	operations = `(create a deployment|update a deployment|` + reads + `)`
	nearMiss   = `one character too long|one character too short|changed in its last character|in another case`
)

func (w *access) define(r *common.Definitions) {
	r.Given(`another existing deployment`, func(ctx context.Context) error { return w.Read(ctx, w.Plane.Fixtures.Existing) })
	r.Given(`an existing deployment, or an unknown id`, w.AnIDToAskFor)
	r.Given(`a target that can list its deployments`, w.aTargetThatListsDeployments)
	r.When(`a client without credentials tries to `+operations, func(ctx context.Context, operation string) error {
		return w.try(ctx, target.Nobody, operation)
	})
	r.When(`a client with (an API key that is (?:unknown|empty|whitespace|`+nearMiss+`)) tries to `+operations, w.clientTries)
	r.When(`a client with (a (?:bearer token|tenant ID) that is (?:unknown|empty|whitespace)) tries to `+operations, w.clientTries)
	r.When(`a client with (the token of a user of the agent server) tries to `+operations, w.clientTries)
	r.When(`a client tries each operation with (a (?:bearer token|tenant ID) that is (?:`+nearMiss+`))`, w.clientTriesAll)
	r.When(`a client with the scheme (API Key|Tenant ID|Bearer Auth) tries to `+operations, w.clientWithSchemeTries)
	r.When(`the other tenant tries to (`+reads+`)`, func(ctx context.Context, operation string) error {
		w.asker, w.operation = target.AnotherTenant, operation
		return w.try(ctx, target.AnotherTenant, operation)
	})
	r.When(`a client with (no credentials|an unknown API key) tries to update its source`, w.unauthorizedUpdates)
	r.When(`the other tenant tries to update its source`, func(ctx context.Context) error {
		w.asker, w.operation = target.AnotherTenant, "update a deployment"
		return w.unauthorizedUpdates(ctx, string(target.AnotherTenant))
	})
	r.When(`a client with (no credentials|an unknown API key) tries to create a deployment with a unique name`, w.unauthorizedCreates)
	r.When(`a client with (no credentials|an unknown API key) retrieves it and an unknown deployment`, w.unauthorizedRetrievesBoth)
	r.Then(`the request is refused with 401 or 403`, w.refusedForCredentials)
	r.Then(`each request is refused with 401 or 403`, w.eachRefused)
	r.Then(`both requests are refused with the same status`, w.sameStatus)
	r.Then(`the answer has the status for an unknown deployment`, w.asForUnknown)
	r.Then(`no deployment with that name is listed`, w.noDeploymentWithName)
	(&disguise{World: w.World}).define(r)
}

func (w *access) aTargetThatListsDeployments(ctx context.Context) error {
	_, supported, err := w.Plane.ListDeployments(ctx, w.Target.Name("none"))
	if err == nil && !supported {
		return outcome.Inapplicable("GET /v2/deployments", "the target does not list deployments (the interface does not require it), so a deployment that was created in spite of the refusal cannot be found")
	}
	return err
}

// try has the asker do one of the five operations of the interface to the deployment.
func (w *access) try(ctx context.Context, who target.Asker, operation string) error {
	d := w.Deployment
	request := w.Target.ToControlPlane(who, http.MethodGet, map[string]string{"retrieve a deployment": plane.DeploymentPath(d.ID),
		"list its revisions": plane.RevisionsPath(d.ID), "retrieve a revision": plane.RevisionPath(d.ID, d.First)}[operation], nil)
	switch operation {
	case "list its revisions with a filter and a limit":
		request = w.Target.ToControlPlane(who, http.MethodGet, plane.RevisionsPath(d.ID), nil)
		request.Query = "status=DEPLOYED&limit=1"
	case "create a deployment":
		return w.tryCreate(ctx, who)
	case "update a deployment": // without a new source it makes no revision, whoever may do it
		request = w.Target.ToControlPlane(who, http.MethodPatch, plane.DeploymentPath(w.IdToWrite()), plane.SourceUpdate(map[string]any{}))
	}
	_, err := w.Do(ctx, request)
	return err
}

// tryCreate enters what is created in the ledger, also where it should not have been.
func (w *access) tryCreate(ctx context.Context, who target.Asker) error {
	allowed := who == target.TheClient || target.IsScheme(who)
	if allowed {
		if err := w.Plane.TakeDeployment(ctx); err != nil {
			return err
		}
	}
	d := &plane.Deployment{Body: w.Plane.Sources.Body(w.Target.Name("access"), nil)}
	request := w.Target.ToControlPlane(who, http.MethodPost, plane.DeploymentsPath, d.Body)
	if w.empty = w.CanCreate() != nil; w.empty {
		request = w.Target.ToControlPlane(who, http.MethodPost, plane.DeploymentsPath, map[string]any{})
		request.Wrong = true
	}
	a, err := w.Do(ctx, request)
	if err == nil && (a.OK() || a.Get("id").String() != "") {
		_ = w.Plane.NoteCreated(ctx, d, a) // what is wrong with the answer is another requirement's concern
	}
	return err
}

// clientTries has a client with the credentials that the sentence names try the operation.
func (w *access) clientTries(ctx context.Context, credentials, operation string) error {
	if err := w.isWrong(credentials); err != nil {
		return err
	}
	return w.try(ctx, target.Asker(credentials), operation)
}

func (w *access) clientTriesAll(ctx context.Context, credentials string) error {
	for operation := range strings.SplitSeq(strings.Trim(operations, "()"), "|") {
		if err := w.clientTries(ctx, credentials, operation); err != nil {
			return err
		}
		w.tried = append(w.tried, attempt{w.Scene.Answer, w.empty})
	}
	return nil
}

// isWrong skips where the mistake of a near miss changes nothing in the credential.
func (w *access) isWrong(credentials string) error {
	credential, kind, _ := strings.Cut(credentials, " that is ")
	scheme := map[string]string{"an API key": target.SchemeAPIKey, "a tenant ID": target.SchemeTenantID, "a bearer token": target.SchemeBearer}[credential]
	if w.Target.IsSame(scheme, kind) {
		_, key := w.Target.Credential(scheme)
		return outcome.Inapplicable(key, "the "+scheme+" is the same with this mistake: it is too short, or has no letters that have a case")
	}
	return nil
}

func (w *access) clientWithSchemeTries(ctx context.Context, scheme, operation string) error {
	w.operation, w.Scene.Served = operation, w.schemeOpens
	err := w.try(ctx, target.Asker(scheme), operation)
	if err == nil && operation == "update a deployment" && w.Scene.Answer.Refused() && w.refusedForCredentials() != nil {
		if err := w.Plane.Settle(ctx, w.Deployment.ID); err != nil { // it may be busy with its first revision
			return err
		}
		err = w.try(ctx, target.Asker(scheme), operation)
	}
	return err
}

func (w *access) unauthorizedUpdates(ctx context.Context, who string) error {
	change := w.Plane.Sources.Next(1)
	_, err := w.Do(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodPatch, plane.DeploymentPath(w.Deployment.ID), plane.SourceUpdate(change)))
	return err
}

func (w *access) unauthorizedCreates(ctx context.Context, who string) error {
	w.name = w.Target.Name("refused")
	_, err := w.Do(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodPost, plane.DeploymentsPath, w.Plane.Sources.Body(w.name, nil)))
	return err
}

func (w *access) unauthorizedRetrievesBoth(ctx context.Context, who string) error {
	for _, id := range []string{w.Deployment.ID, target.UnknownID()} {
		a, err := w.Do(ctx, w.Target.ToControlPlane(target.Asker(who), http.MethodGet, plane.DeploymentPath(id), nil))
		if err != nil {
			return err
		}
		w.Answers = append(w.Answers, a)
	}
	return nil
}

// refusedForCredentials does not judge a refusal of the empty object: a target may look at the body first.
func (w *access) refusedForCredentials() error {
	a := w.Scene.Answer
	if w.empty && a.Refused() && a.Status != http.StatusUnauthorized && a.Status != http.StatusForbidden {
		return outcome.NotConfigured("create.body", "the empty object was refused with status %d before the credentials were checked: set create.body", a.Status)
	}
	return outcome.Want(slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, a.Status), a, "status 401 or 403")
}

// schemeOpens wants the request to be served. Where it is not, and not because of the credentials, the answer to the
// request with all credentials tells whether the scheme is the cause.
func (w *access) schemeOpens(ctx context.Context) error {
	a := w.Scene.Answer
	if a.OK() {
		return nil
	}
	if w.refusedForCredentials() != nil {
		ctx = plane.WithAllowance(ctx, "the request with all credentials", plane.Cost{Deployments: 1}, nil) // the one that was not served
		if err := w.try(ctx, target.TheClient, w.operation); err != nil {
			return err
		}
		if !w.Scene.Answer.OK() {
			return outcome.Inconclusive("the request fails with all configured credentials too: %s", outcome.Seen(w.Scene.Answer))
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
		return outcome.Violated(existing, "the same status for both", "status %d for the existing deployment and %d for an unknown one", existing.Status, unknown.Status).Comparing(existing, unknown)
	}
	return nil
}

// asForUnknown compares with the answer to the same asker for an unknown deployment.
func (w *access) asForUnknown(ctx context.Context) error {
	a, known := w.Scene.Answer, w.Deployment
	w.Deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
	if err := w.try(ctx, w.asker, w.operation); err != nil {
		return err
	}
	if a.Status != w.Scene.Answer.Status || a.OK() && strings.Contains(string(a.Body), known.First) {
		return outcome.Violated(a, "the answer for an unknown deployment, status "+strconv.Itoa(w.Scene.Answer.Status), "%s", outcome.Seen(a)).Comparing(a, w.Scene.Answer)
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

func (w *access) eachRefused() error {
	return common.Each(w.tried, func(at attempt) error {
		w.Scene.Answer, w.empty = at.answer, at.empty
		return w.refusedForCredentials()
	})
}

// disguise holds the sentences about requests that are written so that a server may take them for those of somebody else (section 5).
type disguise struct {
	*World
	plain []string // the paths of the interface for which the answers were asked
}

func (w *disguise) define(r *common.Definitions) {
	r.When(`a client without credentials reads it (?:by paths )?with (.+)`, w.reads)
	r.Then(`no answer shows anything of the deployment`, w.showsNothing)
}

// reads asks for all that the interface shows of a deployment.
func (w *disguise) reads(ctx context.Context, how string) error {
	claim, written, err := w.Target.Disguise(how, w.Deployment.ID, w.Deployment.First)
	if err != nil {
		return err
	}
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
