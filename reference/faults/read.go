package faults

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

// no404 is the reason if a requirement judges the same answer as CP-GET-4.
const no404 = "CP-GET-4 asks for 404 where any 4xx is enough"

func retrieval() []Fault {
	return []Fault{
		{
			Name: "latest-revision-appears-with-the-second", Breaks: "latest_revision_id of a deployment is null until there is a second revision", Fails: "CP-GET-1", Hangs: true,
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				alone := onlyOne(next, r)
				a := capture(next, r)
				if alone {
					a.edit(func(d map[string]any) { d["latest_revision_id"] = nil })
				}
				a.send(w)
			}),
		},
		{
			Name: "id-is-that-of-the-first-deployment", Breaks: "get deployment returns the id of the first deployment that was retrieved", Fails: "CP-GET-1",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getDeployment.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				a.edit(func(d map[string]any) {
					if m.marked("first") == nil {
						m.mark("first", d["id"])
					}
					d["id"] = m.marked("first")
				})
				a.send(w)
			}),
		},
		{
			Name: "unknown-deployment-is-empty", Breaks: "get deployment returns 200 with an empty object for an unknown deployment", Fails: "CP-GET-2",
			Also: map[string]string{"CP-CONTRACT-get-deployment": sameInContract, "CP-GET-4": no404},
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{})
			}),
		},
		{
			Name: "unknown-deployment-fails", Breaks: "get deployment returns 500 for an unknown deployment", Fails: "CP-GET-2",
			Also:  map[string]string{"CP-ERROR-3": "every 5xx fails it", "CP-GET-4": no404},
			Apply: statusOf(getDeployment, http.StatusNotFound, http.StatusInternalServerError),
		},
		{
			Name: "unknown-deployment-is-400", Breaks: "get deployment returns 400 for an unknown deployment", Fails: "CP-GET-4",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "unknown-deployment-is-a-text", Breaks: "the 404 of get deployment is plain text", Fails: "CP-GET-4",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) { a.plain("404 page not found") }),
		},
		{
			Name: "unknown-deployment-has-an-error-object", Breaks: "the 404 of get deployment has an object as detail", Fails: "CP-GET-4",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) { o["detail"] = map[string]any{"message": o["detail"]} })
			}),
		},
		{
			Name: "invalid-deployment-id-is-a-text", Breaks: "the 422 of get deployment has a string detail", Fails: "CP-GET-3",
			Apply: onStatus(getDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusUnprocessableEntity, "The id is not a valid UUID.")
			}),
		},
		{
			Name: "invalid-deployment-id-fails", Breaks: "get deployment returns 500 for an id that is not a UUID", Fails: "CP-GET-3",
			Also: map[string]string{"CP-ERROR-3": "every 5xx fails it"},
			Apply: onStatus(getDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusInternalServerError, "Internal Server Error")
			}),
		},
	}
}

func revision() []Fault {
	return []Fault{
		{
			Name: "revision-lacks-updated-at", Breaks: "updated_at is missing from the answer to get revision", Fails: "CP-REV-1",
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract},
			Apply: onObject(getRevision, func(r map[string]any) { delete(r, "updated_at") }),
		},
		{
			Name: "any-revision-is-the-latest", Breaks: "get revision always returns the latest revision", Fails: "CP-REV-1",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if getRevision.is(r) {
					if d := lookAtDeployment(next, r); capture(next, r).status == http.StatusOK {
						r = withPath(r, "/v2/deployments/"+deploymentOf(r)+"/revisions/"+text(d, "latest_revision_id"))
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "superseded-revision-is-gone", Breaks: "get revision returns 404 for every revision but the latest", Fails: "CP-REV-1",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if getRevision.is(r) {
					latest := text(lookAtDeployment(next, r), "latest_revision_id")
					if a := capture(next, r); a.status == http.StatusOK && latest != "" && !strings.EqualFold(latest, revisionOf(r)) {
						a.refuse(http.StatusNotFound, "Revision ID "+revisionOf(r)+" not found.")
						a.send(w)
						return
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "unknown-revision-is-400", Breaks: "get revision returns 400 for an unknown revision", Fails: "CP-GET-4",
			Apply: onUnknownRevision(func(a *answer, _ http.Handler, _ *http.Request) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "unknown-revision-fails", Breaks: "get revision returns 500 for an unknown revision", Fails: "CP-REV-2",
			Also:  map[string]string{"CP-ERROR-3": "every 5xx fails it", "CP-GET-4": no404},
			Apply: onUnknownRevision(func(a *answer, _ http.Handler, _ *http.Request) { a.status = http.StatusInternalServerError }),
		},
		{
			Name: "unknown-revision-is-the-latest", Breaks: "get revision returns the latest revision for an unknown id", Fails: "CP-REV-2",
			Also: map[string]string{"CP-GET-4": no404},
			Apply: onUnknownRevision(func(a *answer, next http.Handler, r *http.Request) {
				path := "/v2/deployments/" + deploymentOf(r) + "/revisions/"
				if latest := text(lookAtDeployment(next, r), "latest_revision_id"); latest != "" {
					a.status = http.StatusOK
					a.json(look(next, r, path+latest, ""))
				}
			}),
		},
		{
			Name: "revision-under-any-deployment", Breaks: "get revision finds a revision under any deployment of the tenant", Fails: "CP-REV-3",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getRevision.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if deployment, known := m.marked(revisionOf(r)).(string); a.status == http.StatusNotFound && known {
					a = capture(next, withPath(r, "/v2/deployments/"+deployment+"/revisions/"+revisionOf(r)))
				}
				if a.status == http.StatusOK {
					m.mark(revisionOf(r), deploymentOf(r))
				}
				a.send(w)
			}),
		},
		{
			Name: "created-at-is-now", Breaks: "created_at and updated_at are the time of the request in the answer to get revision", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) {
				now := time.Now().UTC().Format(time.RFC3339Nano)
				r["created_at"], r["updated_at"] = now, now
			}),
		},
		{
			Name: "created-at-moves", Breaks: "created_at of a revision changes with its status", Fails: "CP-REV-4",
			Apply: compose(paced(40*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) { r.CreatedAt = r.UpdatedAt })),
		},
		{
			Name: "updated-at-is-not-set", Breaks: "updated_at is 0001-01-01T00:00:00Z in the answer to get revision", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) { r["updated_at"] = "0001-01-01T00:00:00Z" }),
		},
		{
			Name: "updated-at-is-in-another-zone", Breaks: "updated_at is local time labelled as UTC in the answer to get revision", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) {
				if at, err := time.Parse(time.RFC3339Nano, text(r, "updated_at")); err == nil {
					r["updated_at"] = at.Add(-5 * time.Hour).Format(time.RFC3339Nano)
				}
			}),
		},
		{
			Name: "revisions-share-a-config", Breaks: "every revision has the source_revision_config of the latest", Fails: "CP-REV-5",
			Apply: readings(func(of reading, r *controlplane.Revision) { r.Config = of.deployment.Latest.Config }),
		},
		{
			Name: "earlier-revisions-lose-their-config", Breaks: "after an update, source_revision_config of earlier revisions has only repo_commit_sha", Fails: "CP-REV-5",
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if r.ID != of.deployment.LatestRevisionID {
					r.Config = controlplane.SourceRevisionConfig{RepoCommitSHA: r.Config.RepoCommitSHA}
				}
			}),
		},
		{
			Name: "commit-is-that-of-main", Breaks: "repo_commit_sha is the commit of main, whatever repo_ref is", Fails: "CP-REV-6",
			Apply: fresh(func() Layer {
				commits := &memory{marks: map[string]any{}}
				return readings(func(_ reading, r *controlplane.Revision) {
					if r.Config.RepoRef == nil || r.Config.RepoCommitSHA == nil {
						return
					}
					if *r.Config.RepoRef == "main" {
						commits.mark("main", *r.Config.RepoCommitSHA)
					}
					if main, seen := commits.marked("main").(string); seen {
						r.Config.RepoCommitSHA = &main
					}
				})
			}),
		},
		{
			Name: "commit-is-shortened", Breaks: "repo_commit_sha is shortened to 7 digits", Fails: "CP-REV-6",
			Apply: onRevisions(func(r map[string]any) {
				if commit := text(sourceOf(r), "repo_commit_sha"); len(commit) > 7 {
					sourceOf(r)["repo_commit_sha"] = commit[:7]
				}
			}),
		},
	}
}

// paced keeps a revision in each status for a while, so that a client can observe it.
func paced(pace time.Duration) Layer {
	return func(o *reference.Options) { o.Pace = max(o.Pace, pace) }
}

// onUnknownRevision changes the 404 of get revision for an unknown revision of an existing deployment.
func onUnknownRevision(change func(a *answer, next http.Handler, r *http.Request)) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		switch {
		case a.status == http.StatusOK:
			m.mark(revisionOf(r), true)
		case a.status == http.StatusNotFound && m.marked(revisionOf(r)) == nil && text(lookAtDeployment(next, r), "id") != "":
			change(a, next, r)
		}
		a.send(w)
	})
}

func lifecycle() []Fault {
	alsoInRevisions := map[string]string{"CP-CONTRACT-get-revision": sameInContract, "CP-CONTRACT-list-revisions": sameInContract}
	return []Fault{
		{
			Name: "never-leaves-building", Breaks: "a DEPLOYED revision is shown as BUILDING", Fails: "CP-POLL-1", Hangs: true,
			Apply: statusIs("DEPLOYED", "BUILDING"),
		},
		{
			Name: "some-deployments-are-never-built", Breaks: "the first revision of a deployment whose name contains history stays BUILDING", Fails: "CP-POLL-1",
			Hangs: true, Elsewhere: true,
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if strings.Contains(of.deployment.Name, "history") && of.number == 1 && r.Status == controlplane.Deployed {
					r.Status = controlplane.Building
				}
			}),
		},
		{
			Name: "ends-in-unknown", Breaks: "a DEPLOYED revision is shown as UNKNOWN", Fails: "CP-POLL-1", Hangs: true,
			Apply: statusIs("DEPLOYED", "UNKNOWN"),
		},
		{
			Name: "begins-as-pending", Breaks: "the first answers to get revision show PENDING, which is not a status of the interface", Fails: "CP-POLL-1",
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract},
			Apply: shownAtFirst(2, "PENDING"),
		},
		{
			Name: "success-has-another-name", Breaks: "a DEPLOYED revision is shown as ACTIVE", Fails: "CP-POLL-1", Hangs: true,
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract, "CP-POLL-3": "the list shows DEPLOYED"},
			Apply: onObject(getRevision, statusWord("DEPLOYED", "ACTIVE")),
		},
		{
			Name: "statuses-are-lower-case", Breaks: "the status of a revision is in lower case: building, deployed", Fails: "CP-POLL-1",
			Also:  alsoInRevisions,
			Apply: onRevisions(func(r map[string]any) { r["status"] = strings.ToLower(text(r, "status")) }),
		},
		{
			Name: "deployed-is-misspelt", Breaks: "a DEPLOYED revision is shown as DEPLOYD", Fails: "CP-POLL-1", Hangs: true,
			Also:  alsoInRevisions,
			Apply: onRevisions(statusWord("DEPLOYED", "DEPLOYD")),
		},
		{
			Name: "nothing-can-be-deployed", Breaks: "every revision fails when its agent server starts", Fails: "CP-POLL-1",
			Apply: deploying(func(n int) bool { return true }),
		},
		{
			Name: "deployed-flaps", Breaks: "a DEPLOYED revision is shown as DEPLOYING in every third answer", Fails: "CP-POLL-2",
			Apply: flapping("DEPLOYING"),
		},
		{
			Name: "deployed-becomes-unknown", Breaks: "a DEPLOYED revision is shown as UNKNOWN in every third answer", Fails: "CP-POLL-2",
			Apply: flapping("UNKNOWN"),
		},
		{
			Name: "list-status-is-stale", Breaks: "a DEPLOYED revision is shown as DEPLOYING in list revisions", Fails: "CP-POLL-3",
			Apply: onResources(statusWord("DEPLOYED", "DEPLOYING")),
		},
		{
			Name: "listed-created-at-is-updated-at", Breaks: "created_at has the value of updated_at in list revisions", Fails: "CP-POLL-3",
			Apply: onResources(func(r map[string]any) { r["created_at"] = r["updated_at"] }),
		},
		{
			Name: "list-leaves-out-the-commit", Breaks: "repo_commit_sha is null in list revisions", Fails: "CP-POLL-3",
			Apply: onResources(func(r map[string]any) { sourceOf(r)["repo_commit_sha"] = nil }),
		},
		{
			Name: "list-shows-one-config", Breaks: "every revision in a list has the source_revision_config of the first", Fails: "CP-POLL-3",
			Apply: onObject(listRevisions, func(list map[string]any) {
				rows := items(list["resources"])
				for _, row := range rows {
					row["source_revision_config"] = rows[0]["source_revision_config"]
				}
			}),
		},
		{
			Name: "broken-build-is-deployed", Breaks: "after a failed build the last successful build is deployed and the revision is DEPLOYED", Fails: "CP-POLL-4",
			Apply: lastGoodBuild(),
		},
		{
			Name: "broken-build-never-ends", Breaks: "a revision with a failed build is shown as BUILDING forever", Fails: "CP-POLL-4", Hangs: true,
			Apply: statusIs("BUILD_FAILED", "BUILDING"),
		},
		{
			Name: "broken-build-is-skipped", Breaks: "a revision with a failed build is shown as SKIPPED", Fails: "CP-POLL-4", Hangs: true,
			Apply: statusIs("BUILD_FAILED", "SKIPPED"),
		},
	}
}

// statusIs replaces a status in all reads, filters included.
func statusIs(is, shown controlplane.Status) Layer {
	return readings(func(_ reading, r *controlplane.Revision) {
		if r.Status == is {
			r.Status = shown
		}
	})
}

// statusWord replaces a status in an answer.
func statusWord(is, shown string) func(r map[string]any) {
	return func(r map[string]any) {
		if r["status"] == is {
			r["status"] = shown
		}
	}
}

// shownAtFirst shows a status in the first answers to get revision.
func shownAtFirst(times int, status string) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusOK && m.count(revisionOf(r)) <= times {
			a.edit(func(revision map[string]any) { revision["status"] = status })
		}
		a.send(w)
	})
}

// flapping shows a status in every third answer about a DEPLOYED revision that is the only one.
func flapping(status string) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		up := strings.Contains(string(a.body), `"DEPLOYED"`)
		if up && onlyOne(next, r) && m.count(revisionOf(r))%3 == 0 {
			a.edit(statusWord("DEPLOYED", status))
		}
		a.send(w)
	})
}
