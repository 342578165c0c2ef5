package controlplane

import (
	"context"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
)

// clientChangesSource tries both other sources, because a server may know only some of them. It tries each with and without
// a source_revision_config, because a server may check the source only if nothing else is updated. It also tries
// internal_container, which both editions have, with an update that creates a revision: that may get the other source.
func (w *World) clientChangesSource(ctx context.Context) error {
	for _, source := range []string{config.GitHost, config.ExternalContainer, config.InternalContainer} {
		if source == w.target.Config.Source() {
			continue
		}
		for _, body := range []map[string]any{{"source": source}, {"source": source, "source_revision_config": map[string]any{}}} {
			if err := w.patch(ctx, body, true); err != nil {
				return err
			}
		}
	}
	field := w.plane.Sources.Field()
	current, err := w.current(field)
	if err != nil {
		return nil // the deployment does not show the value, and the other requests are judged
	}
	if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	body := plane.SourceUpdate(map[string]any{field: current})
	body["source"] = config.InternalContainer
	return w.patch(ctx, body, true)
}

// patchReadOnly sends the read-only fields together with the current value of a field, which creates a revision.
func (w *World) patchReadOnly(ctx context.Context) error {
	field := w.plane.Sources.Field()
	current, err := w.current(field)
	if err != nil {
		return err
	}
	if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	return w.patch(ctx, plane.Changed(readOnly(), plane.SourceUpdate(map[string]any{field: current})), true)
}
