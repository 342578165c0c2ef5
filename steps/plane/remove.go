package plane

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Remove removes a deployment, and says why it could not. The operation is a vendor extension.
func (p *Plane) Remove(ctx context.Context, id string) (problem string) {
	if p.Existing.has(id) {
		return "it was there before the run"
	}
	a, err := p.target.Client.Do(ctx, p.target.ToControlPlane(target.TheClient, http.MethodDelete, DeploymentPath(id), nil))
	switch {
	case err != nil:
		return client.Reason(err)
	case a.OK() || a.Status == http.StatusNotFound:
		return ""
	}
	return p.target.Redact.Excerpt(outcome.SeenShort(a))
}
