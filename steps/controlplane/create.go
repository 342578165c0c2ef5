package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// creation has the data to search for a deployment that must not exist.
type creation struct {
	*World
	name   string // name in the create request, or ""
	listed bool   // whether the target lists its deployments
}

// define registers the steps about creating deployments (sections 1, 2 and 7).
func (w *creation) define(r *common.Definitions) {
	r.Given(`a new deployment`, w.shared(w.plane.Fixtures.Created))
	r.Given(`a target that can list its deployments`, w.canListDeployments)
	r.When(`the client creates a deployment`,
		func(ctx context.Context) error { return w.createsWith(ctx, "new", nil) })
	r.When(`the client tries to create a deployment with (.+)`, w.clientCreatesWithMistake)
	r.When(`the client tries to create a deployment from a source that only the other edition offers(, without source_config)?`,
		w.clientCreatesFromForeignSource)
	r.When(`the client sends a create request with read-only fields`,
		func(ctx context.Context) error { return w.createsWith(ctx, "readonly", readOnly()) })
	r.Then(`the request returns 200, 201 or 202`, func() error { return judge.IsCreated(w.scene.Response) })
	r.Then(`the fields "id" and "latest_revision_id" are UUID strings`,
		func() error { return judge.HasUUIDs(w.scene.Response) })
	r.Then(`the request is refused with 422 and an HTTPValidationError, or with another 4xx`, w.refusedAsInvalid)
	r.Then(`no deployment was created`, w.nothingWasCreated)
	r.Then(`the request is refused with 4xx, or the read-only fields are ignored`, w.refusedOrOwnReadOnly)
	// a tag must not be combined with build_on_push (section 2)
	r.When(`the client creates a deployment from the tag with build_on_push (true|false|absent)`, w.clientCreatesFromTag)
	r.Then(`the request is refused with 4xx, or build_on_push is never true with a tag ref`,
		w.refusedOrNoBuildOnPush)
}

// createsWith creates a deployment from the template of the configuration, with changes.
func (w *creation) createsWith(ctx context.Context, purpose string, changes map[string]any) error {
	if err := w.plane.TakeDeployment(ctx); err != nil {
		return err
	}
	w.Deployment = &plane.Deployment{Body: w.plane.Sources.Body(w.target.Name(purpose), changes)}
	return w.creates(ctx, target.TheClient, w.Deployment, w.Deployment.Body, false)
}

// creates sends a create request with the credentials of any sender, and adds a created deployment to the ledger. wrong
// means that the body breaks the contract on purpose.
func (w *creation) creates(
	ctx context.Context, who target.Sender, d *plane.Deployment, body any, wrong bool,
) error {
	request := w.target.ToControlPlane(who, http.MethodPost, plane.DeploymentsPath, body)
	request.Wrong = wrong
	w.name, _ = d.Body["name"].(string)
	if err := w.send(ctx, request); err != nil {
		return err
	}
	if a := w.scene.Response; a.OK() || a.Get("id").String() != "" {
		_ = w.plane.RecordCreated(ctx, d, a) // the step about the response judges an incomplete one
	}
	return nil
}

// clientCreatesFromForeignSource sends the configured body with and without source_config, because a server may check the
// source only together with its settings.
func (w *creation) clientCreatesFromForeignSource(ctx context.Context, without string) error {
	body := plane.Changed(w.target.Config.Create.Refused, nil)
	if without != "" {
		delete(body, "source_config")
	}
	plane.Rename(body, w.target.Name("foreign"))
	if source, _ := body["source"].(string); source == "" {
		body["source"] = config.ExternalContainer
		if w.target.Config.Edition == config.SelfHosted {
			body["source"] = config.GitHost
		}
	}
	w.Deployment = &plane.Deployment{Body: body}
	return w.creates(ctx, target.TheClient, w.Deployment, body, false)
}

func (w *creation) clientCreatesFromTag(ctx context.Context, buildOnPush string) error {
	push := map[string]any{"true": true, "false": false, "absent": nil}[buildOnPush]
	return w.createsWith(ctx, "tag", fromTag(w.target.Config, push))
}

func (w *creation) clientCreatesWithMistake(ctx context.Context, name string) error {
	body := w.plane.Sources.Body(w.target.Name("mistake"), nil)
	m, err := mistakeIn(body, w.plane.Sources.Field(), name)
	if err != nil {
		return err
	}
	w.class = m.class
	w.Deployment = &plane.Deployment{Body: body}
	return w.creates(ctx, target.TheClient, w.Deployment, m.body, true)
}

// mistake is a request body with a mistake.
type mistake struct {
	class string // for violations
	body  any
}

// mistakeIn returns a request body with a mistake that the features name. field is the field of the source that is used.
func mistakeIn(body map[string]any, field, name string) (mistake, error) {
	with := func(key string, value any) any {
		changed := plane.Changed(body, nil)
		changed[key] = value
		return changed
	}
	const wrongType, noObject = "wrong type", "not an object"
	wrong, known := map[string]mistake{
		"no source":                          {"missing field", plane.Changed(body, map[string]any{"source": nil})},
		"an unknown source":                  {"unknown value", with("source", "no_such_source")},
		"a lone surrogate in source":         {"unknown value", target.WithSurrogate(with("source", target.SurrogateHere))},
		"a number as source":                 {wrongType, with("source", 7)},
		"null as source":                     {wrongType, with("source", nil)},
		"an array as source_config":          {wrongType, with("source_config", []any{"build_on_push"})},
		"a string as source_revision_config": {wrongType, with("source_revision_config", "main")},
		"an array as build_on_push": {wrongType, plane.Changed(body, map[string]any{
			"source_config": map[string]any{"build_on_push": []any{true}}})},
		"a number as repo_ref or image_uri":  {wrongType, plane.Changed(body, plane.SourceUpdate(map[string]any{field: 7}))},
		"an object as repo_ref or image_uri": {wrongType, plane.Changed(body, plane.SourceUpdate(map[string]any{field: map[string]any{"$ne": ""}}))},
		"false as repo_ref or image_uri":     {wrongType, plane.Changed(body, plane.SourceUpdate(map[string]any{field: false}))},
		"a number as graph_config_path": {wrongType, plane.Changed(body,
			plane.SourceUpdate(map[string]any{"graph_config_path": 7}))},
		"an empty array as source_revision_config": {wrongType, with("source_revision_config", []any{})},
		"an array in place of the object":          {noObject, []any{body}},
		"a string in place of the object":          {noObject, "deployment"},
		"null in place of the object":              {noObject, []byte("null")},
		"a body that is not valid JSON":            {"invalid JSON", []byte(`{"source": `)},
		"no body":                                  {"empty", []byte{}},
	}[name]
	if !known {
		return mistake{}, fmt.Errorf("no mistake has the name %q", name)
	}
	return wrong, nil
}

// refusedAsInvalid judges the refusal of a request with a mistake, and records the status if it is tolerated.
func (w *creation) refusedAsInvalid() error {
	a := w.scene.Response
	if a.IsRefused() && a.Status != http.StatusUnprocessableEntity {
		w.scene.Note("tolerated: refused with status " + strconv.Itoa(a.Status) + " instead of 422")
	}
	return judge.RefusesInvalid(a, w.class)
}

func (w *creation) canListDeployments(ctx context.Context) error {
	_, supported, err := w.plane.FindByName(ctx, w.target.Name("none"))
	if err != nil {
		return err
	}
	w.listed = supported
	if !supported {
		return outcome.Inapplicable("GET /v2/deployments", "the target does not list deployments (the interface does not "+
			"require it), so a deployment that was created in spite of the refusal cannot be found")
	}
	return nil
}

// nothingWasCreated searches for a deployment after a refused request: by the id in the response, and by the name if the
// server lists its deployments.
func (w *creation) nothingWasCreated(ctx context.Context) error {
	refusal := w.scene.Response
	if id := refusal.Get("id").String(); id != "" {
		a, err := w.plane.GetDeployment(ctx, id)
		if err != nil {
			return err
		}
		if a.OK() {
			return judge.CreatesNothing(refusal, []string{id}, w.listed, w.listed)
		}
	}
	if w.name == "" {
		w.scene.Note("not checked whether a deployment was created: create.body has no name")
		return nil
	}
	found, supported, err := w.plane.FindByName(ctx, w.name)
	if err != nil {
		return err
	}
	return judge.CreatesNothing(refusal, found, w.listed, supported)
}

// readOnly returns fields that only the server may set (section 2), with values that it would never assign.
func readOnly() map[string]any {
	return map[string]any{
		"id":                 "11111111-2222-4333-8444-555555555555",
		"latest_revision_id": "66666666-7777-4888-9999-aaaaaaaaaaaa",
		"created_at":         "1999-12-31T23:59:59Z",
		"updated_at":         "1999-12-31T23:59:59Z",
		"status":             "SKIPPED", // the first and only revision of a deployment is never SKIPPED
		"source_revision_config": map[string]any{
			"repo_commit_sha": "0123456789abcdef0123456789abcdef01234567",
		},
	}
}

func (w *creation) refusedOrOwnReadOnly(ctx context.Context) error {
	created := w.scene.Response
	if created.IsRefused() {
		return nil
	}
	if err := judge.ServesOrRefuses(created, "2xx or 4xx"); err != nil {
		return err
	}
	deployment, err := w.now(ctx)
	if err != nil {
		return err
	}
	if _, err := w.plane.GetRevision(ctx, w.Deployment.ID, w.Deployment.First); err != nil { // an invariant judges it
		return err
	}
	return judge.IgnoresReadOnly(target.Encode(readOnly()), created, deployment)
}

// fromTag returns the changes for a deployment from the tag. If buildOnPush is nil, it is not set.
func fromTag(c *config.Config, buildOnPush any) map[string]any {
	return map[string]any{
		"source_config":          map[string]any{"build_on_push": buildOnPush},
		"source_revision_config": map[string]any{"repo_ref": c.Alternatives.TagRef},
	}
}

// refusedOrNoBuildOnPush judges that the server refuses the combination of a tag with build_on_push, or shows it as false
// (section 2). It searches for the deployment of a refused creation if the server lists its deployments.
func (w *creation) refusedOrNoBuildOnPush(ctx context.Context) error {
	act := w.scene.Response
	err := judge.ServesOrRefuses(act, "4xx, or a deployment with build_on_push false")
	if err != nil {
		return err
	}
	ids := []string{w.Deployment.ID}
	if act.IsRefused() && w.Deployment.ID == "" {
		ids = nil
		if name, named := w.Deployment.Body["name"].(string); named {
			ids, _, err = w.plane.FindByName(ctx, name)
			if err != nil {
				return err
			}
		}
	}
	for _, id := range ids {
		if err := w.noTagBuildsOnPush(ctx, act, id); err != nil {
			return err
		}
	}
	return nil
}

// noTagBuildsOnPush reads the deployment after a request.
func (w *creation) noTagBuildsOnPush(ctx context.Context, act *exchange.Response, id string) error {
	if act.OK() { // an accepted request may take effect in the background, and a read may be as old as patience
		if err := client.Sleep(ctx, w.target.SettleDelay(act)+w.target.Config.Patience); err != nil {
			return err
		}
	}
	now, err := w.plane.AwaitFound(ctx, plane.DeploymentPath(id))
	if err != nil {
		return err
	}
	// A server need not show a value that was not sent. For an update, there is no create body.
	config, _ := w.Deployment.Body["source_config"].(map[string]any)
	_, isSent := config["build_on_push"]
	return judge.NeverBuildsTagOnPush(judge.TagDeployment{
		Act: act, Now: now, Tag: w.target.Config.Alternatives.TagRef, Sent: isSent || w.Deployment.Body == nil,
		WasTrue: w.builtOnPush,
	})
}
