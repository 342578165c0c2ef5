package faults

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sameInContract is the reason if a requirement and the contract check the same field.
const sameInContract = "the contract also checks this field"

func creation() []Fault {
	return []Fault{
		{
			Name: "creation-is-not-found", Breaks: "create deployment exists only under /v1 and returns 404 under /v2", Fails: "CP-CREATE-1",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) {
					r = withPath(r, "/v1/deployments")
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "creation-names-no-revision", Breaks: "latest_revision_id is null in the answer to create deployment", Fails: "CP-CREATE-1",
			Also:  map[string]string{"CP-CONTRACT-create-deployment": sameInContract},
			Apply: onObject(createDeployment, func(d map[string]any) { d["latest_revision_id"] = nil }),
		},
		{
			Name: "creation-omits-the-revision", Breaks: "the answer to create deployment has no latest_revision_id; get deployment has it", Fails: "CP-CREATE-1",
			Also:  map[string]string{"CP-CONTRACT-create-deployment": sameInContract},
			Apply: onObject(createDeployment, func(d map[string]any) { delete(d, "latest_revision_id") }),
		},
		{
			Name: "creation-answers-short-ids", Breaks: "id and latest_revision_id have no hyphens in the answer to create deployment", Fails: "CP-CREATE-1",
			Also: map[string]string{"CP-CONTRACT-create-deployment": sameInContract},
			Apply: onObject(createDeployment, func(d map[string]any) {
				for _, key := range []string{"id", "latest_revision_id"} {
					d[key] = strings.ReplaceAll(text(d, key), "-", "")
				}
			}),
		},
		{
			Name: "ids-are-not-uuids", Breaks: "the ids of deployments are texts of another form, such as id_0a1b", Fails: "CP-CREATE-1",
			Also: map[string]string{
				"CP-CONTRACT-create-deployment": sameInContract, "CP-CONTRACT-get-deployment": sameInContract,
			},
			Apply: otherIDs(),
		},
		{
			Name: "creation-answers-nothing", Breaks: "create deployment returns 201 with an empty body", Fails: "CP-CREATE-1",
			Also:  map[string]string{"CP-CONTRACT-create-deployment": sameInContract},
			Apply: onStatus(createDeployment, http.StatusCreated, func(_ *http.Request, a *answer) { a.body = nil }),
		},
		{
			Name: "creation-names-an-unknown-revision", Breaks: "latest_revision_id in the answer to create deployment belongs to no revision", Fails: "CP-CREATE-2", Hangs: true,
			Apply: onObject(createDeployment, func(d map[string]any) { d["latest_revision_id"] = reversed(text(d, "latest_revision_id")) }),
		},
		{
			Name: "only-revision-has-another-id", Breaks: "get revision returns a different id until the deployment is updated", Fails: "CP-CREATE-2",
			Apply: untilUpdated(getRevision, func(r map[string]any) { r["id"] = reversed(text(r, "id")) }),
		},
		{
			Name: "only-revision-is-listed-twice", Breaks: "list revisions without parameters returns a single revision twice", Fails: "CP-CREATE-2",
			Apply: onListOfOne(func(list map[string]any, row any) { list["resources"] = []any{row, row} }),
		},
		{
			Name: "only-revision-is-not-listed", Breaks: "list revisions without parameters is empty until there is a second revision", Fails: "CP-CREATE-2",
			Apply: onListOfOne(func(list map[string]any, _ any) { list["resources"], list["offset"] = []any{}, 0 }),
		},
		{
			Name: "graph-config-path-is-forgotten", Breaks: "create deployment ignores graph_config_path and uses the default", Fails: "CP-CREATE-3",
			Apply: onRequest(createDeployment, func(r *http.Request) {
				editBody(r, func(body map[string]any) { delete(sourceOf(body), "graph_config_path") })
			}),
		},
		{
			Name: "deployment-forgets-its-config-path", Breaks: "graph_config_path of a deployment is null until the first update; its revision shows it", Fails: "CP-CREATE-3",
			Apply: untilUpdated(getDeployment, func(d map[string]any) { sourceOf(d)["graph_config_path"] = nil }),
		},
		{
			Name: "new-deployment-shows-another-source", Breaks: "source of a deployment is internal_container until the first update", Fails: "CP-CREATE-3",
			Also:  map[string]string{"CP-GET-1": "get deployment must also return the source of the creation"},
			Apply: untilUpdated(getDeployment, func(d map[string]any) { d["source"] = "internal_container" }),
		},
		{
			Name: "first-revision-shows-another-source", Breaks: "source of a revision is internal_container until the deployment is updated", Fails: "CP-CREATE-3",
			Apply: untilUpdated(getRevision, func(r map[string]any) { r["source"] = "internal_container" }),
		},
		{
			Name: "revision-shows-the-full-ref", Breaks: "repo_ref of a revision is shown as refs/heads/main instead of main", Fails: "CP-CREATE-3",
			Apply: onRevisions(func(r map[string]any) {
				if ref := text(sourceOf(r), "repo_ref"); ref != "" && !strings.HasPrefix(ref, "refs/") {
					sourceOf(r)["repo_ref"] = "refs/heads/" + ref
				}
			}),
		},
		{
			Name: "image-is-shown-without-its-tag", Breaks: "image_uri of a revision is shown without the tag", Fails: "CP-CREATE-3", Edition: selfHosted,
			Apply: onRevisions(func(r map[string]any) {
				if image := text(sourceOf(r), "image_uri"); image != "" {
					sourceOf(r)["image_uri"] = image[:strings.LastIndex(image, ":")]
				}
			}),
		},
	}
}

const selfHosted = "self-hosted"

var otherID = regexp.MustCompile(`id_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})`)

// otherIDs shows the ids of deployments in another form, and takes them in it.
func otherIDs() Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isPlane(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, withPath(r, otherID.ReplaceAllString(r.URL.Path, "$1-$2-$3-$4-$5")))
		if a.status < 300 && !strings.Contains(r.URL.Path, "/revisions") {
			show := func(d map[string]any) {
				if id := text(d, "id"); id != "" {
					d["id"] = "id_" + strings.ReplaceAll(id, "-", "")
				}
			}
			a.edit(func(o map[string]any) {
				show(o)
				for _, row := range items(o["resources"]) {
					show(row)
				}
			})
		}
		a.send(w)
	})
}

// untilUpdated changes the answers of an operation on deployments that were not updated, or on their agent servers.
func untilUpdated(o operation, change func(object map[string]any)) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		a := capture(next, r)
		id := deploymentOf(r)
		if getState.is(r) {
			id = segment(r, 2)
		}
		switch {
		case updateDeployment.is(r) && a.status < 300:
			m.mark(id, true)
		case o.is(r) && a.status == http.StatusOK && m.marked(id) == nil:
			a.edit(change)
		}
		a.send(w)
	})
}

// onListOfOne changes lists requested without limit that contain one revision.
func onListOfOne(change func(list map[string]any, row any)) Layer {
	return onAnswer(listRevisions, func(r *http.Request, a *answer) {
		if a.status != http.StatusOK || r.URL.RawQuery != "" {
			return
		}
		a.edit(func(list map[string]any) {
			if rows, _ := list["resources"].([]any); len(rows) == 1 {
				change(list, rows[0])
			}
		})
	})
}

// onRevisions changes revisions in all answers, single or in a list.
func onRevisions(change func(revision map[string]any)) Layer {
	return compose(onObject(getRevision, change), onResources(change))
}

// reversed returns a different UUID.
func reversed(id string) string {
	parts := strings.Split(id, "-")
	for i, part := range parts {
		digits := []byte(part)
		slices.Reverse(digits)
		parts[i] = string(digits)
	}
	return strings.Join(parts, "-")
}

func refusedCreation() []Fault {
	return []Fault{
		{
			Name: "unknown-source-is-the-default", Breaks: "create deployment treats an unknown source as internal_container", Fails: "CP-CREATE-4",
			Apply: onRequest(createDeployment, func(r *http.Request) {
				editBody(r, func(body map[string]any) {
					if source := text(body, "source"); source != "" && !slices.Contains(sources, source) {
						body["source"] = "internal_container"
						sourceOf(body)["image_uri"] = "none"
						delete(sourceOf(body), "repo_ref")
						delete(sourceOf(body), "graph_config_path")
					}
				})
			}),
		},
		{
			Name: "number-as-ref-is-text", Breaks: "create deployment accepts a number as repo_ref", Fails: "CP-CREATE-4",
			Apply: onRequest(createDeployment, numberAsRef),
		},
		{
			Name: "refused-creation-stays", Breaks: "create deployment with an array as source_config is refused, but the deployment is created", Fails: "CP-CREATE-4",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) {
					if _, list := bodyOf(r)["source_config"].([]any); list {
						captureBeside(next, r, func(made *http.Request) {
							editBody(made, func(body map[string]any) { body["source_config"] = map[string]any{"repo_url": "none"} })
						})
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "creation-is-refused-with-a-text", Breaks: "the 422 of create deployment has a string detail", Fails: "CP-CREATE-4",
			Apply: onStatus(createDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusUnprocessableEntity, "The body is not valid.")
			}),
		},
		{
			Name: "refused-creation-tells-its-id", Breaks: "create deployment with an array as source_config returns 400 with the id of a created deployment, and deployments cannot be listed", Fails: "CP-CREATE-4",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if r.Method == http.MethodGet && r.URL.Path == "/v2/deployments" {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				if createDeployment.is(r) {
					if _, list := bodyOf(r)["source_config"].([]any); list {
						made := captureBeside(next, r, func(made *http.Request) {
							editBody(made, func(body map[string]any) { body["source_config"] = map[string]any{"repo_url": "none"} })
						})
						made.status = http.StatusBadRequest
						made.send(w)
						return
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "read-only-fields-fail-creation", Breaks: "create deployment with the read-only field created_at returns 500", Fails: "CP-CREATE-7",
			Also: map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) && bodyOf(r)["created_at"] != nil {
					writeJSON(w, http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "mistaken-creation-fails", Breaks: "create deployment returns 500 for a body that is not an object", Fails: "CP-CREATE-4",
			Also: map[string]string{"CP-ERROR-4": "every 5xx to an invalid body fails it"},
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) && bodyOf(r) == nil {
					writeJSON(w, http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "other-editions-source-is-taken", Breaks: "create deployment accepts external_container on cloud and treats it as internal_container", Fails: "CP-CREATE-6",
			Apply: onRequest(createDeployment, asInternal("external_container")),
		},
		{
			Name: "git-is-taken-when-self-hosted", Breaks: "create deployment accepts git_host on self-hosted and treats it as internal_container", Fails: "CP-CREATE-6", Edition: selfHosted,
			Apply: onRequest(createDeployment, asInternal("git_host")),
		},
		{
			Name: "refused-source-stays", Breaks: "create deployment with a source of the other edition is refused, but the deployment is created", Fails: "CP-CREATE-6",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createDeployment.is(r) && text(bodyOf(r), "source") == "external_container" {
					captureBeside(next, r, asInternal("external_container"))
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "created-at-is-the-clients", Breaks: "created_at of a deployment is taken from the request", Fails: "CP-CREATE-7",
			Apply: takingOver(createDeployment, getDeployment, "created_at"),
		},
		{
			Name: "commit-is-the-clients", Breaks: "repo_commit_sha of the first revision is taken from the request", Fails: "CP-CREATE-7",
			Apply: takingOver(createDeployment, getRevision, "repo_commit_sha"),
		},
	}
}

// sources are those of the interface, section 2.
var sources = []string{"git_host", "external_container", "internal_container"}

// asInternal replaces a source of the other edition with one of the reference's edition.
func asInternal(foreign string) func(r *http.Request) {
	return func(r *http.Request) {
		editBody(r, func(body map[string]any) {
			if text(body, "source") == foreign {
				body["source"] = "internal_container"
				body["source_revision_config"] = map[string]any{"image_uri": "none"}
			}
		})
	}
}

// numberAsRef converts numbers to strings.
func numberAsRef(r *http.Request) {
	editBody(r, func(body map[string]any) {
		source := sourceOf(body)
		for _, key := range []string{"repo_ref", "image_uri"} {
			if n, ok := source[key].(interface{ Int64() (int64, error) }); ok {
				value, _ := n.Int64()
				source[key] = strconv.FormatInt(value, 10)
			}
		}
	})
}

// takingOver shows a read-only field with the value that the client sent, in all later reads.
func takingOver(sent, shown operation, field string) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !sent.is(r) && !shown.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		var value any
		if sent.is(r) {
			body := bodyOf(r)
			if value = body[field]; value == nil {
				value = sourceOf(body)[field]
			}
		}
		a := capture(next, r)
		if id := deploymentOf(r); shown.is(r) && m.marked(id) != nil {
			a.edit(func(object map[string]any) {
				if _, below := sourceOf(object)[field]; below {
					object = sourceOf(object)
				}
				object[field] = m.marked(id)
			})
		}
		if sent.is(r) && value != nil && a.status < 300 {
			m.mark(text(a.object(), "id"), value)
		}
		a.send(w)
	})
}
