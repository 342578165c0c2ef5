package controlplane

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// creation holds the sentences about creating deployments.
type creation struct {
	*World
	name string // of the deployment that was to be refused, where the template has one
}

// define holds the sentences about creating a deployment (sections 1, 2 and 7).
func (w *creation) define(r *common.Registrar) {
	r.Given(`a new deployment`, w.aNewDeployment, common.Uses(w.plane.Fixtures.Created))
	r.Given(`a source that only the other edition offers`, w.aForeignSource, common.Needs(common.Whatever(w.anEdition), common.Whatever(w.aRefusedBody)))
	r.When(`the client creates a deployment`, w.clientCreates, common.Creates(1, 0))
	r.When(`the client tries to create a deployment with (.+)`, w.clientCreatesWithMistake)
	r.When(`the client tries to create a deployment from that source`, w.clientCreatesFromForeignSource)
	r.When(`the client creates a deployment and sets the read-only fields in the request`, w.clientCreatesWithReadOnly, common.Creates(1, 0))
	r.Then(`the creation succeeds`, w.creationSucceeds)
	r.Then(`the answer holds the uuids "id" and "latest_revision_id"`, w.answerHoldsIDs)
	r.Then(`the request is refused as invalid`, w.refusedAsInvalid)
	r.Then(`the refusal makes no deployment`, w.refusalMakesNoDeployment)
	r.Then(`the request is refused, or the read-only fields are the target's own`, w.refusedOrOwnReadOnly)
}

func (w *creation) aForeignSource() error {
	if err := w.anEdition(); err != nil {
		return err
	}
	return w.aRefusedBody()
}

func (w *creation) anEdition() error {
	if w.target.Config.Edition == "" {
		return outcome.Needs("edition")
	}
	return nil
}

func (w *creation) aRefusedBody() error {
	if len(w.target.Config.Create.Refused) == 0 {
		return outcome.Needs("create.refused")
	}
	return nil
}

func (w *creation) clientCreates(ctx context.Context) error { return w.createsWith(ctx, "new", nil) }

func (w *creation) clientCreatesFromForeignSource(ctx context.Context) error {
	body := plane.CloneObject(w.target.Config.Create.Refused)
	if name := w.target.Name("foreign"); plane.Rename(body, name) {
		w.name = name
	}
	if source, _ := body["source"].(string); source == "" {
		body["source"] = plane.ForeignSource(w.target.Config.Edition)
	}
	return w.creates(ctx, w.target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body), body)
}

// readOnly are fields that only the target may set (section 2), with values that it would never choose.
func readOnly() map[string]any {
	return map[string]any{
		"id":                 "11111111-2222-4333-8444-555555555555",
		"latest_revision_id": "66666666-7777-4888-9999-aaaaaaaaaaaa",
		"created_at":         "1999-12-31T23:59:59Z",
		"updated_at":         "1999-12-31T23:59:59Z",
		"status":             "CREATE_FAILED",
	}
}

// readOnlyCommit is a commit id that no source has.
const readOnlyCommit = "0123456789abcdef0123456789abcdef01234567"

func (w *creation) clientCreatesWithReadOnly(ctx context.Context) error {
	changes := readOnly()
	changes["source_revision_config"] = map[string]any{"repo_commit_sha": readOnlyCommit}
	return w.createsWith(ctx, "readonly", changes)
}

// withMistake is a create body that makes no sense, by the name that the features give the mistake.
func (w *creation) withMistake(mistake, name string) []byte {
	body := w.plane.Sources.Body(name, nil)
	switch mistake {
	case "no source":
		delete(body, "source")
	case "an unknown source":
		body["source"] = "no_such_source"
	case "a number as source":
		body["source"] = 7
	default:
		return wrongBody(mistake, body, w.plane.Sources.Field())
	}
	return target.Encode(body)
}

// wrongBody makes one of the mistakes that creations and updates share.
func wrongBody(mistake string, body map[string]any, field string) []byte {
	switch mistake {
	case "a list as source configuration":
		body["source_config"] = []any{"build_on_push"}
	case "a text as source revision configuration":
		body["source_revision_config"] = "main"
	case "a number as repository ref or image":
		config := plane.CloneObject(plane.Asked(body))
		config[field] = 7
		body["source_revision_config"] = config
	case "a list in place of the object":
		return target.Encode([]any{body})
	case "a text in place of the object":
		return target.Encode("deployment")
	case "a body that is no JSON":
		return []byte(`{"source": `)
	case "no body":
		return []byte{}
	}
	return target.Encode(body)
}

func (w *creation) clientCreatesWithMistake(ctx context.Context, mistake string) error {
	name := w.target.Name("mistake")
	if w.aNamedTemplate() == nil {
		w.name = name
	}
	request := w.target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, w.withMistake(mistake, name))
	request.Wrong = true
	return w.creates(ctx, request, nil)
}

func (w *creation) creationSucceeds() error {
	a, err := w.scene.Last()
	if err != nil {
		return err
	}
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.Status) {
		return outcome.Violated(a, "status 200, 201 or 202", "%s", outcome.Seen(a))
	}
	return nil
}

func (w *creation) answerHoldsIDs() error {
	for _, field := range []string{"id", "latest_revision_id"} {
		value := w.scene.Answer.Get(field)
		if value.Type != gjson.String || !isUUID(value.Str) {
			return outcome.Violated(w.scene.Answer, "a uuid as "+field, "%s", outcome.Shown(value)).At("/" + field)
		}
	}
	return nil
}

// refusedAsInvalid wants a 422 that tells the reasons. Another refusal is tolerated, and noted: the interface shows
// only the 422, servers in the field answer semantic mistakes with other statuses too.
func (w *creation) refusedAsInvalid() error {
	if err := w.scene.Refused(); err != nil {
		return err
	}
	if w.scene.Answer.Status != http.StatusUnprocessableEntity {
		w.scene.Note("tolerated: refused with status " + strings.TrimSpace(http.StatusText(w.scene.Answer.Status)) + " in place of 422")
		return nil
	}
	if problem := common.ValidationError(w.scene.Answer); problem != nil {
		return problem
	}
	return nil
}

// refusalMakesNoDeployment looks for what a refusal may have left: an id in its answer that can be retrieved, or,
// where the target lists its deployments, the name.
func (w *creation) refusalMakesNoDeployment(ctx context.Context) error {
	refusal := w.scene.Answer
	if id := refusal.Get("id").String(); id != "" {
		a, err := w.plane.Get(ctx, plane.DeploymentPath(id), "")
		if err != nil {
			return err
		}
		if a.OK() {
			return outcome.Violated(refusal, "no deployment after the refusal", "deployment %s can be retrieved", id)
		}
	}
	if w.name == "" {
		w.scene.Note("whether a deployment was left behind could not be looked up: the template has no name")
		return nil
	}
	found, _, err := w.plane.ListDeployments(ctx, w.name)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		for _, id := range found {
			if err := w.target.Ledger.Created("deployment", id, w.scene.Scenario.Key()); err != nil {
				return err
			}
		}
		return outcome.Violated(refusal, "no deployment after the refusal", "the deployment %s", outcome.Quoted(found))
	}
	return nil
}

func (w *creation) refusedOrOwnReadOnly(ctx context.Context) error {
	a, err := w.scene.Last()
	if err != nil {
		return err
	}
	if a.Refused() {
		return nil
	}
	if !a.OK() {
		return outcome.Violated(a, "a deployment, or a refusal", "%s", outcome.Seen(a))
	}
	answers := []*client.Answer{a}
	for _, path := range []string{plane.DeploymentPath(w.deployment.ID), plane.RevisionPath(w.deployment.ID, w.deployment.First)} {
		read, err := w.plane.Get(ctx, path, "")
		if err != nil {
			return err
		}
		answers = append(answers, read)
	}
	return takenOver(answers)
}

// takenOver finds a read-only value of ours in what the target shows.
func takenOver(answers []*client.Answer) error {
	sent := readOnly()
	for _, a := range answers {
		for _, field := range []string{"id", "latest_revision_id", "created_at", "updated_at", "status"} {
			if got := a.Get(field); got.String() == sent[field] {
				return outcome.Violated(a, "a value of the target's own for "+field, "the value of the request, %s", outcome.Shown(got)).At("/" + field)
			}
		}
		if got := a.Get("source_revision_config.repo_commit_sha"); got.String() == readOnlyCommit {
			return outcome.Violated(a, "the commit of the source", "the value of the request, %s", outcome.Shown(got)).At("/source_revision_config/repo_commit_sha")
		}
	}
	return nil
}
