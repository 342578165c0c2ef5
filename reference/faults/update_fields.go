package faults

import "net/http"

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
			a := capture(next, r)
			if a.status == http.StatusOK {
				m.mark(deploymentOf(r), fields)
				if len(asked(body)) > 0 {
					m.mark(text(a.object(), "latest_revision_id"), fields)
				}
			}
			a.send(w)
			return
		}
		a := capture(next, r)
		forget := func(o map[string]any) {
			fields, _ := m.marked(text(o, "id")).([]string)
			for _, field := range fields {
				sourceOf(o)[field] = nil
			}
		}
		switch {
		case a.status != http.StatusOK:
		case getDeployment.is(r), getRevision.is(r):
			a.edit(forget)
		case listRevisions.is(r):
			a.edit(func(list map[string]any) {
				for _, row := range items(list["resources"]) {
					forget(row)
				}
			})
		}
		a.send(w)
	})
}
