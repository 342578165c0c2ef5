package scenario

import (
	"context"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Reads says that a sentence only reads the shared deployments. Where the run cannot create them, those that were there
// before will do, if suits finds nothing missing.
func (w *World) Reads(suits func() error, fixtures ...*plane.Fixture) common.Property {
	return func(d *common.Definition) {
		if w.CanCreate() == nil {
			common.Uses(fixtures...)(d)
		}
		common.Needs(common.Whatever(suits))(d)
	}
}

// CanCreate skips where the configuration lacks what a deployment is created with.
func (w *World) CanCreate() error { return w.Plane.Sources.CanCreate() }

// Creating is a check of the configuration for those who can create deployments: what they lack comes first.
func (w *World) Creating(check func() error) func() error {
	return func() error {
		if err := w.CanCreate(); err != nil {
			return err
		}
		return check()
	}
}

// Creatable says that a sentence needs all that a deployment is created with.
func (w *World) Creatable() common.Property { return common.Needs(common.Whatever(w.CanCreate)) }

// Readable is a check that so many deployments can be read, or created.
func (w *World) Readable(n int) func() error {
	return func() error { return w.Plane.Existing.Readable(n) }
}

// ReadableHistory is a check that a deployment with so many revisions can be read, or created.
func (w *World) ReadableHistory(n int) func() error {
	return func() error { return w.Plane.Existing.ReadableHistory(n) }
}

// ReadableStatuses is a check that a deployment whose revisions have settled in so many statuses can be read, or created.
func (w *World) ReadableStatuses(n int) func() error {
	return func() error { return w.Plane.Existing.ReadableStatuses(n) }
}

// Read takes the fixture's deployment, or one that was there before, if nothing is missing there.
func (w *World) Read(ctx context.Context, f *plane.Fixture, missing error) (err error) {
	switch {
	case missing != nil:
		return missing
	case w.CanCreate() != nil:
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
	return w.Read(ctx, w.Plane.Fixtures.Existing, nil)
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
