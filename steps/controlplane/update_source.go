package controlplane

import (
	"context"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
)

// clientChangesSource tries both other sources, because a server may know only some of them. It sends each with and
// without a source_revision_config, because a server may check the source only if nothing else is updated. The last
// request sends internal_container, which both editions have, with a value that creates a revision, because that revision
// may get the source.
func (w *updates) clientChangesSource(ctx context.Context) error {
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
	if _, err := w.current(w.plane.Sources.Field()); err != nil {
		return nil // the deployment does not show the value, and the other requests are judged
	}
	return w.patchWithRevision(ctx, map[string]any{"source": config.InternalContainer})
}

// patchWithRevision sends fields that an update must not set, together with the current value of a field of the source,
// which creates a revision.
func (w *updates) patchWithRevision(ctx context.Context, fields map[string]any) error {
	field := w.plane.Sources.Field()
	current, err := w.current(field)
	if err != nil {
		return err
	}
	if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	return w.patch(ctx, plane.Changed(fields, plane.SourceUpdate(map[string]any{field: current})), true)
}
