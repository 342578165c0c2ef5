package doctor

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// examineExisting looks, as a run does, for what can be judged without further keys, unless there is a problem.
// The error is that of the context.
func (x *examiner) examineExisting(ctx context.Context, e *Examination) error {
	if len(e.problems()) > 0 {
		return nil
	}
	if err := x.forecast.Look(ctx, x.plane, x.agents); err != nil {
		return err
	}
	c := x.target.Config
	if c.Target == "" || !c.HasCredentials() || len(c.Create.Body) > 0 {
		return nil
	}
	const subject = "existing deployments"
	found := x.plane.Existing.Deployments()
	if len(found) == 0 {
		e.add(Noted, subject, "GET /v2/deployments: no DEPLOYED deployment; checks that need one are skipped", "set create.body")
		return nil
	}
	e.add(Fine, subject, fmt.Sprintf("GET /v2/deployments: %s with %s; the run reads it and does not change it", found[0].ID, reports.Count(len(found[0].Revisions), "revision")), "")
	return nil
}
