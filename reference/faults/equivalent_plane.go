package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
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
