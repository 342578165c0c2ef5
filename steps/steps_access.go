package steps

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// defineAccess holds the sentences about credentials (section 5).
func (w *World) defineAccess(b *book) {
	b.given(`a spare deployment`, w.aSpareDeployment)
	b.given(`a target that can list its deployments`, w.aTargetThatListsDeployments)
	b.requires(`a target that can list its deployments`, anyway(w.aNamedTemplate))
	b.given(`a credential for the scheme (API Key|Tenant ID|Bearer Auth)`, w.aCredentialForScheme)
	b.requires(`a credential for the scheme (API Key|Tenant ID|Bearer Auth)`, w.aCredentialForScheme)
	b.configured(`a credential of another tenant`, w.aCredentialOfAnotherTenant)
	b.when(`a client without credentials tries to (create a deployment|retrieve a deployment|update a deployment|list its revisions|retrieve a revision)`, w.nobodyTries)
	b.when(`a client with an API key that is (unknown|empty|blank|one character too long|in another case) tries to (create a deployment|retrieve a deployment|update a deployment|list its revisions|retrieve a revision)`, w.clientWithKeyTries)
	b.requires(`a client with an API key that is (one character too long|in another case) tries to .+`, w.aNearMiss)
	b.when(`a client with the scheme (API Key|Tenant ID|Bearer Auth) tries to (create a deployment|retrieve a deployment|update a deployment|list its revisions|retrieve a revision)`, w.clientWithSchemeTries)
	b.when(`the other tenant tries to (retrieve a deployment|list its revisions|retrieve a revision)`, w.otherTenantTries)
	b.when(`a client with (no credentials|an unknown API key) tries to update its source`, w.strangerUpdates)
	b.when(`the other tenant tries to update its source`, w.otherTenantUpdates)
	b.when(`a client with (no credentials|an unknown API key) tries to create a deployment with a name of its own`, w.strangerCreates)
	b.when(`a client with (no credentials|an unknown API key) asks for it and for an unknown deployment`, w.strangerAsksForBoth)
	b.then(`the request is refused for want of valid credentials`, w.refusedForCredentials)
	b.then(`the request is served`, w.schemeOpens)
	b.then(`both are refused with the same status`, w.sameStatus)
	b.then(`the answer is the one for an unknown deployment`, w.asForUnknown)
	b.then(`no deployment has that name`, w.noDeploymentWithName)
}

// unknownID is the id of nothing.
func unknownID() string { return uuid.NewString() }

func (w *World) aSpareDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.run.shared(ctx, w.run.fixtures.spare)
	return err
}

// aNamedTemplate skips where deployments cannot be told apart by a name in the list of all.
func (w *World) aNamedTemplate() error {
	if _, named := w.run.config.Create.Body["name"]; !named {
		return needs("create.body.name")
	}
	return nil
}

func (w *World) aTargetThatListsDeployments(ctx context.Context) error {
	if err := w.aNamedTemplate(); err != nil {
		return err
	}
	_, supported, err := w.run.listDeployments(ctx, w.run.name("none"))
	if err == nil && !supported {
		return inapplicable("the target offers no list of deployments (the interface does not ask for one), so a refused creation leaves nothing to look at")
	}
	return err
}

func (w *World) aCredentialForScheme(scheme string) error {
	if value, key := w.run.credential(scheme); value == "" {
		return needs(key)
	}
	return nil
}

func (w *World) aCredentialOfAnotherTenant() error {
	if len(w.run.credentials(anotherTenant)) == 0 {
		return needs("other_tenant.api_key")
	}
	return nil
}

// try has the asker do one of the five operations of the interface to the deployment.
func (w *World) try(ctx context.Context, who asker, operation string) error {
	d := w.deployment
	var request client.Request
	switch operation {
	case "create a deployment":
		return w.tryCreate(ctx, who)
	case "retrieve a deployment":
		request = w.run.toControlPlane(who, http.MethodGet, deploymentPath(d.id), nil)
	case "update a deployment":
		// Without a new source the update makes no revision, whoever may do it.
		request = w.run.toControlPlane(who, http.MethodPatch, deploymentPath(d.id), sourceUpdate(map[string]any{}))
	case "list its revisions":
		request = w.run.toControlPlane(who, http.MethodGet, revisionsPath(d.id), nil)
	case "retrieve a revision":
		request = w.run.toControlPlane(who, http.MethodGet, revisionPath(d.id, d.first), nil)
	}
	_, err := w.do(ctx, request)
	return err
}

// tryCreate enters what is created in the ledger, also where it should not have been.
func (w *World) tryCreate(ctx context.Context, who asker) error {
	allowed := who == theClient || isScheme(who)
	if allowed {
		if err := w.run.takeDeployment(); err != nil {
			return err
		}
	}
	d := &deployment{body: w.run.template(w.run.name("access"), nil)}
	a, err := w.do(ctx, w.run.toControlPlane(who, http.MethodPost, deploymentsPath, d.body))
	if err == nil && a.Get("id").String() != "" {
		_ = w.run.noteCreated(ctx, d, a) // what is wrong with the answer is another requirement's concern
	}
	return err
}

func (w *World) nobodyTries(ctx context.Context, operation string) error {
	return w.try(ctx, nobody, operation)
}

func (w *World) clientWithKeyTries(ctx context.Context, kind, operation string) error {
	if err := w.aNearMiss(kind); err != nil {
		return err
	}
	who := asker("an API key that is " + kind)
	if kind == "unknown" {
		who = unknownKey
	}
	return w.try(ctx, who, operation)
}

// aNearMiss needs a valid key to make one from.
func (w *World) aNearMiss(kind string) error {
	isNear := kind == "one character too long" || kind == "in another case"
	switch _, key := w.run.credential(schemeAPIKey); {
	case isNear && w.run.config.Credentials.APIKey == "":
		return needs(key)
	case kind == "in another case" && w.run.config.MisspeltKey(config.OtherCase) == "":
		return inapplicable("the API key is the same in another case: it has no letters, or is a number in hexadecimal digits")
	}
	return nil
}

func (w *World) clientWithSchemeTries(ctx context.Context, scheme, operation string) error {
	w.subject = []string{operation}
	return w.try(ctx, asker(scheme), operation)
}

func (w *World) otherTenantTries(ctx context.Context, operation string) error {
	w.asker = anotherTenant
	w.subject = []string{operation}
	return w.try(ctx, anotherTenant, operation)
}

func (w *World) strangerUpdates(ctx context.Context, who string) error {
	change := w.run.nextSource(1)
	_, err := w.do(ctx, w.run.toControlPlane(asker(who), http.MethodPatch, deploymentPath(w.deployment.id), sourceUpdate(change)))
	return err
}

func (w *World) otherTenantUpdates(ctx context.Context) error {
	w.asker, w.subject = anotherTenant, []string{"update a deployment"}
	return w.strangerUpdates(ctx, string(anotherTenant))
}

func (w *World) strangerCreates(ctx context.Context, who string) error {
	name := w.run.name("refused")
	w.subject = []string{name}
	_, err := w.do(ctx, w.run.toControlPlane(asker(who), http.MethodPost, deploymentsPath, w.run.template(name, nil)))
	return err
}

func (w *World) strangerAsksForBoth(ctx context.Context, who string) error {
	for _, id := range []string{w.deployment.id, unknownID()} {
		a, err := w.do(ctx, w.run.toControlPlane(asker(who), http.MethodGet, deploymentPath(id), nil))
		if err != nil {
			return err
		}
		w.answers = append(w.answers, a)
	}
	return nil
}

func (w *World) refusedForCredentials() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if !slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, a.Status) {
		return violated(a, "status 401 or 403", "%s", seen(a))
	}
	return nil
}

func (w *World) served() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if !a.OK() {
		return violated(a, "a status of success", "%s", seen(a))
	}
	return nil
}

// schemeOpens wants the request to be served. Where it is not, and not for want of credentials, what the client is
// answered with everything it has tells whether the scheme is to blame.
func (w *World) schemeOpens(ctx context.Context) error {
	a, err := w.last()
	if err != nil || a.OK() {
		return err
	}
	if w.agent != nil {
		return w.agentServes(a)
	}
	if w.refusedForCredentials() != nil {
		if err := w.try(ctx, theClient, w.subject[0]); err != nil {
			return err
		}
		if !w.answer.OK() {
			return inconclusive("the request is not served with any credentials: %s", seen(w.answer))
		}
	}
	return violated(a, "a status of success", "%s", seen(a))
}

func (w *World) sameStatus() error {
	existing, unknown := w.answers[0], w.answers[1]
	if existing.OK() {
		return blocked("the request was not refused at all: %s", seen(existing))
	}
	if existing.Status != unknown.Status {
		return violated(existing, "the same status for both", "status %d for the existing deployment and %d for an unknown one", existing.Status, unknown.Status)
	}
	return nil
}

// asForUnknown compares with what the same asker is told about a deployment that does not exist.
func (w *World) asForUnknown(ctx context.Context) error {
	a, err := w.last()
	if err != nil {
		return err
	}
	known := w.deployment
	w.deployment = &deployment{id: unknownID(), first: unknownID()}
	if err := w.try(ctx, w.asker, w.subject[0]); err != nil {
		return err
	}
	if a.Status != w.answer.Status || a.OK() && strings.Contains(string(a.Body), known.first) {
		return violated(a, "the answer to an unknown deployment, status "+strconv.Itoa(w.answer.Status), "%s", seen(a))
	}
	return nil
}

func (w *World) noDeploymentWithName(ctx context.Context) error {
	found, supported, err := w.run.listDeployments(ctx, w.subject[0])
	if err != nil {
		return err
	}
	for _, id := range found {
		if err := w.run.ledger.Created("deployment", id, w.scenario.Key()); err != nil {
			return err
		}
	}
	if len(found) > 0 {
		return violated(w.answer, "no deployment after the refusal", "the deployment %s", quoted(found))
	}
	if !supported {
		return inconclusive("the list of deployments can no longer be read")
	}
	return nil
}
