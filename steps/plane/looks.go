package plane

import (
	"context"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/shared"
)

// look is what scenarios read of a shared deployment before they act. The first that needs it reads for all of them: nobody changes such
// a deployment. What a scenario judges it reads itself.
type look = shared.Value[[]*client.Answer]

// LookAt returns how the path was answered when the first scenario asked for it under the name.
func (p *Plane) LookAt(ctx context.Context, name, path string) (*client.Answer, error) {
	all, err := p.look(path).Get(ctx, p.maker, name, func(ctx context.Context) ([]*client.Answer, error) {
		a, err := p.AwaitFound(ctx, path)
		return []*client.Answer{a}, err
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// LookAtEach returns how each revision of the deployment was answered when the first scenario asked for it.
func (p *Plane) LookAtEach(ctx context.Context, d *Deployment) ([]*client.Answer, error) {
	return p.look(RevisionsPath(d.ID)).Get(ctx, p.maker, "a look at each revision", func(ctx context.Context) ([]*client.Answer, error) {
		return p.GetEach(ctx, d)
	})
}

// GetEach asks for each revision of the deployment, one after the other.
func (p *Plane) GetEach(ctx context.Context, d *Deployment) ([]*client.Answer, error) {
	all := make([]*client.Answer, len(d.Revisions))
	for i, revision := range d.Revisions {
		a, err := p.Get(ctx, RevisionPath(d.ID, revision), "")
		if err != nil {
			return nil, err
		}
		all[i] = a
	}
	return all, nil
}

func (p *Plane) look(path string) *look {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looks[path] == nil {
		p.looks[path] = &look{}
	}
	return p.looks[path]
}
