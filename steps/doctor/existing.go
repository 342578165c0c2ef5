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
	asked := "GET /v2/deployments"
	if c.Existing.Deployment != "" {
		asked = "existing.deployment"
	}
	if missing := x.plane.Existing.Readable(1); missing != nil && c.Existing.Deployment != "" {
		e.add(Noted, asked, missing.Error(), "")
		return nil
	}
	if len(found) == 0 {
		e.add(Noted, subject, "GET /v2/deployments: no DEPLOYED deployment; checks that need one are skipped", "set create.body, or existing.deployment")
		return nil
	}
	e.add(Fine, subject, fmt.Sprintf("%s: %s with %s; the run reads it and does not change it", asked, found[0].ID, reports.Count(len(found[0].Revisions), "revision")), "")
	x.examineAddress(ctx, e, found[0].ID)
	return nil
}
