package faults

import (
	"net/http"
	"strings"
	"time"
)

// contract returns the faults that only the contract checks detect.
func contract() []Fault {
	return []Fault{
		{
			Name: "created-is-no-json", Breaks: "create deployment returns JSON with Content-Type text/plain", Fails: "CP-CONTRACT-create-deployment",
			Apply: saying(createDeployment, "text/plain; charset=utf-8"),
		},
		{
			Name: "created-build-on-push-is-a-text", Breaks: "build_on_push is a string in the answer to create deployment", Fails: "CP-CONTRACT-create-deployment",
			Apply: onObject(createDeployment, func(d map[string]any) { object(d["source_config"])["build_on_push"] = "false" }),
		},
		{
			Name: "created-source-is-in-capitals", Breaks: "source is in upper case in the answer to create deployment", Fails: "CP-CONTRACT-create-deployment",
			Apply: onObject(createDeployment, func(d map[string]any) { d["source"] = strings.ToUpper(text(d, "source")) }),
		},
		{
			Name: "deployment-has-no-content-type", Breaks: "get deployment returns JSON with Content-Type application/octet-stream", Fails: "CP-CONTRACT-get-deployment",
			Apply: saying(getDeployment, "application/octet-stream"),
		},
		{
			Name: "deployment-is-203", Breaks: "get deployment returns 203", Fails: "CP-CONTRACT-get-deployment",
			Apply: onStatus(getDeployment, http.StatusOK, func(_ *http.Request, a *answer) { a.status = http.StatusNonAuthoritativeInfo }),
		},
		{
			Name: "deployment-shows-a-list-of-commits", Breaks: "repo_commit_sha is an array in the answer to get deployment", Fails: "CP-CONTRACT-get-deployment",
			Apply: onObject(getDeployment, func(d map[string]any) { sourceOf(d)["repo_commit_sha"] = []any{} }),
		},
		{
			Name: "updated-breaks-off", Breaks: "an update returns JSON without the closing brace", Fails: "CP-CONTRACT-update-deployment",
			Apply: onStatus(updateDeployment, http.StatusOK, func(_ *http.Request, a *answer) {
				a.body = []byte(strings.TrimSuffix(strings.TrimSpace(string(a.body)), "}"))
			}),
		},
		{
			Name: "updated-is-html", Breaks: "an update returns JSON with Content-Type text/html", Fails: "CP-CONTRACT-update-deployment",
			Apply: saying(updateDeployment, "text/html"),
		},
		{
			Name: "listed-times-have-no-t", Breaks: "created_at and updated_at have a space instead of the T in list revisions", Fails: "CP-CONTRACT-list-revisions",
			Apply: onResources(func(r map[string]any) {
				for _, key := range []string{"created_at", "updated_at"} {
					r[key] = strings.Replace(text(r, key), "T", " ", 1)
				}
			}),
		},
		{
			Name: "listed-updated-at-is-a-number", Breaks: "updated_at is a number (Unix seconds) in list revisions", Fails: "CP-CONTRACT-list-revisions",
			Apply: onResources(func(r map[string]any) { r["updated_at"] = epoch(text(r, "updated_at")) }),
		},
		{
			Name: "list-is-no-json", Breaks: "list revisions returns JSON with Content-Type text/plain", Fails: "CP-CONTRACT-list-revisions",
			Apply: saying(listRevisions, "text/plain"),
		},
		{
			Name: "revision-times-have-no-offset", Breaks: "created_at and updated_at have no UTC offset in the answer to get revision", Fails: "CP-CONTRACT-get-revision",
			Apply: onObject(getRevision, func(r map[string]any) {
				for _, key := range []string{"created_at", "updated_at"} {
					r[key] = strings.TrimSuffix(text(r, key), "Z")
				}
			}),
		},
		{
			Name: "revision-key-comes-twice", Breaks: "get revision returns the key id twice", Fails: "CP-CONTRACT-get-revision",
			Apply: onStatus(getRevision, http.StatusOK, func(_ *http.Request, a *answer) {
				id := text(a.object(), "id")
				a.body = []byte(strings.Replace(string(a.body), "{", `{"id":"`+id+`",`, 1))
			}),
		},
		{
			Name: "revision-is-no-json", Breaks: "get revision returns JSON with an empty Content-Type", Fails: "CP-CONTRACT-get-revision",
			Apply: saying(getRevision, ""),
		},
	}
}

// saying sets the Content-Type of successful answers of an operation.
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
