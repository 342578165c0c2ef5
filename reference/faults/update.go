package faults

import (
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// sourceFields are the fields whose update creates a revision (interface, section 2).
var sourceFields = []string{"repo_ref", "graph_config_path", "image_uri"}

func newRevisions() []Fault {
	return []Fault{
		{
			Name: "repo-ref-makes-no-revision", Breaks: "an update of repo_ref creates no revision", Fails: "CP-UPDATE-1", Hangs: true,
			Apply: onUpdateOf("repo_ref", withoutIt("repo_ref")),
		},
		{
			Name: "repo-ref-makes-two-revisions", Breaks: "an update of repo_ref creates two revisions", Fails: "CP-UPDATE-1",
			Apply: onUpdateOf("repo_ref", twice),
		},
		{
			Name: "two-fields-make-two-revisions", Breaks: "an update of repo_ref and graph_config_path creates two revisions", Fails: "CP-UPDATE-1",
			Apply: onUpdateOfBoth(),
		},
		{
			Name: "same-repo-ref-makes-no-revision", Breaks: "an update to the current repo_ref creates no revision", Fails: "CP-UPDATE-1",
			Apply: onUpdateOf("repo_ref", unlessNew("repo_ref")),
		},
		{
			Name: "latest-revision-is-stale", Breaks: "latest_revision_id does not change with an update of repo_ref", Fails: "CP-UPDATE-1", Hangs: true,
			Apply: staleLatest("repo_ref"),
		},
		{
			Name: "sixteenth-revision-is-not-made", Breaks: "an update of repo_ref creates no revision of a deployment that has 15 of them",
			Fails: "CP-UPDATE-1", Hangs: true, Elsewhere: true, Apply: onUpdateOf("repo_ref", unlessMany("repo_ref")),
		},
		{
			Name: "graph-config-path-makes-no-revision", Breaks: "an update of graph_config_path creates no revision", Fails: "CP-UPDATE-2", Hangs: true,
			Apply: onUpdateOf("graph_config_path", withoutIt("graph_config_path")),
		},
		{
			Name: "graph-config-path-makes-two-revisions", Breaks: "an update of graph_config_path creates two revisions", Fails: "CP-UPDATE-2",
			Apply: onUpdateOf("graph_config_path", twice),
		},
		{
			Name: "same-graph-config-path-makes-no-revision", Breaks: "an update to the current graph_config_path creates no revision", Fails: "CP-UPDATE-2",
			Apply: onUpdateOf("graph_config_path", unlessNew("graph_config_path")),
		},
		{
			Name: "image-makes-no-revision", Breaks: "an update of image_uri creates no revision", Fails: "CP-UPDATE-3", Hangs: true, Edition: selfHosted,
			Apply: onUpdateOf("image_uri", withoutIt("image_uri")),
		},
		{
			Name: "image-makes-two-revisions", Breaks: "an update of image_uri creates two revisions", Fails: "CP-UPDATE-3", Edition: selfHosted,
			Apply: onUpdateOf("image_uri", twice),
		},
		{
			Name: "same-image-makes-no-revision", Breaks: "an update to the current image_uri creates no revision", Fails: "CP-UPDATE-3", Edition: selfHosted,
			Apply: onUpdateOf("image_uri", unlessNew("image_uri")),
		},
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
			Name: "deployment-keeps-its-first-config", Breaks: "source_revision_config of a deployment does not change with an update", Fails: "CP-UPDATE-9",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createDeployment.is(r) && !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				a.edit(func(d map[string]any) {
					if createDeployment.is(r) {
						m.mark(text(d, "id"), d["source_revision_config"])
					} else if config := m.marked(deploymentOf(r)); config != nil {
						d["source_revision_config"] = config
					}
				})
				a.send(w)
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
		{
			Name: "deployment-shows-no-config-after-update", Breaks: "source_revision_config of a deployment is empty after an update", Fails: "CP-UPDATE-9",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				alone := onlyOne(next, r)
				a := capture(next, r)
				if !alone {
					a.edit(func(d map[string]any) { d["source_revision_config"] = map[string]any{} })
				}
				a.send(w)
			}),
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
			a := capture(next, r)
			if latest := text(lookAtDeployment(next, r), "latest_revision_id"); a.status < 300 {
				m.mark(id, before["source_revision_config"])
				m.mark("latest "+id, latest)
			}
			a.send(w)
		case getDeployment.is(r) && m.marked(id) != nil:
			a := capture(next, r)
			if latest := text(a.object(), "latest_revision_id"); latest == m.marked("latest "+id) && lags(m.count(latest)) {
				a.edit(func(d map[string]any) { d["source_revision_config"] = m.marked(id) })
			}
			a.send(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// onUpdateOf changes updates whose only non-null source field is the given one.
func onUpdateOf(field string, change func(r *http.Request, next http.Handler)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && slices.Equal(asksFor(r), []string{field}) {
			change(r, next)
		}
		next.ServeHTTP(w, r)
	})
}

// onUpdateOfBoth applies repo_ref in an update of its own.
func onUpdateOfBoth() Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && slices.Equal(asksFor(r), []string{"repo_ref", "graph_config_path"}) {
			captureBeside(next, r, func(half *http.Request) {
				editBody(half, func(body map[string]any) { delete(sourceOf(body), "graph_config_path") })
			})
			editBody(r, func(body map[string]any) { delete(sourceOf(body), "repo_ref") })
		}
		next.ServeHTTP(w, r)
	})
}

// asksFor returns the source fields of an update that are non-empty strings.
func asksFor(r *http.Request) []string { return asked(bodyOf(r)) }

func asked(body map[string]any) []string {
	source := sourceOf(body)
	return slices.DeleteFunc(slices.Clone(sourceFields), func(field string) bool { return text(source, field) == "" })
}

func withoutIt(field string) func(*http.Request, http.Handler) {
	return func(r *http.Request, _ http.Handler) {
		editBody(r, func(body map[string]any) { delete(sourceOf(body), field) })
	}
}

func twice(r *http.Request, next http.Handler) { captureBeside(next, r, func(*http.Request) {}) }

func unlessNew(field string) func(*http.Request, http.Handler) {
	return func(r *http.Request, next http.Handler) {
		if current := sourceOf(lookAtDeployment(next, r)); current[field] == sourceOf(bodyOf(r))[field] {
			withoutIt(field)(r, next)
		}
	}
}

// unlessMany takes the field out of updates of a deployment that has 15 revisions or more.
func unlessMany(field string) func(*http.Request, http.Handler) {
	return func(r *http.Request, next http.Handler) {
		list := look(next, r, "/v2/deployments/"+deploymentOf(r)+"/revisions", "limit=15")
		if len(items(list["resources"])) == 15 {
			withoutIt(field)(r, next)
		}
	}
}

// staleLatest shows latest_revision_id as it was before an update of the field, until another field is updated.
func staleLatest(field string) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) {
			asked, before := asksFor(r), lookAtDeployment(next, r)["latest_revision_id"]
			a := capture(next, r)
			switch {
			case a.status >= 300 || len(asked) == 0:
			case slices.Contains(asked, field):
				m.mark(deploymentOf(r), before)
			default:
				m.mark(deploymentOf(r), nil)
			}
			a.send(w)
			return
		}
		if !getDeployment.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if stale := m.marked(deploymentOf(r)); stale != nil {
			a.edit(func(d map[string]any) { d["latest_revision_id"] = stale })
		}
		a.send(w)
	})
}
