package faults

import (
	"maps"
	"net/http"
	"slices"
	"time"
)

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
