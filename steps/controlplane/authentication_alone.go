package controlplane

import (
	"context"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/target"
)

// foreign holds the sentences about wrong credentials other than API keys. Each is sent alone: a valid credential beside it
// is not judged.
type foreign struct {
	*access
	tried []attempt
}

// attempt is the answer to a request, and whether its body could not be served.
type attempt struct {
	answer *client.Answer
	empty  bool
}

// define holds the sentences about bearer tokens, tenant IDs and the tokens of users (section 5).
func (w *foreign) define(r *common.Definitions) {
	const operations = ` tries to (create a deployment|retrieve a deployment|update a deployment|list its revisions|retrieve a revision)`
	r.When(`a client with a bearer token that is (unknown|empty|whitespace)`+operations, w.clientWithBearerTries)
	r.When(`a client with a tenant ID that is (unknown|empty|whitespace)`+operations, w.clientWithTenantTries)
	r.When(`a client tries each operation with a ((?:bearer token|tenant ID) that is (?:one character too long|one character too short|changed in its last character|in another case))`, w.clientWithNearMissTriesAll)
	r.Then(`each request is refused with 401 or 403`, w.eachRefused)
	r.When(`a client with the token of a user of the agent server`+operations, w.clientWithUsersTokenTries)
}

func (w *foreign) clientWithBearerTries(ctx context.Context, kind, operation string) error {
	return w.try(ctx, target.Asker("a bearer token that is "+kind), operation)
}

func (w *foreign) clientWithTenantTries(ctx context.Context, kind, operation string) error {
	return w.try(ctx, target.Asker("a tenant ID that is "+kind), operation)
}

// aNearMissAlone skips where the mistake changes nothing in the credential.
func (w *foreign) aNearMissAlone(wrong string) error {
	credential, kind, _ := strings.Cut(wrong, " that is ")
	scheme := target.SchemeBearer
	if credential == "tenant ID" {
		scheme = target.SchemeTenantID
	}
	return w.aNearMissOf(scheme, kind)
}

func (w *foreign) clientWithNearMissTriesAll(ctx context.Context, wrong string) error {
	if err := w.aNearMissAlone(wrong); err != nil {
		return err
	}
	for _, operation := range []string{"create a deployment", "retrieve a deployment", "update a deployment", "list its revisions", "retrieve a revision"} {
		if err := w.try(ctx, target.Asker("a "+wrong), operation); err != nil {
			return err
		}
		w.tried = append(w.tried, attempt{w.Scene.Answer, w.empty})
	}
	return nil
}

func (w *foreign) eachRefused() error {
	for _, at := range w.tried {
		w.Scene.Answer, w.empty = at.answer, at.empty
		if err := w.refusedForCredentials(); err != nil {
			return err
		}
	}
	return nil
}

func (w *foreign) clientWithUsersTokenTries(ctx context.Context, operation string) error {
	return w.try(ctx, target.UsersToken, operation)
}
