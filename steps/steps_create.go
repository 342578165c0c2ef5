package steps

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// defineCreate holds the sentences about creating a deployment (sections 1, 2 and 7).
func (w *World) defineCreate(b *book) {
	b.given(`a new deployment`, w.aNewDeployment)
	b.given(`a source that only the other edition offers`, w.aForeignSource)
	b.requires(`a source that only the other edition offers`, anyway(w.anEdition), anyway(w.aRefusedBody))
	b.when(`the client creates a deployment`, w.clientCreates)
	b.when(`the client tries to create a deployment with (.+)`, w.clientCreatesWithMistake)
	b.when(`the client tries to create a deployment from that source`, w.clientCreatesFromForeignSource)
	b.when(`the client creates a deployment and sets the read-only fields in the request`, w.clientCreatesWithReadOnly)
	b.then(`the creation succeeds`, w.creationSucceeds)
	b.then(`the answer holds the uuids "id" and "latest_revision_id"`, w.answerHoldsIDs)
	b.then(`the request is refused`, w.refused)
	b.then(`the request is refused as invalid`, w.refusedAsInvalid)
	b.then(`the refusal makes no deployment`, w.refusalMakesNoDeployment)
	b.then(`the request is refused, or the read-only fields are the target's own`, w.refusedOrOwnReadOnly)
}

// aNewDeployment can be retrieved; that its revision can be is for the scenario to find out.
func (w *World) aNewDeployment(ctx context.Context) (err error) {
	if w.deployment, err = w.run.shared(ctx, w.run.fixtures.created); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, deploymentPath(w.deployment.id))
}

// aCreatedDeployment can be retrieved with the revision that its creation named.
func (w *World) aCreatedDeployment(ctx context.Context) error {
	if err := w.aNewDeployment(ctx); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, revisionPath(w.deployment.id, w.deployment.first))
}

func (w *World) canBeRetrieved(ctx context.Context, path string) error {
	a, err := w.run.awaitFound(ctx, path)
	if err == nil && !a.OK() {
		return blocked("%s cannot be retrieved: %s", path, seen(a))
	}
	return err
}

func (w *World) aForeignSource() error {
	if err := w.anEdition(); err != nil {
		return err
	}
	return w.aRefusedBody()
}

func (w *World) anEdition() error {
	if w.run.config.Edition == "" {
		return needs("edition")
	}
	return nil
}

func (w *World) aRefusedBody() error {
	if len(w.run.config.Create.Refused) == 0 {
		return needs("create.refused")
	}
	return nil
}

// creates sends a creation and enters what comes of it in the ledger.
func (w *World) creates(ctx context.Context, request client.Request, body map[string]any) error {
	a, err := w.do(ctx, request)
	if err != nil {
		return err
	}
	w.deployment = &deployment{body: body, answer: a}
	if a.OK() && a.Get("id").String() != "" {
		_ = w.run.noteCreated(ctx, w.deployment, a) // an incomplete answer is judged by the sentence about it
	}
	return nil
}

func (w *World) createsWith(ctx context.Context, purpose string, changes map[string]any) error {
	if err := w.run.takeDeployment(); err != nil {
		return err
	}
	body := w.run.template(w.run.name(purpose), changes)
	return w.creates(ctx, w.run.toControlPlane(theClient, http.MethodPost, deploymentsPath, body), body)
}

func (w *World) clientCreates(ctx context.Context) error { return w.createsWith(ctx, "new", nil) }

func (w *World) clientCreatesFromForeignSource(ctx context.Context) error {
	body := cloneObject(w.run.config.Create.Refused)
	if name := w.run.name("foreign"); rename(body, name) {
		w.subject = []string{name}
	}
	if source, _ := body["source"].(string); source == "" {
		body["source"] = foreignSource(w.run.config.Edition)
	}
	return w.creates(ctx, w.run.toControlPlane(theClient, http.MethodPost, deploymentsPath, body), body)
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

func (w *World) clientCreatesWithReadOnly(ctx context.Context) error {
	changes := readOnly()
	changes["source_revision_config"] = map[string]any{"repo_commit_sha": readOnlyCommit}
	return w.createsWith(ctx, "readonly", changes)
}

// createMistakes are bodies that make no sense, by the name that the features give them.
func (r *run) createMistake(mistake, name string) []byte {
	body := r.template(name, nil)
	switch mistake {
	case "no source":
		delete(body, "source")
	case "an unknown source":
		body["source"] = "no_such_source"
	case "a number as source":
		body["source"] = 7
	default:
		return wrongBody(mistake, body, r.sourceField())
	}
	return encode(body)
}

// wrongBody makes one of the mistakes that creations and updates share.
func wrongBody(mistake string, body map[string]any, field string) []byte {
	switch mistake {
	case "a list as source configuration":
		body["source_config"] = []any{"build_on_push"}
	case "a text as source revision configuration":
		body["source_revision_config"] = "main"
	case "a number as repository ref or image":
		config := cloneObject(asked(body))
		config[field] = 7
		body["source_revision_config"] = config
	case "a list in place of the object":
		return encode([]any{body})
	case "a text in place of the object":
		return encode("deployment")
	case "a body that is no JSON":
		return []byte(`{"source": `)
	case "no body":
		return []byte{}
	}
	return encode(body)
}

// sourceField is the field of the source revision configuration that belongs to the source that is created.
func (r *run) sourceField() string {
	if r.config.Source() == config.GitHost {
		return "repo_ref"
	}
	return "image_uri"
}

func (w *World) clientCreatesWithMistake(ctx context.Context, mistake string) error {
	name := w.run.name("mistake")
	if w.aNamedTemplate() == nil {
		w.subject = []string{name}
	}
	request := w.run.toControlPlane(theClient, http.MethodPost, deploymentsPath, w.run.createMistake(mistake, name))
	request.Wrong = true
	return w.creates(ctx, request, nil)
}

func (w *World) creationSucceeds() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if !slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.Status) {
		return violated(a, "status 200, 201 or 202", "%s", seen(a))
	}
	return nil
}

func (w *World) answerHoldsIDs() error {
	for _, field := range []string{"id", "latest_revision_id"} {
		value := w.answer.Get(field)
		if value.Type != gjson.String || !isUUID(value.Str) {
			return violated(w.answer, "a uuid as "+field, "%s", shown(value)).at("/" + field)
		}
	}
	return nil
}

func (w *World) refused() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if !a.Refused() {
		return violated(a, "a refusal (status 4xx)", "%s", seen(a))
	}
	return nil
}

// refusedAsInvalid wants a 422 that tells the reasons. Another refusal is tolerated, and noted: the interface shows
// only the 422, servers in the field answer semantic mistakes with other statuses too.
func (w *World) refusedAsInvalid() error {
	if err := w.refused(); err != nil {
		return err
	}
	if w.answer.Status != http.StatusUnprocessableEntity {
		w.noted("tolerated: refused with status " + strings.TrimSpace(http.StatusText(w.answer.Status)) + " in place of 422")
		return nil
	}
	if problem := validationError(w.answer); problem != nil {
		return problem
	}
	return nil
}

// refusalMakesNoDeployment looks for what a refusal may have left: an id in its answer that can be retrieved, or,
// where the target lists its deployments, the name.
func (w *World) refusalMakesNoDeployment(ctx context.Context) error {
	refusal := w.answer
	if id := refusal.Get("id").String(); id != "" {
		a, err := w.run.get(ctx, deploymentPath(id), "")
		if err != nil {
			return err
		}
		if a.OK() {
			return violated(refusal, "no deployment after the refusal", "deployment %s can be retrieved", id)
		}
	}
	if len(w.subject) == 0 {
		w.noted("whether a deployment was left behind could not be looked up: the template has no name")
		return nil
	}
	found, _, err := w.run.listDeployments(ctx, w.subject[0])
	if err != nil {
		return err
	}
	if len(found) > 0 {
		for _, id := range found {
			if err := w.run.ledger.Created("deployment", id, w.scenario.Key()); err != nil {
				return err
			}
		}
		return violated(refusal, "no deployment after the refusal", "the deployment %s", quoted(found))
	}
	return nil
}

func (w *World) refusedOrOwnReadOnly(ctx context.Context) error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if a.Refused() {
		return nil
	}
	if !a.OK() {
		return violated(a, "a deployment, or a refusal", "%s", seen(a))
	}
	answers := []*client.Answer{a}
	for _, path := range []string{deploymentPath(w.deployment.id), revisionPath(w.deployment.id, w.deployment.first)} {
		read, err := w.run.get(ctx, path, "")
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
				return violated(a, "a value of the target's own for "+field, "the value of the request, %s", shown(got)).at("/" + field)
			}
		}
		if got := a.Get("source_revision_config.repo_commit_sha"); got.String() == readOnlyCommit {
			return violated(a, "the commit of the source", "the value of the request, %s", shown(got)).at("/source_revision_config/repo_commit_sha")
		}
	}
	return nil
}
