package faults

import (
	"net/http"

	"github.com/agentconform/agentconform/reference/deviate"
)

// forgetting shows source fields as null after an update that lost them: those of the deployment until the next update, and those
// of a revision that the update created.
func forgetting(lost func(body map[string]any, field string) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) {
			var fields []string
			body := bodyOf(r)
			for _, field := range sourceFields {
				if body != nil && lost(body, field) {
					fields = append(fields, field)
				}
			}
			a := deviate.Capture(next, r)
			if a.Status == http.StatusOK {
				m.mark(deploymentOf(r), fields)
				if len(asked(body)) > 0 {
					m.mark(text(a.Object(), "latest_revision_id"), fields)
				}
			}
			a.Send(w)
			return
		}
		a := deviate.Capture(next, r)
		forget := func(o map[string]any) {
			fields, _ := m.marked(text(o, "id")).([]string)
			for _, field := range fields {
				sourceOf(o)[field] = nil
			}
		}
		switch {
		case a.Status != http.StatusOK:
		case getDeployment.is(r), getRevision.is(r):
			a.Edit(forget)
		case listRevisions.is(r):
			a.Edit(func(list map[string]any) {
				for _, row := range items(list["resources"]) {
					forget(row)
				}
			})
		}
		a.Send(w)
	})
}
