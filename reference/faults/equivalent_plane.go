package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// otherStatuses differ in HTTP statuses that the interface leaves open.
func otherStatuses() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "created-is-200", Place: "create status", Differs: "create deployment returns 200", Apply: statusOf(createDeployment, http.StatusCreated, http.StatusOK)},
		{Name: "created-is-202", Place: "create status", Differs: "create deployment returns 202", Apply: statusOf(createDeployment, http.StatusCreated, http.StatusAccepted)},
		{Name: "updated-is-201", Place: "update status", Differs: "an update returns 201", Apply: statusOf(updateDeployment, http.StatusOK, http.StatusCreated)},
		{
			Name: "updated-is-202-and-empty", Differs: "an update returns 202 with an empty body",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusAccepted, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "updated-is-204", Differs: "an update returns 204",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusNoContent, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "unauthenticated-is-403", Place: "control plane 401", Differs: "the control plane returns 403 instead of 401 for missing and wrong credentials",
			Apply: onPlane(func(a *answer) {
				if a.status == http.StatusUnauthorized {
					a.refuse(http.StatusForbidden, "Not authenticated")
				}
			}),
		},
		{
			Name: "unauthenticated-is-a-page", Place: "control plane 401", Differs: "the 401 of the control plane is an HTML page",
			Apply: onPlane(func(a *answer) {
				if a.status == http.StatusUnauthorized {
					a.plain("<h1>401 Authorization Required</h1>")
					a.header.Set("Content-Type", "text/html")
				}
			}),
		},
		{
			Name: "mistakes-are-400", Place: "control plane 422", Differs: "the control plane returns 400 with a string detail instead of 422",
			Apply: compose(mistakesAre400(createDeployment), mistakesAre400(updateDeployment), mistakesAre400(getDeployment)),
		},
		{
			Name: "rules-are-409", Place: "control plane 400", Differs: "create and update return 409 instead of 400",
			Apply: compose(statusOf(createDeployment, http.StatusBadRequest, http.StatusConflict), statusOf(updateDeployment, http.StatusBadRequest, http.StatusConflict)),
		},
		{
			Name: "no-list-and-no-delete", Differs: "listing and deleting deployments return 405",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if isPlane(r) && (r.Method == http.MethodDelete || r.Method == http.MethodGet && r.URL.Path == "/v2/deployments") {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "updates-wait-for-builds", Place: "control plane 400", Differs: "an update returns 409 until the latest revision has a final status",
			Apply: compose(paced(15*time.Millisecond), around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if updateDeployment.is(r) {
					path := "/v2/deployments/" + deploymentOf(r) + "/revisions/" + text(lookAtDeployment(next, r), "latest_revision_id")
					if status := text(look(next, r, path, ""), "status"); status != "" && status != "DEPLOYED" && !strings.HasSuffix(status, "_FAILED") {
						a := answer{header: http.Header{}}
						a.refuse(http.StatusConflict, "The latest revision is "+status+".")
						a.send(w)
						return
					}
				}
				next.ServeHTTP(w, r)
			})),
		},
		{
			Name: "unknown-is-403", Differs: "an unknown deployment or revision returns 403, and so does the first read of a new deployment",
			Also:  map[string]string{"CP-GET-4": "the status is not 404"},
			Apply: compose(missedAtFirst(), unknownIs(func(a *answer) { a.status = http.StatusForbidden })),
		},
		{
			Name: "unknown-is-410-and-empty", Differs: "an unknown deployment or revision returns 410 with an empty body",
			Also: map[string]string{"CP-GET-4": "the status is not 404"},
			Apply: unknownIs(func(a *answer) {
				a.status, a.body = http.StatusGone, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "unknown-status-is-an-empty-list", Place: "control plane 422", Differs: "an unknown status in the filter returns an empty list instead of 422",
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

// unknownIs changes each 404 but that of a list: only there the interface gives the status (section 7).
func unknownIs(change func(a *answer)) Layer {
	onNotFound := func(op operation) Layer {
		return onStatus(op, http.StatusNotFound, func(_ *http.Request, a *answer) { change(a) })
	}
	return compose(onNotFound(getDeployment), onNotFound(updateDeployment), onNotFound(getRevision))
}

// missedAtFirst does not know a deployment at its first read, which may reach a copy that has not got it yet.
func missedAtFirst() Layer {
	return fresh(func() Layer {
		m := &memory{counts: map[string]int{}}
		return onStatus(getDeployment, http.StatusOK, func(r *http.Request, a *answer) {
			if m.count(deploymentOf(r)) == 1 {
				a.refuse(http.StatusNotFound, "Not found.")
			}
		})
	})
}

func mistakesAre400(op operation) Layer {
	return onStatus(op, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) { a.refuse(http.StatusBadRequest, "Bad request.") })
}

// otherContents differ in contents that the interface leaves open.
func otherContents() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "other-words", Place: "error texts", Differs: "error details and messages are worded differently",
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
			Name: "problems-carry-input-ctx-url", Place: "control plane 422", Differs: "validation errors also have input, ctx and url",
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
			Name: "offset-beyond-64-bits-is-empty", Place: "control plane 422", Differs: "an offset beyond 64 bits returns an empty page with that offset",
			Apply: compose(clamping(), around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				sent := r.URL.Query().Get("offset")
				a := capture(next, r)
				if listRevisions.is(r) && a.status == http.StatusOK {
					a.edit(func(list map[string]any) {
						if list["offset"] == json.Number(clampedTo) {
							list["offset"] = json.Number(sent)
						}
					})
				}
				a.send(w)
			})),
		},
		{
			Name: "offset-beyond-64-bits-is-clamped", Place: "control plane 422", Differs: "an offset beyond 64 bits returns an empty page with the offset " + clampedTo,
			Apply: clamping(),
		},
		{
			Name: "integers-have-a-fraction", Place: "offset", Differs: "the returned offset is written as 2.0",
			Apply: onObject(listRevisions, func(list map[string]any) {
				if offset, ok := list["offset"].(json.Number); ok {
					list["offset"] = offset + ".0"
				}
			}),
		},
		{
			Name: "created-is-ids-only", Place: "created deployment", Differs: "create deployment returns only id and latest_revision_id",
			Apply: onObject(createDeployment, only("id", "latest_revision_id")),
		},
		{
			Name: "updated-is-the-revision", Place: "updated deployment", Differs: "an update returns the latest revision",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !updateDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if a.status < 300 {
					latest := text(lookAtDeployment(next, r), "latest_revision_id")
					a.json(look(next, r, r.URL.Path+"/revisions/"+latest, ""))
				}
				a.send(w)
			}),
		},
		{
			Name: "updated-is-a-string", Place: "updated deployment", Differs: "an update returns a JSON string",
			Apply: onAnswer(updateDeployment, func(_ *http.Request, a *answer) {
				if a.status < 300 {
					a.json("Updated.")
				}
			}),
		},
		{
			Name: "deployment-is-bare", Place: "deployment", Differs: "get deployment returns only the fields of the interface",
			Apply: onObject(getDeployment, only("id", "latest_revision_id", "source", "source_config", "source_revision_config")),
		},
		{
			Name: "revision-is-bare", Place: "revision", Differs: "revisions have only the fields of the interface",
			Apply: onRevisions(only("id", "created_at", "updated_at", "status", "source", "source_revision_config")),
		},
		{
			Name: "tag-overrules-build-on-push", Place: "control plane 400", Differs: "a tag ref sets build_on_push to false instead of being refused",
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
			Name: "status-filter-is-lenient", Place: "control plane 422", Differs: "the status filter also accepts spaces and lower case",
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

// only removes all other fields from an object.
func only(keys ...string) func(o map[string]any) {
	return func(o map[string]any) {
		maps.DeleteFunc(o, func(key string, _ any) bool { return !slices.Contains(keys, key) })
	}
}

// otherLifecycles differ in the way from CREATING to DEPLOYED.
func otherLifecycles() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "statuses-are-skipped", Place: "revision status", Differs: "a revision is QUEUED until its final status",
			Apply: readings(func(_ reading, r *controlplane.Revision) {
				if !r.Status.Settled() {
					r.Status = controlplane.Queued
				}
			}),
		},
		{
			Name: "commit-is-empty-until-deployed", Differs: "repo_commit_sha is an empty string until a revision has a final status",
			Apply: compose(paced(15*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) {
				if none := ""; !r.Status.Settled() {
					r.Config.RepoCommitSHA = &none
				}
			})),
		},
		{
			Name: "commit-is-pending-until-deployed", Differs: "repo_commit_sha is the word pending until a revision has a final status",
			Apply: compose(paced(15*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) {
				if none := "pending"; !r.Status.Settled() {
					r.Config.RepoCommitSHA = &none
				}
			})),
		},
		{
			Name: "unknown-at-first", Place: "revision status", Differs: "the first two answers to get revision show UNKNOWN",
			Apply: shownAtFirst(2, "UNKNOWN"),
		},
		{
			Name: "first-times-are-finer", Place: "times", Differs: "the first answer to get revision shows created_at with nanoseconds",
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
			Name: "superseded-revisions-are-unknown", Place: "revision status", Differs: "all revisions but the latest are UNKNOWN",
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if r.ID != of.deployment.LatestRevisionID {
					r.Status = controlplane.Unknown
				}
			}),
		},
		{
			Name: "failed-builds-are-create-failed", Place: "revision status", Differs: "a revision with a failed build is CREATE_FAILED instead of BUILD_FAILED",
			Apply: statusIs(controlplane.BuildFailed, controlplane.CreateFailed),
		},
		{
			Name: "updates-take-effect-later", Differs: "an update returns 202 with an empty object and takes effect after 30 ms",
			Apply: delayedUpdates(30*time.Millisecond, true),
		},
		{
			Name:    "reads-follow-writes-late",
			Differs: "reads show for 60 ms after a create request 404, and after an update the deployment as it was",
			Apply:   compose(delayedCreations(60*time.Millisecond), delayedUpdates(60*time.Millisecond, false)),
		},
		{
			Name: "agent-address-comes-later", Place: "agent address", Differs: "custom_url appears 150 ms after the revision is DEPLOYED",
			Apply: addressAfter(150 * time.Millisecond),
		},
		{
			Name: "agent-serves-later", Differs: "an agent server closes connections, then returns 503, until 400 ms after its deployment is DEPLOYED",
			Apply: servingAfter(400 * time.Millisecond),
		},
	}
}

// addressAfter hides custom_url for a while after a revision was first seen as DEPLOYED.
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

// servingAfter has the agent server of a deployment not serve for a while after a revision was first seen as DEPLOYED.
func servingAfter(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasPrefix(r.URL.Path, "/agents/") {
			from, known := m.marked(segment(r, 2)).(time.Time)
			switch left := time.Until(from); {
			case !known || left <= 0:
				next.ServeHTTP(w, r)
			case left > while/2:
				panic(http.ErrAbortHandler) // closes the connection
			default:
				writeJSON(w, http.StatusServiceUnavailable, `{"detail":"no healthy upstream"}`)
			}
			return
		}
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if _, known := m.marked(deploymentOf(r)).(time.Time); !known && text(a.object(), "status") == string(controlplane.Deployed) {
			m.mark(deploymentOf(r), time.Now().Add(while))
		}
		a.send(w)
	})
}

// delayedCreations answers with 404 to reads of a new deployment for a while.
func delayedCreations(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !createDeployment.is(r) && !isDeployment(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if createDeployment.is(r) && a.status < 300 {
			m.mark(text(a.object(), "id"), time.Now().Add(while))
		}
		if until, known := m.marked(deploymentOf(r)).(time.Time); known && r.Method == http.MethodGet && time.Now().Before(until) {
			a.refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
		}
		a.send(w)
	})
}

// pendingUpdate is an update that is not visible yet.
type pendingUpdate struct {
	until  time.Time
	before map[string]any // the deployment
	latest string         // id of the revision that the update created
}

// delayedUpdates hides the effects of an update for a while. Where it is only accepted, its answer says so.
func delayedUpdates(while time.Duration, accepted bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && len(asksFor(r)) > 0 {
			before := lookAtDeployment(next, r)
			a := capture(next, r)
			if a.status == http.StatusOK {
				m.mark(deploymentOf(r), pendingUpdate{time.Now().Add(while), before, text(a.object(), "latest_revision_id")})
				if accepted {
					a.status = http.StatusAccepted
					a.json(map[string]any{})
				}
			}
			a.send(w)
			return
		}
		hidden, _ := m.marked(deploymentOf(r)).(pendingUpdate)
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

func (u pendingUpdate) hide(r *http.Request, a *answer) {
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
