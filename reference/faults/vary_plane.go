package faults

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// otherStatuses are statuses that the interface leaves to the control plane.
func otherStatuses() []Variation {
	return []Variation{
		{Name: "created-is-200", Differs: "a creation is answered 200", Apply: statusOf(createDeployment, http.StatusCreated, http.StatusOK)},
		{Name: "created-is-202", Differs: "a creation is answered 202", Apply: statusOf(createDeployment, http.StatusCreated, http.StatusAccepted)},
		{Name: "updated-is-201", Differs: "an update is answered 201", Apply: statusOf(updateDeployment, http.StatusOK, http.StatusCreated)},
		{
			Name: "updated-is-202-and-empty", Differs: "an update is answered 202 with no body",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusAccepted, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "updated-is-204", Differs: "an update is answered 204: the interface names no status",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusNoContent, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "unauthenticated-is-403", Differs: "missing and wrong credentials of the control plane are answered 403",
			Apply: onPlane(func(a *answer) {
				if a.status == http.StatusUnauthorized {
					a.refuse(http.StatusForbidden, "Not authenticated")
				}
			}),
		},
		{
			Name: "unauthenticated-is-a-page", Differs: "the 401 of the control plane is a page for people",
			Apply: onPlane(func(a *answer) {
				if a.status == http.StatusUnauthorized {
					a.plain("<h1>401 Authorization Required</h1>")
					a.header.Set("Content-Type", "text/html")
				}
			}),
		},
		{
			Name: "mistakes-are-400", Differs: "creations and updates that make no sense are answered 400 with a text",
			Apply: both(mistakesAre400(createDeployment), mistakesAre400(updateDeployment), mistakesAre400(getDeployment)),
		},
		{
			Name: "rules-are-409", Differs: "what the rules forbid is answered 409",
			Apply: both(statusOf(createDeployment, http.StatusBadRequest, http.StatusConflict), statusOf(updateDeployment, http.StatusBadRequest, http.StatusConflict)),
		},
		{
			Name: "no-list-and-no-delete", Differs: "deployments can neither be listed nor deleted: the interface names no such operation",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if isPlane(r) && (r.Method == http.MethodDelete || r.Method == http.MethodGet && r.URL.Path == "/v2/deployments") {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "unknown-status-is-an-empty-list", Differs: "a status that does not exist keeps nothing",
			Apply: onProblemWith("status", func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{"resources": []any{}, "offset": 0})
			}),
		},
	}
}

func statusOf(op operation, is, other int) Layer {
	return onStatus(op, is, func(_ *http.Request, a *answer) { a.status = other })
}

func mistakesAre400(op operation) Layer {
	return onStatus(op, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) { a.refuse(http.StatusBadRequest, "Bad request.") })
}

// otherContents are contents that the interface leaves to the control plane.
func otherContents() []Variation {
	return []Variation{
		{
			Name: "other-words", Differs: "details and messages are in other words",
			Apply: onPlane(func(a *answer) {
				a.edit(func(o map[string]any) {
					if detail := text(o, "detail"); detail != "" && a.status == http.StatusNotFound {
						o["detail"] = "Nicht da: «" + strings.TrimSuffix(strings.TrimPrefix(detail, "Deployment ID "), " not found.") + "»"
					}
					for _, problem := range items(o["detail"]) {
						problem["msg"], problem["type"] = "¯\\_(ツ)_/¯", "E-0815"
					}
				})
			}),
		},
		{
			Name: "problems-carry-input-ctx-url", Differs: "validation errors carry input, ctx and url",
			Apply: onPlane(func(a *answer) {
				a.edit(func(o map[string]any) {
					for _, problem := range items(o["detail"]) {
						problem["input"], problem["url"] = []any{"limit", 0}, "https://errors.example/v/missing"
						problem["ctx"] = map[string]any{"error": map[string]any{}, "ge": 1}
					}
				})
			}),
		},
		{
			Name: "created-is-ids-only", Differs: "a creation is answered with the two ids and nothing else",
			Apply: onObject(createDeployment, only("id", "latest_revision_id")),
		},
		{
			Name: "deployment-is-bare", Differs: "a deployment shows the fields of the interface, and no other",
			Apply: onObject(getDeployment, only("id", "latest_revision_id", "source", "source_config", "source_revision_config")),
		},
		{
			Name: "revision-is-bare", Differs: "a revision shows the fields of the interface, and no other",
			Apply: onRevisions(only("id", "created_at", "updated_at", "status", "source", "source_revision_config")),
		},
		{
			Name: "tag-overrules-build-on-push", Differs: "a tag is not refused beside build_on_push, but turns it off",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createDeployment.is(r) && !updateDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				readBody(r)
				beside := r.Clone(r.Context())
				setBody(beside, readBody(r))
				a := capture(next, r)
				if a.status == http.StatusBadRequest && strings.Contains(string(a.body), "build_on_push") {
					editBody(beside, func(body map[string]any) { body["source_config"] = withPush(body["source_config"], false) })
					a = capture(next, beside)
				}
				a.send(w)
			}),
		},
		{
			Name: "status-filter-is-lenient", Differs: "the status filter takes blanks and small letters too",
			Apply: onQuery(listRevisions, func(q url.Values) {
				words := strings.Split(q.Get("status"), ",")
				for i, word := range words {
					words[i] = strings.ToUpper(strings.TrimSpace(word))
				}
				if q.Has("status") {
					q.Set("status", strings.Join(words, ","))
				}
			}),
		},
	}
}

// only leaves an object its named members.
func only(keys ...string) func(o map[string]any) {
	return func(o map[string]any) {
		maps.DeleteFunc(o, func(key string, _ any) bool { return !slices.Contains(keys, key) })
	}
}

// otherLifecycles are ways from CREATING to DEPLOYED that the interface leaves to the control plane.
func otherLifecycles() []Variation {
	return []Variation{
		{
			Name: "statuses-are-skipped", Differs: "a revision is QUEUED until it is settled",
			Apply: readings(func(_ reading, r *controlplane.Revision) {
				if !r.Status.Settled() {
					r.Status = controlplane.Queued
				}
			}),
		},
		{
			Name: "unknown-at-first", Differs: "a revision is UNKNOWN in the first answers about it",
			Apply: shownAtFirst(2, "UNKNOWN"),
		},
		{
			Name: "first-times-are-finer", Differs: "the first answer about a revision shows created_at to the nanosecond, as it was before it was stored",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getRevision.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if created, err := time.Parse(time.RFC3339Nano, text(a.object(), "created_at")); err == nil && m.count(revisionOf(r)) == 1 {
					a.edit(func(revision map[string]any) {
						revision["created_at"] = created.Add(321 * time.Nanosecond).Format(time.RFC3339Nano)
					})
				}
				a.send(w)
			}),
		},
		{
			Name: "superseded-revisions-are-unknown", Differs: "of revisions that are not the latest the status is UNKNOWN for good",
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if r.ID != of.deployment.LatestRevisionID {
					r.Status = controlplane.Unknown
				}
			}),
		},
		{
			Name: "failed-builds-are-create-failed", Differs: "a source that cannot be built is CREATE_FAILED",
			Apply: statusIs(controlplane.BuildFailed, controlplane.CreateFailed),
		},
		{
			Name: "updates-take-effect-later", Differs: "an update is answered 202 with an empty object, and can be seen a moment later",
			Apply: later(30 * time.Millisecond),
		},
		{
			Name: "agent-address-comes-later", Differs: "a deployment tells the address of its agent server a moment after it is up",
			Apply: addressAfter(150 * time.Millisecond),
		},
	}
}

// addressAfter hides the address of the agent server from when a revision was first seen to be up.
func addressAfter(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) && !getDeployment.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		from, up := m.marked(deploymentOf(r)).(time.Time)
		switch {
		case getRevision.is(r) && !up && text(a.object(), "status") == string(controlplane.Deployed):
			m.mark(deploymentOf(r), time.Now().Add(while))
		case getDeployment.is(r) && a.status == http.StatusOK && (!up || time.Now().Before(from)):
			a.edit(func(o map[string]any) { delete(object(o["source_config"]), "custom_url") })
		}
		a.send(w)
	})
}

// unseen is an update that does not show yet.
type unseen struct {
	until  time.Time
	before map[string]any // the deployment
	latest string         // id of the revision that the update made
}

// later hides what an update did for a while.
func later(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && len(asksFor(r)) > 0 {
			before := lookAtDeployment(next, r)
			a := capture(next, r)
			if a.status == http.StatusOK {
				m.mark(deploymentOf(r), unseen{time.Now().Add(while), before, text(a.object(), "latest_revision_id")})
				a.status = http.StatusAccepted
				a.json(map[string]any{})
			}
			a.send(w)
			return
		}
		hidden, _ := m.marked(deploymentOf(r)).(unseen)
		if !time.Now().Before(hidden.until) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusOK {
			hidden.hide(r, a)
		}
		a.send(w)
	})
}

func (u unseen) hide(r *http.Request, a *answer) {
	switch {
	case getDeployment.is(r):
		a.json(u.before)
	case getRevision.is(r) && revisionOf(r) == u.latest:
		a.refuse(http.StatusNotFound, "Revision ID "+u.latest+" not found.")
	case listRevisions.is(r):
		a.edit(func(list map[string]any) {
			rows, _ := list["resources"].([]any)
			list["resources"] = slices.DeleteFunc(rows, func(row any) bool { return text(object(row), "id") == u.latest })
		})
	}
}
