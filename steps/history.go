package steps

import (
	"context"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// longHistory is how many revisions the deployment with a long history gets: more than the default limit of a list
// (20, section 8), and no multiple of the page sizes that are tried.
const longHistory = 23

// makeLong makes a deployment with a long history. Where the configuration names a source that cannot be built, one
// of the revisions fails, so that the revisions do not all end in the same status.
func (r *run) makeLong(ctx context.Context) (*deployment, error) {
	if err := r.longHistoryFits(); err != nil {
		return nil, err
	}
	d, err := r.createUp(ctx, "history")
	if err != nil {
		return nil, err
	}
	if broken, _ := r.brokenSource(); broken != nil {
		if err := r.update(ctx, d, broken); err != nil {
			return nil, err
		}
		if _, err := r.poll(ctx, d.id, d.latest(), r.settled); err != nil {
			return nil, err
		}
	}
	for len(d.revisions) < longHistory {
		if err := r.update(ctx, d, r.nextSource(len(d.revisions))); err != nil {
			return nil, err
		}
	}
	late, err := r.awaitCalm(ctx, d)
	if err != nil {
		return nil, err
	}
	if late != nil {
		return nil, blocked("revision %s did not settle in %s: it is %s", late.revision, r.config.Timeouts.Poll, late.final)
	}
	if err := r.awaitListed(ctx, d.id, d.revisions...); err != nil {
		return nil, err
	}
	return d, r.noUnknownRevisions(ctx, d)
}

// longHistoryFits skips where the budget is too small for it.
func (r *run) longHistoryFits() error {
	most := r.config.MaxRevisions
	if most == 0 || most >= longHistory {
		return nil
	}
	o := skipped("the budget forbids it: raise max_revisions to %d (now %d)", longHistory, most)
	o.missing = "max_revisions"
	return o
}

// noUnknownRevisions refuses a history with revisions that nobody asked for: the lists could not be told right from
// wrong. A list alone is no proof of one, since lists are what is to be judged.
func (r *run) noUnknownRevisions(ctx context.Context, d *deployment) error {
	rows, _, err := r.listAll(ctx, d.id, "")
	if err != nil {
		return nil // a list that cannot be read is for the scenarios to find
	}
	unknown := slices.DeleteFunc(ids(rows), func(id string) bool { return slices.Contains(d.revisions, id) })
	for _, id := range unknown[:min(len(unknown), 5)] { // a hostile list may name any number
		a, err := r.get(ctx, revisionPath(d.id, id), "")
		if err == nil && a.OK() && a.Get("id").String() == id {
			return blocked("the deployment has the revision %s, which no update asked for", id)
		}
	}
	return nil
}

// nextSource alternates between the second source and that of the template. Where no second one is configured the
// same value serves: any value that is not null makes a revision (section 2).
func (r *run) nextSource(n int) map[string]any {
	if change, _ := r.anotherSource(); change != nil && n%2 == 1 {
		return change
	}
	same := asked(r.config.Create.Body)
	for _, field := range []string{"repo_ref", "image_uri", "graph_config_path"} {
		if value, ok := same[field].(string); ok {
			return map[string]any{field: value}
		}
	}
	change, _ := r.anotherSource()
	return change
}

// snapshot is how a deployment was at one time.
type snapshot struct {
	deployment *client.Answer
	latest     string
	revisions  []string
}

func (r *run) snapshot(ctx context.Context, d *deployment) (*snapshot, error) {
	shown, err := r.get(ctx, deploymentPath(d.id), "")
	if err != nil {
		return nil, err
	}
	if !shown.OK() {
		return nil, violated(shown, "the deployment", "%s", seen(shown))
	}
	rows, a, err := r.listAll(ctx, d.id, "")
	if err == nil && (!a.OK() || !a.Get("resources").IsArray()) {
		err = violated(a, "a list of revisions", "%s", seen(a))
	}
	if err != nil {
		return nil, err
	}
	return &snapshot{deployment: shown, latest: shown.Get("latest_revision_id").String(), revisions: ids(rows)}, nil
}

// listDeployments reads the deployments with a name. The operation is the field's, not the interface's: where the
// target has none, supported is false.
func (r *run) listDeployments(ctx context.Context, name string) (found []string, supported bool, err error) {
	const size, most = 100, 20
	for page := range most {
		request := r.toControlPlane(theClient, http.MethodGet, deploymentsPath, nil)
		request.Query = pageOfDeployments(size, page*size, name)
		a, err := r.client.Do(ctx, request)
		if err != nil {
			return nil, false, err
		}
		rows := a.Get("resources")
		if a.Status != http.StatusOK || !rows.IsArray() {
			return nil, false, nil
		}
		for _, row := range rows.Array() {
			if row.Get("name").String() == name {
				found = append(found, row.Get("id").String())
			}
		}
		if len(rows.Array()) < size {
			break
		}
	}
	return found, true, nil
}

// edition returns the source that only the other edition offers.
func foreignSource(edition string) string {
	if edition == config.SelfHosted {
		return config.GitHost
	}
	return config.ExternalContainer
}
