package controlplane

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// retrieval has the values to compare with the responses.
type retrieval struct {
	*World
	other  *plane.Deployment // the second of two deployments
	commit string            // commit id of the ref
}

// define registers the steps about reading deployments and revisions (sections 1, 2, 4 and 7).
func (w *retrieval) define(r *common.Definitions) {
	fixtures := w.plane.Fixtures
	// it need not be DEPLOYED: it is only read
	r.Given(`an existing deployment`, w.existing(fixtures.Readable))
	r.Given(`a DEPLOYED deployment`, w.existing(fixtures.Deployed))
	r.Given(`two deployments`, w.takeTwo)
	r.Given(`a deployment that was updated to another source`, w.shared(fixtures.Updated))
	r.Given(`a (second )?ref whose commit id is known`, w.findCommit)
	// several times, because a server with replicas may be wrong only in some reads
	r.When(`the client retrieves the deployment`, w.retrieves)
	r.When(`the client retrieves the deployment several times`, w.clientRetrievesOften)
	r.When(`the client retrieves both deployments`, w.clientRetrievesBoth)
	r.When(`the client retrieves its (latest|first) revision`, w.clientRetrievesRevision)
	r.When(`the client retrieves its latest revision and lists its revisions`, w.clientRetrievesAndLists)
	r.When(`the client retrieves both its revisions`, w.retrievesEach)
	r.When(`the client retrieves an unknown revision of it`,
		func(ctx context.Context) error { return w.retrievesRevision(ctx, target.UnknownID()) })
	r.When(`the client retrieves the revision of one deployment under the other`, func(ctx context.Context) error {
		if err := w.get(ctx, plane.RevisionPath(w.other.ID, w.Deployment.First), "", false); err != nil {
			return err
		}
		w.scene.Cases = []common.Case{{Response: w.scene.Response, What: "a revision of another deployment"}}
		return nil
	})
	r.When(`the client retrieves each of its revisions twice`, w.clientRetrievesEachTwice)
	r.Then(`the deployment has the "id", "source" and "latest_revision_id" of its creation`, w.isTheCreated)
	r.Then(`each response is the requested (deployment|revision)`, w.haveTheirIDs)
	r.Then(`the request returns 404 and a string "detail"`,
		func() error { return judge.IsUnknown(w.scene.Response) })
	r.Then(`the "source" of the (?:deployment|revision) is that of the create request`,
		func() error { return judge.HasSource(w.scene.Response, w.Deployment.Source()) })
	r.Then(`the "source_revision_config" of the (?:deployment|revision) holds the values of the create request`,
		func() error { return judge.HasConfig(w.scene.Response, plane.RevisionConfig(w.Deployment.Body)) })
	r.Then(`the "source_revision_config" of the revision is unchanged`,
		func() error { return judge.ConfigUnchanged(w.scene.Response, w.Deployment.Original) })
	r.Then(`the retrieved revision is the latest revision`,
		func() error { return judge.HasID(w.responses[0], "id", w.revision) })
	r.Then(`the list contains only that revision`, func() error {
		list := w.responses[1]
		return judge.HoldsOnly(list, plane.ListOf(list).IDs(), w.revision)
	})
	r.Then(`the revision has every required field, and none is null`,
		func() error { return judge.IsComplete(w.scene.Response) })
	// The compared reads are from different times.
	r.Then(`each has the "created_at" of its first read`, w.createdAtUnchanged)
	r.Then(`whenever "latest_revision_id" names the new revision, "source_revision_config" holds the values of the update`,
		w.configFollowsLatest)
	r.Then(`no "updated_at" is before "created_at"`, func() error { return judge.UpdatedAfterCreated(w.responses) })
	r.Then(`the "repo_commit_sha" of the revision is the commit id of its ref`,
		func() error { return judge.HasCommit(w.scene.Response, w.commit) })
}

func (w *retrieval) takeTwo(ctx context.Context) error {
	if err := w.existing(w.plane.Fixtures.Readable)(ctx); err != nil {
		return err
	}
	if w.Deployment.Found {
		w.other = w.plane.Existing.Deployments()[1]
		return nil
	}
	other, err := w.plane.Shared(ctx, w.plane.Fixtures.Existing)
	if err != nil {
		return err
	}
	w.other = other
	return nil
}

// findCommit finds the configured commit id of a ref. It skips the scenario if there is none.
func (w *retrieval) findCommit(second string) error {
	ref, _ := plane.RevisionConfig(w.target.Config.Create.Body)["repo_ref"].(string)
	if second != "" {
		ref = w.target.Config.Alternatives.RepoRef
	}
	w.commit = w.target.Config.Alternatives.Commits[ref]
	if w.commit == "" {
		return outcome.Needs("alternatives.commits", " with the commit id of each ref")
	}
	return nil
}

func (w *retrieval) clientRetrievesOften(ctx context.Context) error {
	for range 6 {
		if err := w.retrieves(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *retrieval) clientRetrievesBoth(ctx context.Context) error {
	for _, id := range []string{w.Deployment.ID, w.other.ID} {
		if err := w.get(ctx, plane.DeploymentPath(id), "", false); err != nil {
			return err
		}
	}
	return nil
}

func (w *retrieval) clientRetrievesRevision(ctx context.Context, which string) error {
	if which == "first" {
		return w.retrievesRevision(ctx, w.Deployment.First)
	}
	return w.retrievesRevision(ctx, w.Deployment.Latest())
}

func (w *retrieval) clientRetrievesAndLists(ctx context.Context) error {
	if err := w.retrievesRevision(ctx, w.Deployment.Latest()); err != nil {
		return err
	}
	if err := w.plane.AwaitListed(ctx, w.Deployment.ID, w.Deployment.Latest()); err != nil {
		return err
	}
	return w.list(ctx, "", false)
}

func (w *retrieval) clientRetrievesEachTwice(ctx context.Context) error {
	for range 2 {
		if err := w.retrievesEach(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isTheCreated judges the deployment. If it is from before the test run, others may have updated it since it was listed.
func (w *retrieval) isTheCreated() error {
	created := judge.Created{ID: w.Deployment.ID, Revision: w.Deployment.First, Source: w.Deployment.Source()}
	if w.Deployment.Found {
		created.Revision = ""
		w.scene.Note("judged on an existing deployment: id and source only")
	}
	return judge.IsTheCreated(w.scene.Response, created)
}

func (w *retrieval) haveTheirIDs(what string) error {
	if what == "deployment" {
		return judge.HaveIDs(w.responses, []string{w.Deployment.ID, w.other.ID})
	}
	return judge.HaveIDs(w.responses, w.Deployment.Revisions)
}

// createdAtUnchanged compares each response with the earliest read of its revision in the test run. That read may be from
// before the end of the build.
func (w *retrieval) createdAtUnchanged() error {
	var revisions []judge.Reread
	for _, a := range w.responses {
		first := w.plane.Observed(a.Get("id").String()).First
		revisions = append(revisions, judge.Reread{First: first, Now: a})
	}
	return judge.CreatedAtUnchanged(revisions)
}

// configFollowsLatest also judges the first response after the update that named the new revision.
func (w *retrieval) configFollowsLatest() error {
	responses := w.responses
	if first := w.Deployment.Naming; first != nil {
		responses = slices.Concat([]*exchange.Response{first}, responses)
	}
	return judge.ConfigFollowsLatest(responses, w.Deployment.Latest(), w.Deployment.Update)
}
