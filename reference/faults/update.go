package faults

import (
	"maps"
	"net/http"
	"slices"
	"time"

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

func keptAsIs() []Fault {
	return []Fault{
		{
			Name: "null-makes-a-revision", Breaks: "an update with a source field that is null creates a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(sourceOf(body)) > 1 }),
		},
		{
			Name: "null-ref-alone-makes-a-revision", Breaks: "an update with repo_ref null and no other field creates a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(nullAlone("repo_ref")),
		},
		{
			Name: "null-path-alone-makes-a-revision", Breaks: "an update with graph_config_path null and no other field creates a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(nullAlone("graph_config_path")),
		},
		{
			Name: "null-image-alone-makes-a-revision", Breaks: "an update with image_uri null and no other field creates a revision", Fails: "CP-UPDATE-4",
			Edition: selfHosted, Apply: rebuilding(nullAlone("image_uri")),
		},
		{
			Name: "build-on-push-makes-a-revision", Breaks: "an update of source_config creates a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(object(body["source_config"])) > 0 }),
		},
		{
			Name: "empty-update-makes-a-revision", Breaks: "an empty update creates a revision", Fails: "CP-UPDATE-4",
			Apply: rebuilding(func(body map[string]any) bool { return len(body) == 0 }),
		},
		{
			Name: "source-can-be-changed", Breaks: "an update changes source", Fails: "CP-UPDATE-5",
			Apply: changingSource(http.StatusOK, false),
		},
		{
			Name: "changed-source-ends-all-updates", Breaks: "an update changes source, and every later one of the deployment returns 422", Fails: "CP-UPDATE-5",
			Apply: changingSource(http.StatusOK, true),
		},
		{
			Name: "source-is-changed-though-refused", Breaks: "an update of source returns 400, but source is changed", Fails: "CP-UPDATE-5",
			Apply: changingSource(http.StatusBadRequest, false),
		},
		{
			Name: "update-of-nothing-succeeds", Breaks: "an update of an unknown deployment returns 200 with an empty object", Fails: "CP-UPDATE-6",
			Also: map[string]string{"CP-GET-4": no404},
			Apply: onStatus(updateDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{})
			}),
		},
		{
			Name: "update-of-nothing-is-accepted", Breaks: "an update of an unknown deployment returns 202", Fails: "CP-UPDATE-6",
			Also:  map[string]string{"CP-GET-4": no404},
			Apply: statusOf(updateDeployment, http.StatusNotFound, http.StatusAccepted),
		},
		{
			Name: "update-of-nothing-is-400", Breaks: "an update of an unknown deployment returns 400", Fails: "CP-GET-4",
			Apply: statusOf(updateDeployment, http.StatusNotFound, http.StatusBadRequest),
		},
		{
			Name: "null-clears-a-field", Breaks: "an update with repo_ref, graph_config_path or image_uri null shows it as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				value, named := sourceOf(body)[field]
				return named && value == nil
			}),
		},
		{
			Name: "null-is-refused-in-an-update", Breaks: "an update with repo_ref, graph_config_path or image_uri null returns 422", Fails: "CP-UPDATE-13",
			Apply: refusingUpdates(func(source map[string]any) bool { return len(source) > 0 }),
		},
		{
			Name: "update-without-a-source-field-is-refused", Breaks: "an update without repo_ref, graph_config_path and image_uri returns 422", Fails: "CP-UPDATE-13",
			Apply: refusingUpdates(func(map[string]any) bool { return true }),
		},
		{
			Name: "update-clears-what-it-does-not-name", Breaks: "an update with a source field shows the other source fields of the new revision as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				return len(asked(body)) > 0 && sourceOf(body)[field] == nil
			}),
		},
		{
			Name: "update-sets-created-at", Breaks: "an update sets created_at to the value in the request", Fails: "CP-UPDATE-7",
			Apply: takingOver(updateDeployment, getDeployment, "created_at"),
		},
		{
			Name: "update-renews-created-at", Breaks: "an update sets created_at to the current time", Fails: "CP-UPDATE-7",
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
			Name: "update-sets-the-commit", Breaks: "an update sets repo_commit_sha of the latest revision to the value in the request", Fails: "CP-UPDATE-7",
			Apply: takingOver(updateDeployment, getRevision, "repo_commit_sha"),
		},
	}
}

// nullAlone is for updates whose source_revision_config holds the field with null, and nothing else.
func nullAlone(field string) func(body map[string]any) bool {
	return func(body map[string]any) bool {
		value, named := sourceOf(body)[field]
		return named && value == nil && len(sourceOf(body)) == 1
	}
}

// refusingUpdates answers with 422 to updates that keep the contract and set no source field.
func refusingUpdates(when func(source map[string]any) bool) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		body := bodyOf(r)
		if !updateDeployment.is(r) || body == nil || len(asked(body)) > 0 || !when(sourceOf(body)) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status < 300 {
			a.invalid("body", "source_revision_config", "repo_ref")
		}
		a.send(w)
	})
}

// rebuilding creates a revision for updates that must not create one.
func rebuilding(when func(body map[string]any) bool) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) {
			if body := bodyOf(r); body != nil && len(asksFor(r)) == 0 && when(body) {
				current := sourceOf(lookAtDeployment(next, r))
				maps.DeleteFunc(current, func(field string, value any) bool { return value == nil || !slices.Contains(sourceFields, field) })
				editBody(r, func(body map[string]any) { body["source_revision_config"] = current })
			}
		}
		next.ServeHTTP(w, r)
	})
}

// changingSource shows the source that an update requested, whatever its answer was; where it happens once, later updates are refused.
func changingSource(status int, once bool) Layer {
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
		case once && updateDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
			a := capture(http.NotFoundHandler(), r)
			a.refuse(http.StatusUnprocessableEntity, "The deployment has no image.")
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
			Name: "number-as-new-ref-is-text", Breaks: "an update accepts a number as repo_ref", Fails: "CP-UPDATE-11",
			Apply: onRequest(updateDeployment, numberAsRef),
		},
		{
			Name: "list-updates-nothing", Breaks: "an update with an array as body is treated as an empty update", Fails: "CP-UPDATE-11",
			Apply: onRequest(updateDeployment, func(r *http.Request) {
				if body := readBody(r); len(body) > 0 && body[0] == '[' {
					setBody(r, []byte("{}"))
				}
			}),
		},
		{
			Name: "half-an-update-is-done", Breaks: "an update with an array as source_config is refused, but its other fields are applied", Fails: "CP-UPDATE-11",
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
			Name: "update-is-refused-with-a-text", Breaks: "the 422 of an update has a string detail", Fails: "CP-UPDATE-11",
			Apply: onStatus(updateDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusUnprocessableEntity, "The body is not valid.")
			}),
		},
	}
}
