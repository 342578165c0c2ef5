package controlplane

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// The mistakes in credentials, as the steps name them. Each wrong credential is sent without any valid one, because
// combinations are not judged.
const (
	noCredential = `unknown|empty|whitespace`
	nearMiss     = `one character too long|one character too short|changed in its last character|in another case`
	otherForm    = `a JWT with a wrong signature|replaced by Basic credentials`
)

// access has the last request with credentials other than those of the client.
type access struct {
	*World
	creation  *creation     // only if the request creates a deployment
	sender    target.Sender // who sent it
	operation string        // as the steps name it
}

// define registers the steps about authentication at the control plane (section 5).
func (w *access) define(r *common.Definitions) {
	r.Given(`another existing deployment`, w.existing(w.plane.Fixtures.Existing))
	r.Given(`an existing deployment, or an unknown id`, w.takeExistingOrUnknown)
	r.Given(`a target that lists it`, w.listsDeployment)
	r.When(`(?:a client with )?(no credentials|an unknown API key|an API key that is (?:`+noCredential+`|`+nearMiss+`)|`+
		`a (?:bearer token|tenant ID) that is (?:`+noCredential+`)|the token of a user of the agent server|`+
		`the other tenant(?: with (?:only its bearer token|the tenant ID of the client|an empty tenant ID))?) tries to (`+operations+`|update its source|`+
		listDeployments+`)(?: with a unique name)?`, w.clientTries)
	r.When(`on a connection that has served the client, (?:a client with )?(no credentials|the other tenant) tries to (`+operations+`)`,
		w.clientTriesOnConnection)
	r.When(`a client tries each operation with (a (?:bearer token|tenant ID) that is (?:`+nearMiss+`|`+otherForm+`))`, w.clientTriesAll)
	r.When(`a client with the scheme (API Key|Tenant ID|Bearer Auth) tries to (`+operations+`)`,
		w.clientWithSchemeTries)
	r.When(`a client with no credentials reads it (?:by paths )?with (.+)`, w.readsInDisguise)
	r.Then(`the request is refused with 401 or 403`,
		func() error { return w.refusedForCredentials(w.scene.Response) })
	r.Then(`each request is refused with 401 or 403`, w.eachRefusedForCredentials)
	r.Then(`the refusal has the status for an unknown deployment`, w.refusedAsUnknown)
	r.Then(`the response has the status code for an unknown deployment`, w.asForUnknown)
	r.Then(`the response does not show the deployment`,
		func() error { return judge.HidesDeployment(w.scene.Response, w.Deployment.ID) })
	r.Then(`no response shows anything of the deployment`, func() error { return judge.ShowNothing(w.responses) })
}

// unknown returns a deployment that does not exist, with a revision that does not exist either.
func unknown() *plane.Deployment {
	return &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
}

// takeExistingOrUnknown takes a deployment that can be read, or an unknown one. Requests with wrong credentials must be
// refused for any id.
func (w *access) takeExistingOrUnknown(ctx context.Context) error {
	if w.plane.Existing.CheckDeployments(1) != nil {
		w.Deployment = unknown()
		return nil
	}
	return w.existing(w.plane.Fixtures.Existing)(ctx)
}

// listDeployments is the operation that lists deployments. The interface does not define it.
const listDeployments = "list the deployments"

// listsDeployment skips the scenario if the first page of the list does not contain the deployment.
func (w *access) listsDeployment(ctx context.Context) error {
	a, err := w.target.Client.Do(ctx, w.request(target.TheClient, listDeployments, w.Deployment))
	if err != nil {
		return err
	}
	if judge.HidesDeployment(a, w.Deployment.ID) == nil {
		return outcome.Inapplicable("GET /v2/deployments", "the target does not list its deployments, which the interface does "+
			"not require, or the deployment is not on the first page")
	}
	return nil
}

// try sends one of the operations of the interface to the deployment, with the credentials of the sender.
func (w *access) try(ctx context.Context, who target.Sender, operation string) error {
	w.sender, w.operation = who, operation
	if operation == "create a deployment" {
		return w.tryCreate(ctx, who)
	}
	d := w.Deployment
	if operation == "update a deployment" && w.canCreate() != nil {
		d = unknown() // a deployment from before the test run is not put at risk
	}
	return w.send(ctx, w.request(who, operation, d))
}

// tryCreate sends a create request. It adds a created deployment to the ledger, even if the server should have refused
// the request.
func (w *access) tryCreate(ctx context.Context, who target.Sender) error {
	if who == target.TheClient || target.IsScheme(who) {
		if err := w.plane.TakeDeployment(ctx); err != nil {
			return err
		}
	}
	d := &plane.Deployment{Body: map[string]any{}}
	isWrong := w.canCreate() != nil
	if !isWrong {
		d.Body = w.plane.Sources.Body(w.target.Name("access"), nil)
	}
	return w.creation.creates(ctx, who, d, d.Body, isWrong)
}

// clientTries sends an operation with the credentials that the step names. It skips the scenario if a mistake changes
// nothing in the credential.
func (w *access) clientTries(ctx context.Context, credentials, operation string) error {
	if scheme, key, isSame := w.target.IsSame(target.Sender(credentials)); isSame {
		return outcome.Inapplicable(key,
			"the %s is the same with this mistake: it is too short, or has no letters that have a case", scheme)
	}
	w.class = classOfCredentials(credentials)
	isRead := slices.Contains([]string{"retrieve a deployment", "list its revisions", "retrieve a revision"}, operation)
	if w.isClient(target.Sender(credentials)) {
		return outcome.Inapplicable("other_tenant.api_key", "both tenants have the same API key, so only the tenant ID distinguishes them")
	}
	if target.IsAnotherTenant(target.Sender(credentials)) && isRead { // a cache must not return the response to the client
		if err := w.try(ctx, target.TheClient, operation); err != nil {
			return err
		}
		w.responses = nil
	}
	return w.try(ctx, target.Sender(credentials), operation)
}

// clientTriesOnConnection sends a request on a connection that has already served an equal request of the client.
func (w *access) clientTriesOnConnection(ctx context.Context, credentials, operation string) error {
	ctx = w.target.Client.OneConnection(ctx)
	if err := w.try(ctx, target.TheClient, operation); err != nil {
		return err
	}
	w.responses = nil
	return w.clientTries(ctx, credentials, operation)
}

// isClient reports whether the other tenant without its own tenant ID has the same credentials as the client: both have
// the same API key, or the tenant ID of the client needs none.
func (w *access) isClient(who target.Sender) bool {
	c := w.target.Config
	isSameKey := c.OtherTenant.APIKey == c.Credentials.APIKey
	switch who {
	case target.AnotherTenantHere:
		return isSameKey || c.TenantIDAlone
	case target.AnotherTenantEmpty:
		return isSameKey
	}
	return false
}

// classOfCredentials returns the class of wrong credentials for violations, or "" if there are none.
func classOfCredentials(credentials string) string {
	switch target.Sender(credentials) {
	case target.Nobody:
		return ""
	case target.UnknownKey:
		return "unknown"
	case target.UsersToken:
		return "user token"
	}
	_, kind, _ := strings.Cut(credentials, " that is ")
	switch {
	case kind == "whitespace": // most servers see an empty value
		return "empty"
	case slices.Contains(strings.Split(nearMiss, "|"), kind):
		return "near miss"
	case slices.Contains(strings.Split(otherForm, "|"), kind):
		return "unknown"
	}
	return kind
}

func (w *access) clientTriesAll(ctx context.Context, credentials string) error {
	for operation := range strings.SplitSeq(operations, "|") {
		if err := w.clientTries(ctx, credentials, operation); err != nil {
			return err
		}
	}
	return nil
}

func (w *access) clientWithSchemeTries(ctx context.Context, scheme, operation string) error {
	w.scene.Served = w.schemeOpens
	if err := w.try(ctx, target.Sender(scheme), operation); err != nil {
		return err
	}
	a := w.scene.Response
	if operation != "update a deployment" || !a.IsRefused() || w.refusedForCredentials(a) == nil {
		return nil
	}
	if err := w.plane.Settle(ctx, w.Deployment.ID); err != nil { // the target may be busy with the first revision
		return err
	}
	if err := w.try(ctx, target.Sender(scheme), operation); err != nil || !w.scene.Response.IsRefused() {
		return err
	}
	return w.repeatWithConfig(ctx, target.Sender(scheme))
}

// repeatWithConfig repeats a refused update with the source_config of the creation, because a target may refuse an update
// that sets nothing. It does not if the update was refused because of its credentials.
func (w *access) repeatWithConfig(ctx context.Context, who target.Sender) error {
	config, isSent := w.target.Config.Create.Body["source_config"]
	if !isSent || w.refusedForCredentials(w.scene.Response) == nil {
		return nil
	}
	body := map[string]any{"source_config": config}
	return w.send(ctx, w.target.ToControlPlane(who, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID), body))
}

// refusedForCredentials judges a refusal. If no deployment can be created, the body of the create request is the empty
// object.
func (w *access) refusedForCredentials(a *exchange.Response) error {
	if a.Request.Method == http.MethodPost && w.canCreate() != nil {
		return judge.RefusesCredentialsOfEmpty(a, w.class)
	}
	return judge.RefusesCredentials(a, w.class)
}

func (w *access) eachRefusedForCredentials() error {
	for _, a := range w.responses {
		if err := w.refusedForCredentials(a); err != nil {
			return err
		}
	}
	return nil
}

// schemeOpens judges that the request is served. If it fails for another reason than its credentials, it is sent again
// with all credentials, which shows whether the scheme is the cause.
func (w *access) schemeOpens(ctx context.Context) error {
	a := w.scene.Response
	if a.OK() || w.refusedForCredentials(a) == nil {
		return judge.OpensWithScheme(a, nil)
	}
	one := &plane.Allowance{Name: "the request with all credentials", Cost: plane.Cost{Deployments: 1}}
	ctx = one.Within(ctx) // allows one deployment more, in addition to the one that was not created
	if err := w.try(ctx, target.TheClient, w.operation); err != nil {
		return err
	}
	return judge.OpensWithScheme(a, w.scene.Response)
}

// refusedAsUnknown compares the refusal with the refusal for an unknown deployment. It blocks if the request was served.
func (w *access) refusedAsUnknown(ctx context.Context) error {
	if a := w.scene.Response; a.OK() {
		return outcome.Blocked("the request was not refused: %s", outcome.Seen(a))
	}
	return w.asForUnknown(ctx)
}

// asForUnknown sends the same request for an unknown deployment and compares the responses.
func (w *access) asForUnknown(ctx context.Context) error {
	a, known := w.scene.Response, w.Deployment
	w.Deployment = unknown()
	if err := w.try(ctx, w.sender, w.operation); err != nil {
		return err
	}
	if err := judge.IsAsForUnknown(a, w.scene.Response, known.First); err != nil {
		return err
	}
	return judge.HidesName(a, known.Name())
}

// reads are the operations that only read.
var reads = []string{"retrieve a deployment", "list its revisions", "retrieve a revision"}

// disguise returns the disguise that a step names. For cookies it first reads the deployment as the client.
func (w *access) disguise(ctx context.Context, how string) (target.Disguise, error) {
	if how != target.ReturnedCookie {
		return w.target.Disguise(how, w.Deployment.ID, w.Deployment.First)
	}
	var served []*exchange.Response
	for _, operation := range reads {
		a, err := w.target.Client.Do(ctx, w.request(target.TheClient, operation, w.Deployment))
		if err != nil {
			return target.Disguise{}, outcome.AsPrecondition(err)
		}
		served = append(served, a)
	}
	return w.target.WithCookiesOf(served...)
}

// readsInDisguise reads a deployment with requests that a server may attribute to another caller.
func (w *access) readsInDisguise(ctx context.Context, how string) error {
	d := w.Deployment
	disguise, err := w.disguise(ctx, how)
	if err != nil {
		return err
	}
	for _, operation := range reads {
		request := w.request(target.Nobody, operation, d)
		request.Wrong, request.Dotted = true, true // only what the response shows is judged
		maps.Copy(request.Header, disguise.Claim)
		for _, form := range disguise.Paths(request.Path) {
			request.Path = form
			err := w.send(ctx, request)
			if err != nil && !exchange.IsClosed(err) { // a gateway may close the connection
				return err
			}
		}
	}
	return nil
}
