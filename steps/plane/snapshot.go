package plane

import (
	"context"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// RowWithID returns the row of a list that has the id.
func RowWithID(rows []gjson.Result, id string) (gjson.Result, bool) {
	for _, row := range rows {
		if row.Get("id").String() == id {
			return row, true
		}
	}
	return gjson.Result{}, false
}

// Snapshot is how a deployment was at one time.
type Snapshot struct {
	Deployment *client.Answer
	List       *client.Answer // of its revisions; the first page
	Latest     string
	Revisions  []string
}

// Snapshot reads how the deployment is now: the deployment itself, and the ids of its revisions.
func (p *Plane) Snapshot(ctx context.Context, d *Deployment) (*Snapshot, error) {
	shown, err := p.Get(ctx, DeploymentPath(d.ID), "")
	if err != nil {
		return nil, err
	}
	if !shown.OK() {
		return nil, outcome.Violated(shown, "the deployment", "%s", outcome.Seen(shown))
	}
	rows, a, err := p.ListAll(ctx, d.ID, "")
	if err == nil && (!a.OK() || !a.Get("resources").IsArray()) {
		err = outcome.Violated(a, "a list of revisions", "%s", outcome.Seen(a))
	}
	if err != nil {
		return nil, err
	}
	return &Snapshot{Deployment: shown, List: a, Latest: shown.Get("latest_revision_id").String(), Revisions: IDs(rows)}, nil
}
