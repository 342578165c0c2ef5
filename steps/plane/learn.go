package plane

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
)

// isNoID tells whether what a creation answered as the id is none by which the deployment can be asked for.
func (r *reader) isNoID(ctx context.Context, id string) bool {
	if id == "" {
		return true
	}
	if uuid.Validate(id) == nil && strings.Contains(id, "-") {
		return false
	}
	a, err := r.Get(ctx, DeploymentPath(id), "")
	return err == nil && a.Refused()
}

// createdAs returns the id of the deployment that a creation made, where its answer has none: that of the only one with its
// name, if the target can list its deployments (a vendor extension); else "".
func (r *reader) createdAs(ctx context.Context, d *Deployment) string {
	name, _ := d.Body["name"].(string)
	if name == "" {
		return ""
	}
	found, _, err := r.ListDeployments(ctx, name)
	if err != nil || len(found) != 1 {
		return ""
	}
	return found[0]
}

// firstOf returns the id of the only revision of a deployment that was just created, where the creation has not named it:
// from the deployment, or from the list of its revisions; else "". Where none could be learned once, others are not waited for.
func (p *Plane) firstOf(ctx context.Context, id string) (first string) {
	limit := p.target.Config.Timeouts.Request
	p.mu.Lock()
	if p.noFirst {
		limit = 0
	}
	p.mu.Unlock()
	err := p.target.RetryFor(ctx, limit, func() (bool, error) {
		a, err := p.Get(ctx, DeploymentPath(id), "")
		if err != nil {
			return false, err
		}
		if named := a.Get("latest_revision_id"); named.Type == gjson.String && named.Str != "" {
			first = named.Str
			return true, nil
		}
		rows, _, err := p.ListAll(ctx, id, "")
		if err == nil && len(rows) == 1 {
			first = rows[0].Get("id").String()
		}
		return first != "", err
	})
	if err == nil && first == "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.noFirst = true
	}
	return first
}
