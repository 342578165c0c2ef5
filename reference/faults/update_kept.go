package faults

import (
	"maps"
	"net/http"
	"slices"
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
