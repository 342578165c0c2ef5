package faults

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// sourceFields are those whose values make a revision (interface, section 2).
var sourceFields = []string{"repo_ref", "graph_config_path", "image_uri"}

func newRevisions() []Fault {
	return []Fault{
		{
			Name: "repo-ref-makes-no-revision", Breaks: "an update of repo_ref is kept for the next build, and makes no revision", Fails: "CP-UPDATE-1", Hangs: true,
			Apply: onUpdateOf("repo_ref", withoutIt("repo_ref")),
		},
		{
			Name: "repo-ref-makes-two-revisions", Breaks: "an update of repo_ref is handled twice", Fails: "CP-UPDATE-1",
			Apply: onUpdateOf("repo_ref", twice),
		},
		{
			Name: "two-fields-make-two-revisions", Breaks: "an update of repo_ref and graph_config_path makes a revision for each of them", Fails: "CP-UPDATE-1",
			Apply: onUpdateOfBoth(),
		},
		{
			Name: "same-repo-ref-makes-no-revision", Breaks: "an update to the repo_ref that stands is taken for no change", Fails: "CP-UPDATE-1",
			Apply: onUpdateOf("repo_ref", unlessNew("repo_ref")),
		},
		{
			Name: "latest-revision-is-stale", Breaks: "after an update of repo_ref the deployment still names the first revision as the latest", Fails: "CP-UPDATE-1", Hangs: true,
			Apply: staleLatest("repo_ref"),
		},
		{
			Name: "graph-config-path-makes-no-revision", Breaks: "an update of graph_config_path alone makes no revision", Fails: "CP-UPDATE-2", Hangs: true,
			Apply: onUpdateOf("graph_config_path", withoutIt("graph_config_path")),
		},
		{
			Name: "graph-config-path-makes-two-revisions", Breaks: "an update of graph_config_path is handled twice", Fails: "CP-UPDATE-2",
			Apply: onUpdateOf("graph_config_path", twice),
		},
		{
			Name: "same-graph-config-path-makes-no-revision", Breaks: "an update to the graph_config_path that stands is taken for no change", Fails: "CP-UPDATE-2",
			Apply: onUpdateOf("graph_config_path", unlessNew("graph_config_path")),
		},
		{
			Name: "image-makes-no-revision", Breaks: "an update of image_uri makes no revision", Fails: "CP-UPDATE-3", Hangs: true, Edition: selfHosted,
			Apply: onUpdateOf("image_uri", withoutIt("image_uri")),
		},
		{
			Name: "image-makes-two-revisions", Breaks: "an update of image_uri is handled twice", Fails: "CP-UPDATE-3", Edition: selfHosted,
			Apply: onUpdateOf("image_uri", twice),
		},
		{
			Name: "same-image-makes-no-revision", Breaks: "an update to the image_uri that stands is taken for no change, though its tag may have moved", Fails: "CP-UPDATE-3", Edition: selfHosted,
			Apply: onUpdateOf("image_uri", unlessNew("image_uri")),
		},
		{
			Name: "second-revision-fails", Breaks: "the agent server of a second revision cannot be started beside the first", Fails: "CP-UPDATE-10",
			Apply: deploying(func(n int) bool { return n == 2 }),
		},
		{
			Name: "second-revision-awaits-deploy", Breaks: "the revision of an update waits for someone to approve it", Fails: "CP-UPDATE-10", Hangs: true,
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if of.number > 1 && r.Status == controlplane.Deployed {
					r.Status = controlplane.AwaitingDeploy
				}
			}),
		},
		{
			Name: "deployment-keeps-its-first-config", Breaks: "a deployment shows the source revision configuration of its creation", Fails: "CP-UPDATE-9",
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
			Name: "config-lags-now-and-then", Breaks: "every third answer shows the new revision's id with the configuration of the one before: it comes from a copy", Fails: "CP-UPDATE-9",
			Apply: laggingConfig(func(n int) bool { return n%3 == 0 }),
		},
		{
			Name: "config-lags-at-first", Breaks: "the first answer after an update shows the new revision's id with the configuration of the one before", Fails: "CP-UPDATE-9",
			Apply: laggingConfig(func(n int) bool { return n == 1 }),
		},
		{
			Name: "deployment-shows-no-config-after-update", Breaks: "after an update a deployment shows nothing in its source revision configuration", Fails: "CP-UPDATE-9",
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

// laggingConfig shows the configuration from before the last update in some answers since then, counted from 1.
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

// onUpdateOf changes updates whose only source field that is not null is the given one.
func onUpdateOf(field string, change func(r *http.Request, next http.Handler)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && slices.Equal(asksFor(r), []string{field}) {
			change(r, next)
		}
		next.ServeHTTP(w, r)
	})
}

// onUpdateOfBoth handles repo_ref before the rest of an update.
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

// asksFor returns the source fields of an update that are texts.
func asksFor(r *http.Request) []string {
	source := sourceOf(bodyOf(r))
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
		if stands := sourceOf(lookAtDeployment(next, r)); stands[field] == sourceOf(bodyOf(r))[field] {
			withoutIt(field)(r, next)
		}
	}
}

// staleLatest goes on showing the latest revision as it was before an update of the field; an update of another one
// refreshes it.
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

func keptAsIs() []Fault {
	return []Fault{
		{
			Name: "null-makes-a-revision", Breaks: "a source field that is null makes a revision: that it is named is enough", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(sourceOf(body)) > 1 }),
		},
		{
			Name: "build-on-push-makes-a-revision", Breaks: "an update of source_config makes a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(object(body["source_config"])) > 0 }),
		},
		{
			Name: "empty-update-makes-a-revision", Breaks: "an update with nothing in it makes a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(body) == 0 }),
		},
		{
			Name: "source-can-be-changed", Breaks: "an update changes the source", Fails: "CP-UPDATE-5",
			Apply: changingSource(http.StatusOK),
		},
		{
			Name: "source-is-changed-though-refused", Breaks: "an update of the source is refused, but the source changed", Fails: "CP-UPDATE-5",
			Apply: changingSource(http.StatusBadRequest),
		},
		{
			Name: "update-of-nothing-succeeds", Breaks: "an update of an unknown deployment is answered 200: no row was changed, and nobody looked", Fails: "CP-UPDATE-6",
			Apply: onStatus(updateDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{})
			}),
		},
		{
			Name: "update-of-nothing-is-400", Breaks: "an update of an unknown deployment is a bad request", Fails: "CP-UPDATE-6",
			Apply: onStatus(updateDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "update-sets-created-at", Breaks: "an update sets created_at", Fails: "CP-UPDATE-7",
			Apply: takingOver(updateDeployment, getDeployment, "created_at"),
		},
		{
			Name: "update-renews-created-at", Breaks: "an update sets created_at to its own time", Fails: "CP-UPDATE-7",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) {
					m.mark(deploymentOf(r), time.Now().UTC().Format(time.RFC3339Nano))
				}
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if renewed := m.marked(deploymentOf(r)); renewed != nil {
					a.edit(func(d map[string]any) { d["created_at"] = renewed })
				}
				a.send(w)
			}),
		},
		{
			Name: "update-sets-the-commit", Breaks: "an update sets repo_commit_sha of the latest revision", Fails: "CP-UPDATE-7",
			Apply: takingOver(updateDeployment, getRevision, "repo_commit_sha"),
		},
	}
}

// rebuilding makes a revision of updates that ask for none.
func rebuilding(when func(body map[string]any) bool) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) {
			if body := bodyOf(r); body != nil && len(asksFor(r)) == 0 && when(body) {
				stands := sourceOf(lookAtDeployment(next, r))
				maps.DeleteFunc(stands, func(field string, value any) bool { return value == nil || !slices.Contains(sourceFields, field) })
				editBody(r, func(body map[string]any) { body["source_revision_config"] = stands })
			}
		}
		next.ServeHTTP(w, r)
	})
}

// changingSource shows the source that an update asked for, whatever it answered.
func changingSource(status int) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case updateDeployment.is(r) && m.known(deploymentOf(r)) && text(bodyOf(r), "source") != "":
			m.mark(deploymentOf(r), text(bodyOf(r), "source"))
			editBody(r, func(body map[string]any) { delete(body, "source") })
			a := capture(next, r)
			if status != http.StatusOK {
				a.refuse(status, "The source cannot be changed.")
			}
			a.send(w)
		case getDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
			a := capture(next, r)
			a.edit(func(d map[string]any) { d["source"] = m.marked(deploymentOf(r)) })
			a.send(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func refusedUpdate() []Fault {
	return []Fault{
		{
			Name: "number-as-new-ref-is-text", Breaks: "a number as repo_ref is taken for a text in an update", Fails: "CP-UPDATE-11",
			Apply: onRequest(updateDeployment, numberAsRef),
		},
		{
			Name: "list-updates-nothing", Breaks: "an update that is a list is taken for an empty one", Fails: "CP-UPDATE-11",
			Apply: onRequest(updateDeployment, func(r *http.Request) {
				if body := readBody(r); len(body) > 0 && body[0] == '[' {
					setBody(r, []byte("{}"))
				}
			}),
		},
		{
			Name: "half-an-update-is-done", Breaks: "an update with a list as source_config is refused, after its other half was done", Fails: "CP-UPDATE-11",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) {
					if _, list := bodyOf(r)["source_config"].([]any); list {
						captureBeside(next, r, func(half *http.Request) {
							editBody(half, func(body map[string]any) { delete(body, "source_config") })
						})
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "update-is-refused-with-a-text", Breaks: "the 422 of an update has a text as detail", Fails: "CP-UPDATE-11",
			Apply: onStatus(updateDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusUnprocessableEntity, "The body is not valid.")
			}),
		},
	}
}
