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
		{
			Name: "config-lags-now-and-then", Breaks: "every third answer after an update has the new latest_revision_id with the previous source_revision_config", Fails: "CP-UPDATE-9",
			Apply: laggingConfig(func(n int) bool { return n%3 == 0 }),
		},
		{
			Name: "config-lags-at-first", Breaks: "the first answer after an update has the new latest_revision_id with the previous source_revision_config", Fails: "CP-UPDATE-9",
			Apply: laggingConfig(func(n int) bool { return n == 1 }),
		},
	}
}

// laggingConfig shows the configuration from before the last update in some answers after it, counted from 1.
func laggingConfig(lags func(n int) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		id := deploymentOf(r)
		switch {
		case updateDeployment.is(r) && len(asksFor(r)) > 0:
			before := lookAtDeployment(next, r)
			a := deviate.Capture(next, r)
			if latest := text(lookAtDeployment(next, r), "latest_revision_id"); a.Status < 300 {
				m.mark(id, before["source_revision_config"])
				m.mark("latest "+id, latest)
			}
			a.Send(w)
		case getDeployment.is(r) && m.marked(id) != nil:
			a := deviate.Capture(next, r)
			if latest := text(a.Object(), "latest_revision_id"); latest == m.marked("latest "+id) && lags(m.count(latest)) {
				a.Edit(func(d map[string]any) { d["source_revision_config"] = m.marked(id) })
			}
			a.Send(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// asksFor returns the source fields of an update that are non-empty strings.
func asksFor(r *http.Request) []string { return asked(bodyOf(r)) }

func asked(body map[string]any) []string {
	source := sourceOf(body)
	return slices.DeleteFunc(slices.Clone(sourceFields), func(field string) bool { return text(source, field) == "" })
}
