package faults

import (
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
)

// sourceFields are the fields whose update creates a revision (interface, section 2).
var sourceFields = []string{"repo_ref", "graph_config_path", "image_uri"}

func newRevisions() []Fault {
	return []Fault{
		{
			Name: "second-revision-fails", Breaks: "the second revision of a deployment fails when its agent server starts", Fails: "CP-UPDATE-10",
			Apply: deploying(func(n int) bool { return n == 2 }),
		},
		{
			Name: "second-revision-awaits-deploy", Breaks: "the revision of an update stays at AWAITING_DEPLOY", Fails: "CP-UPDATE-10", Hangs: true,
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if of.number > 1 && r.Status == controlplane.Deployed {
					r.Status = controlplane.AwaitingDeploy
				}
			}),
		},
	}
}

// asksFor returns the source fields of an update that are non-empty strings.
func asksFor(r *http.Request) []string { return asked(bodyOf(r)) }

func asked(body map[string]any) []string {
	source := sourceOf(body)
	return slices.DeleteFunc(slices.Clone(sourceFields), func(field string) bool { return text(source, field) == "" })
}

func keptAsIs() []Fault {
	return []Fault{
		{
			Name: "null-clears-a-field", Breaks: "an update with repo_ref, graph_config_path or image_uri null shows it as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				value, named := sourceOf(body)[field]
				return named && value == nil
			}),
		},
		{
			Name: "update-clears-what-it-does-not-name", Breaks: "an update with a source field shows the other source fields of the new revision as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				return len(asked(body)) > 0 && sourceOf(body)[field] == nil
			}),
		},
	}
}

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
