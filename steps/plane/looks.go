package plane

import (
	"context"
	"sync"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/shared"
)

// look is what scenarios read of a shared deployment before they act. The first that needs it reads for all of them: nobody changes such
// a deployment. What a scenario judges it reads itself.
type look = shared.Value[[]*client.Answer]

// LookAt returns how the path was answered when the first scenario asked for it under the name.
func (p *Plane) LookAt(ctx context.Context, name, path string) (*client.Answer, error) {
	all, err := p.looks.of(path).Get(ctx, p.maker, name, func(ctx context.Context) ([]*client.Answer, error) {
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
	return p.looks.of(RevisionsPath(d.ID)).Get(ctx, p.maker, "a look at each revision", func(ctx context.Context) ([]*client.Answer, error) {
		return p.GetEach(ctx, d)
	})
}

// looks are the looks of a run.
type looks struct {
	mu sync.Mutex
	at map[string]*look // by path
}

// of is the look at the path; not done yet where nobody asked for it.
func (l *looks) of(path string) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at[path] == nil {
		l.at[path] = &look{}
	}
	return l.at[path]
}
