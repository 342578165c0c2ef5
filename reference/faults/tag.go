package faults

import (
	"net/http"
	"strings"
)

// tagRule returns the faults of the rule that a tag and build_on_push exclude each other (interface, section 2).
func tagRule() []Fault {
	return []Fault{
		{
			Name: "tag-may-build-on-push", Breaks: "create deployment accepts a tag ref with build_on_push true", Fails: "CP-CREATE-5",
			Apply: breakingTagRule(createDeployment, bothHalves, http.StatusOK),
		},
		{
			Name: "tag-builds-on-push-by-default", Breaks: "build_on_push is true by default, even with a tag ref", Fails: "CP-CREATE-5",
			Apply: breakingTagRule(createDeployment, tagOnly, http.StatusOK),
		},
		{
			Name: "refused-tag-stays", Breaks: "create deployment with a tag ref and build_on_push true returns 400, but the deployment is created", Fails: "CP-CREATE-5",
			Apply: breakingTagRule(createDeployment, bothHalves, http.StatusBadRequest),
		},
		{
			Name: "tag-that-builds-on-push-fails", Breaks: "create deployment with a tag ref and build_on_push true returns 500", Fails: "CP-CREATE-5",
			Also: map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: onStatus(createDeployment, http.StatusBadRequest, func(_ *http.Request, a *answer) {
				if strings.Contains(string(a.body), "build_on_push") {
					a.refuse(http.StatusInternalServerError, "Internal Server Error")
				}
			}),
		},
		{
			Name: "tags-are-refused", Breaks: "create deployment with a tag ref returns 400, whatever build_on_push is", Fails: "CP-CREATE-5",
			Apply: onAnswer(createDeployment, func(_ *http.Request, a *answer) {
				if a.status < 300 && strings.Contains(string(a.body), `"refs/tags/`) {
					a.refuse(http.StatusBadRequest, "repo_ref is the name of a branch.")
				}
			}),
		},
		{
			Name: "tag-rule-sees-the-request-only", Breaks: "an update to a tag ref is accepted while build_on_push is true", Fails: "CP-UPDATE-8",
			Apply: breakingTagRule(updateDeployment, tagOnly, http.StatusOK),
		},
		{
			Name: "tag-rule-is-for-refs-only", Breaks: "an update of build_on_push to true is accepted while repo_ref is a tag", Fails: "CP-UPDATE-8",
			Apply: breakingTagRule(updateDeployment, pushOnly, http.StatusOK),
		},
		{
			Name: "refused-tag-is-stored", Breaks: "an update to a tag ref while build_on_push is true returns 400, but is stored", Fails: "CP-UPDATE-8",
			Apply: breakingTagRule(updateDeployment, tagOnly, http.StatusBadRequest),
		},
	}
}

// tagRequest says which part of the combination a request contains.
type tagRequest int

const (
	bothHalves tagRequest = iota
	tagOnly
	pushOnly
)

// breakingTagRule sends the request with build_on_push false, and shows build_on_push true from then on.
func breakingTagRule(op operation, brings tagRequest, status int) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case op.is(r) && combines(r, next, brings):
			editBody(r, func(body map[string]any) {
				body["source_config"] = withPush(body["source_config"], false)
			})
			a := capture(next, r)
			if a.status < 300 {
				m.mark(text(a.object(), "id"), true)
			}
			if status != http.StatusOK {
				a.refuse(status, "A tag cannot build on push.")
			} else {
				a.edit(showPush)
			}
			a.send(w)
		case getDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
			a := capture(next, r)
			a.edit(showPush)
			a.send(w)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func showPush(d map[string]any) { d["source_config"] = withPush(d["source_config"], true) }

func withPush(config any, push bool) map[string]any {
	changed := object(config)
	changed["build_on_push"] = push
	return changed
}

// combines reports whether the request contains the given part of a tag with build_on_push true.
func combines(r *http.Request, next http.Handler, brings tagRequest) bool {
	body := bodyOf(r)
	tag, push := isTag(sourceOf(body)), object(body["source_config"])["build_on_push"]
	if brings == bothHalves {
		return tag && push == true
	}
	if brings == tagOnly && createDeployment.is(r) {
		return tag && push == nil
	}
	current := lookAtDeployment(next, r)
	if brings == tagOnly {
		return tag && push == nil && object(current["source_config"])["build_on_push"] == true
	}
	return push == true && isTag(sourceOf(current))
}

func isTag(source map[string]any) bool {
	return strings.HasPrefix(text(source, "repo_ref"), "refs/tags/")
}
