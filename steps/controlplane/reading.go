package controlplane

import (
	"context"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// reads says that a sentence only reads the shared deployments. Where the run cannot create them, those that were there
// before will do, if suits finds nothing missing.
func (w *World) reads(suits func() error, fixtures ...*plane.Fixture) common.Property {
	return func(d *common.Definition) {
		if w.canCreate() == nil {
			common.Uses(fixtures...)(d)
		}
		common.Needs(common.Whatever(suits))(d)
	}
}

func (w *World) canCreate() error { return w.plane.Sources.CanCreate() }

// creating is a check of the configuration for those who can create deployments: what they lack comes first.
func (w *World) creating(check func() error) func() error {
	return func() error {
		if err := w.canCreate(); err != nil {
			return err
		}
		return check()
	}
}

// creatable says that a sentence needs all that a deployment is created with.
func (w *World) creatable() common.Property { return common.Needs(common.Whatever(w.canCreate)) }

func (w *World) readable(n int) func() error {
	return func() error { return w.plane.Existing.Readable(n) }
}

func (w *World) readableHistory(n int) func() error {
	return func() error { return w.plane.Existing.ReadableHistory(n) }
}

func (w *World) readableStatuses(n int) func() error {
	return func() error { return w.plane.Existing.ReadableStatuses(n) }
}

// read takes the fixture's deployment, or one that was there before, if nothing is missing there.
func (w *World) read(ctx context.Context, f *plane.Fixture, missing error) (err error) {
	switch {
	case missing != nil:
		return missing
	case w.canCreate() != nil:
		w.deployment = w.plane.Existing.Deployments()[0]
		return nil
	}
	w.deployment, err = w.plane.Shared(ctx, f)
	return err
}

// anIDToAskFor is that of a deployment where there is one that can be read: what nobody may do is tried with any.
func (w *World) anIDToAskFor(ctx context.Context) error {
	if w.plane.Existing.Readable(1) != nil {
		w.deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
		return nil
	}
	return w.read(ctx, w.plane.Fixtures.Existing, nil)
}

// idToWrite is the id for a request that has to be refused: what was there before the run is not put at risk.
func (w *World) idToWrite() string {
	if w.canCreate() != nil {
		return target.UnknownID()
	}
	return w.deployment.ID
}

// unlessChanged leaves open what looks wrong where somebody else has changed the deployment in between.
func (w *World) unlessChanged(ctx context.Context, wrong error) error {
	if wrong == nil || w.deployment == nil || !w.deployment.Found {
		return wrong
	}
	if err := w.plane.Unchanged(ctx, w.deployment); err != nil {
		return err
	}
	return wrong
}

// steady is a judgement that does not hold a change by somebody else against the target.
func (w *World) steady(judge func() error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return w.unlessChanged(ctx, judge()) }
}

// source is that of the deployment that the sentences speak of, "" where it is not known.
func (w *World) source() string {
	if w.deployment.Found {
		source, _ := w.deployment.Body["source"].(string)
		return source
	}
	return w.target.Config.Source()
}
