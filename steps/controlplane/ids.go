package controlplane

import (
	"cmp"
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineIDs registers the steps about ids that are unknown or not UUIDs, and about other spellings of an id
// (sections 4 and 7).
func (w *World) defineIDs(r *common.Definitions) {
	r.When(`the client lists the revisions of an unknown deployment with each parameter`,
		w.clientListsUnknownWithEach)
	const sends = `the client (retrieves|lists the revisions of|retrieves its latest revision under|` + emptyUpdate + `) `
	r.When(sends+`(?:an unknown deployment|the deployment with the id "([^"]*)")`, w.clientSendsBy)
	r.When(sends+`each id that is almost that of (the deployment|its revision)`, w.clientSendsByEach)
	r.When(`the client lists its revisions by its id (in capital letters|in braces|without dashes|after urn:uuid:)`,
		w.clientListsByForm)
	r.When(`the client retrieves (the deployment|its latest revision) by its id in each other spelling`,
		w.clientRetrievesByForms)
	r.Then(`each response is the (?:deployment|revision), or is refused with 4xx`, func() error {
		return w.scene.EachCase(func(c common.Case) error { return judge.ShowsOwnOrRefuses(c.Response, c.What, c.ID) })
	})
	r.Then(`(?:the request|each of these lists) returns 404 and a detail that contains (?:the deployment|its) id`,
		w.eachNotFound)
	r.Then(`the list holds its revisions, or the request is refused with 4xx`, func() error {
		a := w.scene.Response
		return judge.HoldsOwnOrRefuses(a, w.class, plane.ListOf(a).IDs(), w.Deployment.Revisions)
	})
}

func (w *World) clientListsUnknownWithEach(ctx context.Context) error {
	for _, p := range parameters {
		query := p.valid[0]
		err := w.tryList(ctx, target.UnknownID(), query, false, query)
		if err != nil {
			return err
		}
	}
	return nil
}

// byID are the operations that are sent with the id of a deployment, as the steps name them.
var byID = map[string]string{
	"retrieves":              "retrieve a deployment",
	"lists the revisions of": "list its revisions",
	underID:                  "retrieve a revision",
	emptyUpdate:              "update a deployment",
}

const (
	underID     = "retrieves its latest revision under"
	emptyUpdate = "sends an empty update to"
)

// textID is an id that is not a UUID, and that no server assigns.
const textID = "agentconform-none"

// notUUID is the class of an id that is not a UUID, for violations.
const notUUID = "not a UUID"

// clientSendsBy sends a request with the id, which no deployment has. If the id is empty, it uses an unknown UUID.
func (w *World) clientSendsBy(ctx context.Context, act, id string) error {
	if id != "" && id != uuid.Nil.String() {
		w.class = notUUID
	}
	d := &plane.Deployment{ID: cmp.Or(id, target.UnknownID())}
	request := w.request(target.TheClient, byID[act], d)
	request.Wrong = w.class == notUUID
	c := common.Case{ID: d.ID}
	switch {
	case id == uuid.Nil.String():
		c.What = common.NilID.What
	case w.class == notUUID:
		c.What = "an id that is not a UUID"
	case act == underID:
		c.What = "the id of another deployment"
	}
	return w.sendCase(ctx, request, c)
}

// clientSendsByEach sends a request with each UUID that is similar to an id. It also sends the nil UUID, an unknown id
// and a text, unless another scenario does. It sends no update to an id that may belong to a deployment from before the
// test run.
func (w *World) clientSendsByEach(ctx context.Context, act, of string) error {
	id, latest := w.Deployment.ID, w.Deployment.Latest()
	addressed := &plane.Deployment{ID: id, First: latest}
	ids, wrong := common.NearIDs(id, latest, "revision"), &addressed.ID
	if of == "its revision" {
		act = underID
		ids, wrong = common.NearIDs(latest, id, "deployment"), &addressed.First
	}
	if act == emptyUpdate && w.Deployment.Found {
		ids = nil
	}
	if act == emptyUpdate || act == underID {
		ids = append(ids, common.Case{ID: target.UnknownID(), What: "an unknown id"},
			common.Case{ID: textID, What: "an id that is not a UUID"}, common.NilID)
	}
	if act == underID && latest == "" {
		return outcome.Inconclusive("no revision of the deployment is known")
	}
	if len(ids) == 0 {
		return outcome.Inapplicable("ids that are UUIDs",
			"the ids of the target are not UUIDs: a similar one may exist")
	}
	for _, c := range ids {
		*wrong = c.ID
		request := w.request(target.TheClient, byID[act], addressed)
		request.Wrong = c.ID == textID
		if err := w.sendCase(ctx, request, c); err != nil {
			return err
		}
	}
	return nil
}

// eachNotFound judges that the detail of each 404 contains the id of the request.
func (w *World) eachNotFound() error {
	return w.scene.EachCase(func(c common.Case) error { return judge.IsNotFound(c.Response, c.What, c.ID) })
}

// clientListsByForm lists the revisions of the deployment by a different form of its id.
func (w *World) clientListsByForm(ctx context.Context, form string) error {
	id := exchange.InForm(w.Deployment.ID, form)
	if id == "" {
		return outcome.Inapplicable("an id with this form", "the id %s has no other form %s", w.Deployment.ID, form)
	}
	w.class = "an id " + form
	return w.get(ctx, plane.RevisionsPath(id), "", form != exchange.InCapitals)
}

// clientRetrievesByForms retrieves a deployment, or its latest revision, by each other form of its id.
func (w *World) clientRetrievesByForms(ctx context.Context, what string) error {
	id, path := w.Deployment.ID, plane.DeploymentPath
	if what != "the deployment" {
		id = w.Deployment.Latest()
		path = func(id string) string { return plane.RevisionPath(w.Deployment.ID, id) }
	}
	forms := exchange.FormsOf(id)
	if len(forms) == 0 {
		return outcome.Inapplicable("ids that are UUIDs", "the id %q is not a UUID", id)
	}
	for _, f := range forms {
		request := w.target.ToControlPlane(target.TheClient, http.MethodGet, path(f.ID), nil)
		request.Wrong = true // only what the response shows is judged
		if err := w.sendCase(ctx, request, common.Case{What: "the id " + f.Name, ID: id}); err != nil {
			return err
		}
	}
	return nil
}
