package faults

import (
	"net/http"
	"strings"
	"time"
)

// contract holds the faults in answers that nothing but the contract looks at.
func contract() []Fault {
	return []Fault{
		{
			Name: "created-is-no-json", Breaks: "the answer to a creation is JSON, and says that it is plain text", Fails: "CP-CONTRACT-create-deployment",
			Apply: saying(createDeployment, "text/plain; charset=utf-8"),
		},
		{
			Name: "created-build-on-push-is-a-text", Breaks: "build_on_push in the answer to a creation is a text", Fails: "CP-CONTRACT-create-deployment",
			Apply: onObject(createDeployment, func(d map[string]any) { object(d["source_config"])["build_on_push"] = "false" }),
		},
		{
			Name: "created-source-is-in-capitals", Breaks: "the source in the answer to a creation is in capitals", Fails: "CP-CONTRACT-create-deployment",
			Apply: onObject(createDeployment, func(d map[string]any) { d["source"] = strings.ToUpper(text(d, "source")) }),
		},
		{
			Name: "deployment-has-no-content-type", Breaks: "a deployment comes as an octet stream", Fails: "CP-CONTRACT-get-deployment",
			Apply: saying(getDeployment, "application/octet-stream"),
		},
		{
			Name: "deployment-is-203", Breaks: "a deployment is answered with status 203", Fails: "CP-CONTRACT-get-deployment",
			Apply: onStatus(getDeployment, http.StatusOK, func(_ *http.Request, a *answer) { a.status = http.StatusNonAuthoritativeInfo }),
		},
		{
			Name: "deployment-shows-a-list-of-commits", Breaks: "repo_commit_sha of a deployment is a list", Fails: "CP-CONTRACT-get-deployment",
			Apply: onObject(getDeployment, func(d map[string]any) { sourceOf(d)["repo_commit_sha"] = []any{} }),
		},
		{
			Name: "updated-id-is-a-number", Breaks: "the id in the answer to an update is a number", Fails: "CP-CONTRACT-update-deployment",
			Apply: onObject(updateDeployment, func(d map[string]any) { d["id"] = 1 }),
		},
		{
			Name: "updated-is-a-list", Breaks: "the answer to an update is a list of one deployment", Fails: "CP-CONTRACT-update-deployment",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) { a.json([]any{a.object()}) }),
		},
		{
			Name: "updated-is-html", Breaks: "the answer to an update says that it is HTML", Fails: "CP-CONTRACT-update-deployment",
			Apply: saying(updateDeployment, "text/html"),
		},
		{
			Name: "listed-times-have-no-t", Breaks: "times in a list have a blank in the middle", Fails: "CP-CONTRACT-list-revisions",
			Apply: onResources(func(r map[string]any) {
				for _, key := range []string{"created_at", "updated_at"} {
					r[key] = strings.Replace(text(r, key), "T", " ", 1)
				}
			}),
		},
		{
			Name: "listed-updated-at-is-a-number", Breaks: "updated_at in a list is a number of seconds", Fails: "CP-CONTRACT-list-revisions",
			Apply: onResources(func(r map[string]any) { r["updated_at"] = epoch(text(r, "updated_at")) }),
		},
		{
			Name: "list-is-no-json", Breaks: "a list is JSON, and says that it is plain text", Fails: "CP-CONTRACT-list-revisions",
			Apply: saying(listRevisions, "text/plain"),
		},
		{
			Name: "revision-times-have-no-offset", Breaks: "times of a single revision have no offset", Fails: "CP-CONTRACT-get-revision",
			Apply: onObject(getRevision, func(r map[string]any) {
				for _, key := range []string{"created_at", "updated_at"} {
					r[key] = strings.TrimSuffix(text(r, key), "Z")
				}
			}),
		},
		{
			Name: "revision-key-comes-twice", Breaks: "a single revision has its id twice", Fails: "CP-CONTRACT-get-revision",
			Apply: onStatus(getRevision, http.StatusOK, func(_ *http.Request, a *answer) {
				id := text(a.object(), "id")
				a.body = []byte(strings.Replace(string(a.body), "{", `{"id":"`+id+`",`, 1))
			}),
		},
		{
			Name: "revision-is-no-json", Breaks: "a single revision is JSON, and says nothing about its type", Fails: "CP-CONTRACT-get-revision",
			Apply: saying(getRevision, ""),
		},
	}
}

// saying gives successful answers of an operation a content type.
func saying(op operation, contentType string) Layer {
	return onAnswer(op, func(_ *http.Request, a *answer) {
		if a.status < 300 {
			a.header["Content-Type"] = []string{contentType}
		}
	})
}

func epoch(at string) int64 {
	t, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return 0
	}
	return t.Unix()
}
