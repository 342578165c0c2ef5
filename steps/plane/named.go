package plane

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// OfARun is a deployment whose name an earlier run gave.
type OfARun struct {
	ID, Name, Run string
	Created       time.Time // zero where the target does not tell
}

// OfRuns reads the deployments whose names were given by runs, and the time at the target. The list of deployments is a vendor
// extension, and so are the name and the created_at of a deployment: where the target has no list, the error says so.
func (r *reader) OfRuns(ctx context.Context) (found []OfARun, now time.Time, err error) {
	const size, most = 100, 20
	now = time.Now()
	seen := map[string]bool{}
	for range most {
		request := r.target.ToControlPlane(target.TheClient, http.MethodGet, DeploymentsPath, nil)
		request.Query = pageOfDeployments(size, len(seen), target.NamePrefix)
		a, err := r.target.Client.Do(ctx, request)
		if err != nil {
			return nil, now, err
		}
		rows := a.Get("resources")
		if a.Status != http.StatusOK || !rows.IsArray() {
			return nil, now, fmt.Errorf("GET %s: %s; the target does not list deployments, so those of lost runs cannot be found", DeploymentsPath, r.target.Redact.Excerpt(outcome.SeenShort(a)))
		}
		now = a.Clock() // created_at is by this clock
		before := len(seen)
		for _, row := range rows.Array() {
			d := OfARun{ID: row.Get("id").String(), Name: row.Get("name").String()}
			if seen[d.ID] {
				continue
			}
			seen[d.ID] = true
			if d.Run = target.RunOf(d.Name); d.Run == "" || uuid.Validate(d.ID) != nil {
				continue
			}
			if d.Created, err = time.Parse(time.RFC3339, row.Get("created_at").String()); err != nil {
				d.Created = r.newestRevision(ctx, d.ID)
			}
			found = append(found, d)
		}
		if len(rows.Array()) < size || len(seen) == before {
			break
		}
	}
	return found, now, nil
}

// newestRevision is when the newest revision of a deployment was created (section 2), which is not before the deployment; zero where
// that cannot be read.
func (r *reader) newestRevision(ctx context.Context, id string) (newest time.Time) {
	rows, _, err := r.ListAll(ctx, id, "")
	if err != nil {
		return time.Time{}
	}
	for _, row := range rows {
		created, err := time.Parse(time.RFC3339, row.Get("created_at").String())
		if err != nil {
			return time.Time{}
		}
		if created.After(newest) {
			newest = created
		}
	}
	return newest
}
