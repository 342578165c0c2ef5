package controlplane

import (
	"context"

	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// CanCreate skips where the configuration lacks what a deployment is created with.
func (w *World) CanCreate() error { return w.Plane.Sources.CanCreate() }

// Read takes the fixture's deployment, or one that was there before where none can be created.
func (w *World) Read(ctx context.Context, f *plane.Fixture) (err error) {
	if w.CanCreate() != nil {
		w.Deployment = w.Plane.Existing.Deployments()[0]
		return nil
	}
	w.Deployment, err = w.Plane.Shared(ctx, f)
	return err
}

// AnIDToAskFor is that of a deployment where there is one that can be read: what nobody may do is tried with any.
func (w *World) AnIDToAskFor(ctx context.Context) error {
	if w.Plane.Existing.Readable(1) != nil {
		w.Deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
		return nil
	}
	return w.Read(ctx, w.Plane.Fixtures.Existing)
}

// IdToWrite is the id for a request that has to be refused: what was there before the run is not put at risk.
func (w *World) IdToWrite() string {
	if w.CanCreate() != nil {
		return target.UnknownID()
	}
	return w.Deployment.ID
}

// UnlessChanged leaves open what looks wrong where somebody else has changed the deployment in between.
func (w *World) UnlessChanged(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || !w.Deployment.Found {
		return wrong
	}
	if err := w.Plane.Unchanged(ctx, w.Deployment); err != nil {
		return err
	}
	return wrong
}

// Steady is a judgement that does not hold a change by somebody else against the target.
func (w *World) Steady(judge func() error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return w.UnlessChanged(ctx, judge()) }
}

// Source is that of the deployment that the sentences speak of, "" where it is not known.
func (w *World) Source() string {
	if w.Deployment.Found {
		source, _ := w.Deployment.Body["source"].(string)
		return source
	}
	return w.Target.Config.Source()
}
