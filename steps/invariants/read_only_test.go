package invariants

import (
	"testing"

	"github.com/agentconform/agentconform/steps/target"
)

func TestRevisionsTakeNoReadOnlyValueFromARequest(t *testing.T) {
	const (
		step     = `no read-only value of a request is shown by a revision of its deployment`
		revision = deployment + "/revisions/" + two
		commits  = `"source_revision_config":{"repo_commit_sha":"0123456"}`
		commitAt = "/source_revision_config/repo_commit_sha"
	)
	reads := func(response string) func(h *history) {
		return func(h *history) { h.reads(revision, `{"id":"`+two+`",`+response+`}`) }
	}
	judgeEach(t, step, func(h *history) {
		h.created(`{"created_at":"1999-12-31T23:59:59Z","status":"SKIPPED",`+commits+`}`, two)
	}, map[string]row{
		"a commit of the server":             {reads(`"source_revision_config":{"repo_commit_sha":"abcdef0"}`), ""},
		"the commit of the request":          {reads(commits), commitAt},
		"the created_at of the request":      {reads(`"created_at":"2000-01-01T00:59:59+01:00"`), "/created_at"},
		"the status of the request":          {reads(`"status":"SKIPPED"`), "/status"},
		"a deployment with its commit":       {func(h *history) { h.reads(deployment, `{"id":"`+one+`",`+commits+`}`) }, commitAt},
		"a deployment with its created_at":   {func(h *history) { h.reads(deployment, `{"created_at":"1999-12-31T23:59:59Z"}`) }, "none"},
		"a later update may have skipped it": {func(h *history) { h.patches(`{}`, 200, `{}`); reads(`"status":"SKIPPED"`)(h) }, "none"},
	})
	judgeEach(t, step, func(*history) {}, map[string]row{
		"the response to the creation": {func(h *history) {
			h.plane(target.TheClient, "POST", "/v2/deployments", `{`+commits+`}`, 201, `{"id":"`+one+`","latest_revision_id":"`+two+`",`+commits+`}`)
		}, commitAt},
	})
	judgeEach(t, step, func(h *history) {
		h.created(`{}`, two)
		reads(`"status":"DEPLOYED",` + commits)(h)
		h.patches(`{"id":"`+three+`","status":"SKIPPED",`+commits+`}`, 200, `{}`)
	}, map[string]row{
		"a refused update":          {func(h *history) { h.patches(`{"status":"SKIPPED"}`, 422, `{}`) }, ""},
		"it had the commit before":  {reads(commits), ""},
		"the status of the request": {reads(`"status":"SKIPPED"`), "/status"},
		"a later revision skipped it": {func(h *history) {
			h.patches(`{"source_revision_config":{"repo_ref":"next"}}`, 200, `{"latest_revision_id":"`+three+`"}`)
			reads(`"status":"SKIPPED"`)(h)
		}, ""},
		"the id of the request":         {func(h *history) { h.reads(revision, `{"id":"`+three+`"}`) }, "/id"},
		"the id of the request, listed": {func(h *history) { h.reads(deployment+"/revisions", `{"resources":[{"id":"`+three+`"}],"offset":1}`) }, "/resources/*/id"},
	})
}

// TestClientsSendObjectsBack judges recordings of clients that send read-only values as they read them.
func TestClientsSendObjectsBack(t *testing.T) {
	const (
		step    = `no read-only value of a request is shown by a revision of its deployment`
		commits = `"source_revision_config":{"repo_commit_sha":"0123456"}`
		branch  = `"source_revision_config":{"repo_ref":"next"}`
		at      = `"created_at":"2026-01-02T03:04:05Z"`
	)
	shows := func(revision, fields string) func(h *history) {
		return func(h *history) { h.reads(deployment+"/revisions/"+revision, `{"id":"`+revision+`",`+fields+`}`) }
	}
	after := func(body, response string, read func(h *history)) func(h *history) {
		return func(h *history) {
			h.patches(body, 200, response)
			read(h)
		}
	}
	const same, next = `{"latest_revision_id":"` + two + `"}`, `{"latest_revision_id":"` + three + `"}`
	judgeEach(t, step, func(h *history) {
		h.target.Recorded = true
		h.created(`{`+commits+`,"status":"DEPLOYED"}`, two)
	}, map[string]row{
		"the commit of another deployment":    {shows(two, commits), "none"},
		"the status of another deployment":    {shows(two, `"status":"DEPLOYED"`), "none"},
		"the created_at of the deployment":    {after(`{`+at+`}`, same, shows(two, at)), "none"},
		"a created_at of the new revision":    {after(`{`+at+`,`+branch+`}`, next, shows(three, at)), "/created_at"},
		"a created_at of the revision before": {after(`{`+at+`,`+branch+`}`, next, shows(two, at)), "none"},
		"the latest revision": {after(same, same, func(h *history) {
			h.reads(deployment, `{"id":"`+one+`","latest_revision_id":"`+two+`"}`)
		}), "none"},
	})
}
