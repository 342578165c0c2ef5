package controlplane

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// The mistakes in credentials, as the sentences name them. Each wrong credential is sent alone: a valid one beside it
// is not judged.
const (
	noCredential = `unknown|empty|whitespace`
	nearMiss     = `one character too long|one character too short|changed in its last character|in another case`
)

// defineAccess registers the sentences about authentication at the control plane (section 5).
func (w *World) defineAccess(r *common.Definitions) {
	r.Given(`another existing deployment`, w.existing(w.plane.Fixtures.Existing))
	r.Given(`an existing deployment, or an unknown id`, w.anIDToAskFor)
	r.Given(`a target that can list its deployments`, w.aTargetThatListsDeployments)
	r.When(`(?:a client with )?(no credentials|an unknown API key|an API key that is (?:`+noCredential+`|`+nearMiss+`)|`+
		`a (?:bearer token|tenant ID) that is (?:`+noCredential+`)|the token of a user of the agent server|`+
		`the other tenant) tries to (`+operations+`|update its source)(?: with a unique name)?`, w.clientTries)
	r.When(`a client tries each operation with (a (?:bearer token|tenant ID) that is (?:`+nearMiss+`))`, w.clientTriesAll)
	r.When(`a client with the scheme (API Key|Tenant ID|Bearer Auth) tries to (`+operations+`)`,
		w.clientWithSchemeTries)
	r.When(`a client with no credentials reads it (?:by paths )?with (.+)`, w.readsInDisguise)
	r.Then(`the request is refused with 401 or 403`, func() error {
		return w.refusedForCredentials(w.scene.Answer)
	})
	r.Then(`each request is refused with 401 or 403`, func() error {
		return common.Each(w.answers, w.refusedForCredentials)
	})
	r.Then(`the refusal has the status for an unknown deployment`, w.refusedAsUnknown)
	r.Then(`the answer has the status for an unknown deployment`, w.asForUnknown)
	r.Then(`no answer shows anything of the deployment`, w.showsNothing)
}

// unknown is a deployment that nobody has created, with a revision that it does not have.
func unknown() *plane.Deployment {
	return &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
}

// anIDToAskFor is that of a deployment where there is one that can be read: what nobody may do is tried with any.
func (w *World) anIDToAskFor(ctx context.Context) {
	if w.plane.Existing.Readable(1) != nil {
		w.Deployment = unknown()
		return
	}
	common.Check(w.existing(w.plane.Fixtures.Existing)(ctx))
}

func (w *World) aTargetThatListsDeployments(ctx context.Context) error {
	_, supported, err := w.plane.Named(ctx, w.target.Name("none"))
	if w.listed = supported; err == nil && !supported {
		return outcome.Inapplicable("GET /v2/deployments", "the target does not list deployments (the interface does not "+
			"require it), so a deployment that was created in spite of the refusal cannot be found")
	}
	return err
}

// try has the asker send one of the operations of the interface to the deployment.
func (w *World) try(ctx context.Context, who target.Asker, operation string) {
	w.asker, w.operation = who, operation
	d := w.Deployment
	switch {
	case operation == "create a deployment":
		w.tryCreate(ctx, who)
		return
	case operation == "update a deployment" && w.canCreate() != nil:
		d = unknown() // what was there before the run is not put at risk
	}
	common.Check(w.send(ctx, w.request(who, operation, d)))
}

// tryCreate enters what is created in the ledger, also where it should not have been.
func (w *World) tryCreate(ctx context.Context, who target.Asker) {
	if who == target.TheClient || target.IsScheme(who) {
		common.Check(w.plane.TakeDeployment(ctx))
	}
	d, isWrong := &plane.Deployment{Body: map[string]any{}}, w.canCreate() != nil
	if !isWrong {
		d.Body = w.plane.Sources.Body(w.target.Name("access"), nil)
	}
	w.creates(ctx, who, d, d.Body, isWrong)
}

// clientTries has a client with the credentials that the sentence names try the operation. It skips where the mistake
// of a near miss changes nothing in the credential.
func (w *World) clientTries(ctx context.Context, credentials, operation string) error {
	if scheme, key, isSame := w.target.IsSame(target.Asker(credentials)); isSame {
		return outcome.Inapplicable(key,
			"the %s is the same with this mistake: it is too short, or has no letters that have a case", scheme)
	}
	w.try(ctx, target.Asker(credentials), operation)
	return nil
}

func (w *World) clientTriesAll(ctx context.Context, credentials string) {
	for operation := range strings.SplitSeq(operations, "|") {
		common.Check(w.clientTries(ctx, credentials, operation))
	}
}

func (w *World) clientWithSchemeTries(ctx context.Context, scheme, operation string) {
	w.scene.Served = w.schemeOpens
	w.try(ctx, target.Asker(scheme), operation)
	a := w.scene.Answer
	if operation == "update a deployment" && a.IsRefused() && w.refusedForCredentials(a) != nil {
		common.Check(w.plane.Settle(ctx, w.Deployment.ID)) // it may be busy with its first revision
		w.try(ctx, target.Asker(scheme), operation)
	}
}

// refusedForCredentials does not judge a refusal of the empty object, which is sent where no deployment can be created:
// a target may look at the body first.
func (w *World) refusedForCredentials(a *exchange.Response) error {
	isRefused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden
	isEmpty := a.Request.Method == http.MethodPost && w.canCreate() != nil
	if isEmpty && a.IsRefused() && !isRefused {
		return outcome.NotConfigured("create.body", "the empty object was refused with status %d before the credentials "+
			"were checked: set create.body", a.Status)
	}
	return outcome.Want(isRefused, a, "status 401 or 403")
}

// schemeOpens wants the request to be served. Where it is not, and not because of the credentials, the answer to the
// request with all credentials tells whether the scheme is the cause.
func (w *World) schemeOpens(ctx context.Context) error {
	a := w.scene.Answer
	if a.OK() {
		return nil
	}
	if w.refusedForCredentials(a) != nil {
		one := &plane.Allowance{What: "the request with all credentials", Cost: plane.Cost{Deployments: 1}}
		ctx = one.Within(ctx) // beside the one that was not served
		w.try(ctx, target.TheClient, w.operation)
		if all := w.scene.Answer; !all.OK() {
			return outcome.Inconclusive("the request fails with all configured credentials too: %s", outcome.Seen(all))
		}
	}
	return outcome.Want(false, a, "status 2xx")
}

// refusedAsUnknown has nothing to compare where the request was served.
func (w *World) refusedAsUnknown(ctx context.Context) error {
	if a := w.scene.Answer; a.OK() {
		return outcome.Blocked("the request was not refused: %s", outcome.Seen(a))
	}
	return w.asForUnknown(ctx)
}

// asForUnknown compares with the answer to the same asker for an unknown deployment.
func (w *World) asForUnknown(ctx context.Context) error {
	a, known := w.scene.Answer, w.Deployment
	w.Deployment = unknown()
	w.try(ctx, w.asker, w.operation)
	unknown := w.scene.Answer
	if a.Status != unknown.Status || a.OK() && strings.Contains(string(a.Body), known.First) {
		expected := fmt.Sprintf("the answer for an unknown deployment, status %d", unknown.Status)
		return outcome.Violated(a, expected, "%s", outcome.Seen(a)).Comparing(a, unknown)
	}
	return nil
}

// readsInDisguise reads a deployment by requests that a server may take for those of somebody else.
func (w *World) readsInDisguise(ctx context.Context, how string) {
	d := w.Deployment
	claim, written, err := w.target.Disguise(how, d.ID, d.First)
	common.Check(err)
	for _, operation := range []string{"retrieve a deployment", "list its revisions", "retrieve a revision"} {
		request := w.request(target.Nobody, operation, d)
		request.Path, request.Wrong = written(request.Path), true // nothing but what it shows is judged
		maps.Copy(request.Header, claim)
		common.Check(w.send(ctx, request))
	}
}

// showsNothing looks for what only these answers have: another one may repeat the path of its request.
func (w *World) showsNothing() error {
	for _, a := range w.answers {
		members := []string{"latest_revision_id", "source_revision_config", "resources.0"}
		shown := slices.IndexFunc(members, func(member string) bool { return a.OK() && a.Get(member).Exists() })
		if shown >= 0 {
			return outcome.Violated(a, "status 401 or 403, or nothing of the deployment", "%s", outcome.Seen(a)).
				At(inPointer(members[shown]))
		}
	}
	return nil
}
