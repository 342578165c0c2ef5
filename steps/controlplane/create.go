package controlplane

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineCreation registers the sentences about creating deployments (sections 1, 2 and 7).
func (w *World) defineCreation(r *common.Definitions) {
	r.Given(`a new deployment`, w.shared(w.plane.Fixtures.Created))
	r.When(`the client creates a deployment`, func(ctx context.Context) { w.createsWith(ctx, "new", nil) })
	r.When(`the client tries to create a deployment with (.+)`, w.clientCreatesWithMistake)
	r.When(`the client tries to create a deployment from a source that only the other edition offers`,
		w.clientCreatesFromForeignSource)
	r.When(`the client sends a create request with read-only fields`, func(ctx context.Context) {
		w.createsWith(ctx, "readonly", readOnly())
	})
	r.Then(`the request is answered with 200, 201 or 202`, func() error {
		a := w.scene.Answer
		is := slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.Status)
		return outcome.Want(is, a, "status 200, 201 or 202")
	})
	r.Then(`the fields "id" and "latest_revision_id" are UUID strings`, w.answerHoldsIDs)
	r.Then(`the request is refused with 422 and an HTTPValidationError, or with another 4xx`, w.refusedAsInvalid)
	r.Then(`no deployment was created`, w.nothingWasCreated)
	r.Then(`the request is refused with 4xx, or the read-only fields are ignored`, w.refusedOrOwnReadOnly)
	// a tag and build_on_push exclude each other (section 2)
	r.When(`the client creates a deployment from the tag with build_on_push (true|false|absent)`,
		func(ctx context.Context, how string) {
			push := map[string]any{"true": true, "false": false, "absent": nil}[how]
			w.createsWith(ctx, "tag", fromTag(w.target.Config, push))
		})
	r.Then(`the request is refused with 4xx, or build_on_push is never true with a tag ref`,
		w.refusedOrNoBuildOnPush)
}

// createsWith creates a deployment from the template of the configuration, with changes.
func (w *World) createsWith(ctx context.Context, purpose string, changes map[string]any) {
	common.Check(w.plane.TakeDeployment(ctx))
	w.Deployment = &plane.Deployment{Body: w.plane.Sources.Body(w.target.Name(purpose), changes)}
	w.creates(ctx, target.TheClient, w.Deployment, w.Deployment.Body, false)
}

// creates sends a creation by anyone and enters what comes of it in the ledger. An incomplete answer is judged by the
// sentence about it. A wrong body breaks the contract on purpose.
func (w *World) creates(ctx context.Context, who target.Asker, d *plane.Deployment, body any, wrong bool) {
	request := w.target.ToControlPlane(who, http.MethodPost, plane.DeploymentsPath, body)
	request.Wrong = wrong
	w.name, _ = d.Body["name"].(string)
	common.Check(w.send(ctx, request))
	if a := w.scene.Answer; a.OK() || a.Get("id").String() != "" {
		_ = w.plane.NoteCreated(ctx, d, a)
	}
}

func (w *World) clientCreatesFromForeignSource(ctx context.Context) {
	body := plane.Changed(w.target.Config.Create.Refused, nil)
	plane.Rename(body, w.target.Name("foreign"))
	if source, _ := body["source"].(string); source == "" {
		body["source"] = config.ExternalContainer
		if w.target.Config.Edition == config.SelfHosted {
			body["source"] = config.GitHost
		}
	}
	w.Deployment = &plane.Deployment{Body: body}
	w.creates(ctx, target.TheClient, w.Deployment, body, false)
}

func (w *World) clientCreatesWithMistake(ctx context.Context, mistake string) {
	body := w.plane.Sources.Body(w.target.Name("mistake"), nil)
	w.Deployment = &plane.Deployment{Body: body}
	w.creates(ctx, target.TheClient, w.Deployment, mistaken(body, w.plane.Sources.Field(), mistake), true)
}

// mistaken is a request body with a mistake, as the features name it. The field is that of the source which is created.
func mistaken(body map[string]any, field, mistake string) any {
	with := func(key string, value any) any {
		changed := plane.Changed(body, nil)
		changed[key] = value
		return changed
	}
	wrong, known := map[string]any{
		"no source":                          plane.Changed(body, map[string]any{"source": nil}),
		"an unknown source":                  with("source", "no_such_source"),
		"a number as source":                 with("source", 7),
		"null as source":                     with("source", nil),
		"an array as source_config":          with("source_config", []any{"build_on_push"}),
		"a string as source_revision_config": with("source_revision_config", "main"),
		"an array as build_on_push": plane.Changed(body, map[string]any{
			"source_config": map[string]any{"build_on_push": []any{true}}}),
		"a number as repo_ref or image_uri": plane.Changed(body, plane.SourceUpdate(map[string]any{field: 7})),
		"an array in place of the object":   []any{body},
		"a string in place of the object":   "deployment",
		"null in place of the object":       []byte("null"),
		"a body that is not valid JSON":     []byte(`{"source": `),
		"no body":                           []byte{},
	}[mistake]
	if !known {
		common.Check(errors.New("no mistake is called " + mistake))
	}
	return wrong
}

func (w *World) answerHoldsIDs() error {
	return common.Each([]string{"id", "latest_revision_id"}, func(field string) error {
		value := w.scene.Answer.Get(field)
		hasHyphens := len(value.Str) == 36
		isUUID := value.Type == gjson.String && hasHyphens && uuid.Validate(value.Str) == nil
		return outcome.WantAt(isUUID, w.scene.Answer, field, "a UUID string in "+field)
	})
}

// refusedAsInvalid wants a 422 with an HTTPValidationError. Another refusal is tolerated, and noted: the interface
// shows only the 422, deployed servers answer semantic mistakes with other statuses too.
func (w *World) refusedAsInvalid() error {
	a := w.scene.Answer
	common.Check(outcome.Want(a.IsRefused(), a, "status 4xx"))
	if a.Status != http.StatusUnprocessableEntity {
		w.scene.Note("tolerated: refused with status " + strconv.Itoa(a.Status) + " instead of 422")
		return nil
	}
	return common.ValidationError(a)
}

// nothingWasCreated looks for what a refusal may have left: an id in its answer that can be retrieved, or,
// where the target lists its deployments, the name.
func (w *World) nothingWasCreated(ctx context.Context) error {
	refusal := w.scene.Answer
	if id := refusal.Get("id").String(); id != "" {
		if a := common.Must(w.plane.GetDeployment(ctx, id)); a.OK() {
			return outcome.Violated(refusal, "no deployment after the refusal", "deployment %s can be retrieved", id)
		}
	}
	if w.name == "" {
		w.scene.Note("not checked whether a deployment was created: create.body has no name")
		return nil
	}
	found, supported, err := w.plane.Named(ctx, w.name)
	switch common.Check(err); {
	case len(found) > 0:
		return outcome.Violated(refusal, "no deployment after the refusal", "the deployment %s", strings.Join(found, ", "))
	case w.listed && !supported:
		return outcome.Inconclusive("the list of deployments is no longer answered with 2xx")
	}
	return nil
}

// readOnly returns fields that only the target may set (section 2), with values that it would never choose.
func readOnly() map[string]any {
	return map[string]any{
		"id":                 "11111111-2222-4333-8444-555555555555",
		"latest_revision_id": "66666666-7777-4888-9999-aaaaaaaaaaaa",
		"created_at":         "1999-12-31T23:59:59Z",
		"updated_at":         "1999-12-31T23:59:59Z",
		"status":             "SKIPPED", // which the first and only revision of a deployment never is
		"source_revision_config": map[string]any{
			"repo_commit_sha": "0123456789abcdef0123456789abcdef01234567",
		},
	}
}

// readOnlyIgnored finds a read-only value of ours in what the target shows.
func readOnlyIgnored(answers ...*exchange.Response) error {
	sent := gjson.ParseBytes(target.Encode(readOnly()))
	for _, a := range answers {
		for _, path := range []string{"id", "latest_revision_id", "created_at", "updated_at", "status", commitField} {
			if got := a.Get(path); got.String() == sent.Get(path).Str {
				name := path[strings.LastIndexByte(path, '.')+1:]
				return outcome.Violated(a, "a "+name+" other than that of the request", "the value of the request, %s",
					outcome.Shown(got)).At(inPointer(path))
			}
		}
	}
	return nil
}

func (w *World) refusedOrOwnReadOnly(ctx context.Context) error {
	created := w.scene.Answer
	if created.IsRefused() || !created.OK() {
		return outcome.Want(created.IsRefused(), created, "status 2xx or 4xx")
	}
	deployment := common.Must(w.now(ctx))
	revision := common.Must(w.plane.GetRevision(ctx, w.Deployment.ID, w.Deployment.First))
	return readOnlyIgnored(created, deployment, revision)
}

// fromTag are the changes for a deployment from the tag, without build_on_push where that is nil.
func fromTag(c *config.Config, buildOnPush any) map[string]any {
	return map[string]any{
		"source_config":          map[string]any{"build_on_push": buildOnPush},
		"source_revision_config": map[string]any{"repo_ref": c.Alternatives.TagRef},
	}
}

// refusedOrNoBuildOnPush accepts both ways to keep the rule about tags: refuse, or show false (section 2). It looks for
// what a refused creation may have left, where the target lists its deployments.
func (w *World) refusedOrNoBuildOnPush(ctx context.Context) error {
	act := w.scene.Answer
	isAnswered := act.OK() || act.IsRefused()
	common.Check(outcome.Want(isAnswered, act, "status 4xx, or a deployment with build_on_push false"))
	ids := []string{w.Deployment.ID}
	if name, named := w.Deployment.Body["name"].(string); act.IsRefused() && w.Deployment.ID == "" {
		ids = nil
		if named {
			var err error
			ids, _, err = w.plane.Named(ctx, name)
			common.Check(err)
		}
	}
	return common.Each(ids, func(id string) error { return w.noTagBuildsOnPush(ctx, act, id) })
}

// noTagBuildsOnPush reads the deployment after a request.
func (w *World) noTagBuildsOnPush(ctx context.Context, act *exchange.Response, id string) error {
	if act.OK() {
		common.Check(w.target.WaitSettleDelay(ctx, act)) // what was accepted may take effect in the background
	}
	a := common.Must(w.plane.AwaitFound(ctx, plane.DeploymentPath(id)))
	if !a.OK() {
		return outcome.Inconclusive("the deployment cannot be retrieved: %s", outcome.Seen(a))
	}
	ref, push := a.Get("source_revision_config.repo_ref"), a.Get("source_config.build_on_push")
	tag := w.target.Config.Alternatives.TagRef
	if push.Type == gjson.True && (ref.String() == tag || ref.String() == strings.TrimPrefix(tag, "refs/tags/")) {
		return outcome.Violated(a, "build_on_push false with a tag ref", "repo_ref %s with build_on_push true",
			outcome.Shown(ref)).At("/source_config/build_on_push")
	}
	config, _ := w.Deployment.Body["source_config"].(map[string]any)
	_, isSent := config["build_on_push"]
	isSent = isSent || w.Deployment.Body == nil // by an update; what nobody asked for need not be shown
	if act.OK() && (!ref.Exists() || !push.Exists() && isSent) {
		return outcome.Inconclusive("the deployment lacks repo_ref or build_on_push: %s", outcome.Seen(a))
	}
	return nil
}
