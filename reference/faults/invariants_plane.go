package faults

import (
	"net/http"
	"strings"
	"time"
)

// planeInvariants returns the faults of the control plane that only the record of a whole run shows.
func planeInvariants() []Fault {
	return []Fault{
		{
			Name: "update-answers-with-the-id-of-the-revision", Breaks: "the answer to an update has the id of the new revision as the id of the deployment", Fails: "CP-INVARIANT-1",
			Apply: onObject(updateDeployment, func(d map[string]any) { d["id"] = d["latest_revision_id"] }),
		},
		{
			Name: "failed-revision-has-the-id-of-its-deployment", Breaks: "get revision returns the id of the deployment for a revision that could not be built", Fails: "CP-INVARIANT-1",
			Apply: onAnswer(getRevision, func(r *http.Request, a *answer) {
				a.edit(func(rev map[string]any) {
					if strings.HasSuffix(text(rev, "status"), "_FAILED") {
						rev["id"] = deploymentOf(r)
					}
				})
			}),
		},
		{
			Name: "update-without-credentials-looks-done", Breaks: "an update with a repo_ref and without credentials gets 200 and is not applied", Fails: "CP-INVARIANT-2",
			Apply: lookingDone(anonymous),
		},
		{
			Name: "update-with-unknown-key-looks-done", Breaks: "an update with a repo_ref and with an unknown API key gets 200 and is not applied", Fails: "CP-INVARIANT-2",
			Apply: lookingDone(withUnknownKey),
		},
		{
			Name: "filtered-list-has-no-ref", Breaks: "a list with a status filter shows null as repo_ref", Fails: "CP-INVARIANT-3",
			Apply: onAnswer(listRevisions, func(r *http.Request, a *answer) {
				if r.URL.Query().Get("status") == "" {
					return
				}
				a.edit(func(list map[string]any) {
					for _, row := range items(list["resources"]) {
						sourceOf(row)["repo_ref"] = nil
					}
				})
			}),
		},
		{
			Name: "failed-revision-has-no-ref", Breaks: "get revision shows null as repo_ref of a revision that could not be built", Fails: "CP-INVARIANT-3",
			Apply: onObject(getRevision, func(rev map[string]any) {
				if strings.HasSuffix(text(rev, "status"), "_FAILED") {
					sourceOf(rev)["repo_ref"] = nil
				}
			}),
		},
		{
			Name: "deployment-shows-the-last-good-source", Breaks: "get deployment shows the repo_ref of the revision before while the latest one could not be built", Fails: "CP-INVARIANT-4",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				a.edit(func(d map[string]any) {
					latest := look(next, r, "/v2/deployments/"+deploymentOf(r)+"/revisions/"+text(d, "latest_revision_id"), "")
					if strings.HasSuffix(text(latest, "status"), "_FAILED") {
						sourceOf(d)["repo_ref"] = m.marked(deploymentOf(r))
						return
					}
					m.mark(deploymentOf(r), sourceOf(d)["repo_ref"])
				})
				a.send(w)
			}),
		},
		{
			Name: "deployment-has-no-ref-after-a-failed-build", Breaks: "get deployment shows null as repo_ref while the latest revision could not be built", Fails: "CP-INVARIANT-4",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				a.edit(func(d map[string]any) {
					latest := look(next, r, "/v2/deployments/"+deploymentOf(r)+"/revisions/"+text(d, "latest_revision_id"), "")
					if strings.HasSuffix(text(latest, "status"), "_FAILED") {
						sourceOf(d)["repo_ref"] = nil
					}
				})
				a.send(w)
			}),
		},
		{
			Name: "list-loses-the-path-of-the-third", Breaks: "a list of three revisions or more shows null as graph_config_path of all but the first two", Fails: "CP-INVARIANT-5",
			Also: map[string]string{"CP-INVARIANT-3": "of some of these revisions the path was sent"},
			Apply: onObject(listRevisions, func(list map[string]any) {
				rows := items(list["resources"])
				for i, row := range rows {
					if len(rows)-i > 2 {
						sourceOf(row)["graph_config_path"] = nil
					}
				}
			}),
		},
		{
			Name: "single-revision-is-listed-as-deploying", Breaks: "the list of a deployment with one revision shows it as DEPLOYING when it is DEPLOYED", Fails: "CP-INVARIANT-6",
			Elsewhere: true,
			Apply: onObject(listRevisions, func(list map[string]any) {
				if rows := items(list["resources"]); len(rows) == 1 && rows[0]["status"] == "DEPLOYED" {
					rows[0]["status"] = "DEPLOYING"
				}
			}),
		},
		{
			Name: "created-is-unknown-at-first", Breaks: "reads of a new deployment return 404 for half a second", Fails: "CP-INVARIANT-8",
			Hangs: true,
			Apply: delayedCreations(500 * time.Millisecond),
		},
		{
			Name: "updated-is-as-before-at-first", Breaks: "reads show a deployment as before an update for half a second", Fails: "CP-INVARIANT-8",
			Hangs: true,
			Apply: delayedUpdates(500*time.Millisecond, false),
		},
		{
			Name: "unknown-revision-shows-a-trace", Breaks: "the 404 of get revision holds a stack trace", Fails: "CP-INVARIANT-7",
			Apply: onStatus(getRevision, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) {
					o["trace"] = "Traceback (most recent call last):\n  File \"/app/revisions.py\", line 42, in get\nLookupError"
				})
			}),
		},
	}
}

// lookingDone answers refused updates that would create a revision as if they were applied: with the deployment as it is.
func lookingDone(who func(*http.Request) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !updateDeployment.is(r) || !who(r) || sourceOf(bodyOf(r))["repo_ref"] == nil {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusUnauthorized {
			read := r.Clone(r.Context())
			read.Method, read.Body = http.MethodGet, http.NoBody
			m.asOwner(read)
			a = capture(next, read)
		}
		a.send(w)
	})
}
