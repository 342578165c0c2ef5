package faults

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

func retrieval() []Fault {
	return []Fault{
		{
			Name: "latest-revision-appears-with-the-second", Breaks: "a deployment names its latest revision only after an update", Fails: "CP-GET-1", Hangs: true,
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
			Name: "id-is-that-of-the-first-deployment", Breaks: "a retrieved deployment shows the id of the first one that was retrieved", Fails: "CP-GET-1",
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
			Name: "unknown-deployment-is-empty", Breaks: "an unknown deployment is answered 200 with an empty object", Fails: "CP-GET-2",
			Also: map[string]string{"CP-CONTRACT-get-deployment": sameInContract},
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{})
			}),
		},
		{
			Name: "unknown-deployment-is-400", Breaks: "an unknown deployment is a bad request", Fails: "CP-GET-2",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "unknown-deployment-is-a-text", Breaks: "the 404 of a deployment is plain text", Fails: "CP-GET-2",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) { a.plain("404 page not found") }),
		},
		{
			Name: "unknown-deployment-has-an-error-object", Breaks: "the 404 of a deployment has an object as detail", Fails: "CP-GET-2",
			Apply: onStatus(getDeployment, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.edit(func(o map[string]any) { o["detail"] = map[string]any{"message": o["detail"]} })
			}),
		},
		{
			Name: "invalid-deployment-id-is-a-text", Breaks: "the 422 of a deployment id has a text as detail", Fails: "CP-GET-3",
			Apply: onStatus(getDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusUnprocessableEntity, "The id is no uuid.")
			}),
		},
		{
			Name: "invalid-deployment-id-fails", Breaks: "a deployment id that is no uuid is a server error", Fails: "CP-GET-3",
			Also: map[string]string{"CP-ERROR-3": "a server error is one whatever was asked"},
			Apply: onStatus(getDeployment, http.StatusUnprocessableEntity, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusInternalServerError, "Internal Server Error")
			}),
		},
	}
}

func revision() []Fault {
	return []Fault{
		{
			Name: "revision-lacks-updated-at", Breaks: "a single revision has no updated_at", Fails: "CP-REV-1",
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract},
			Apply: onObject(getRevision, func(r map[string]any) { delete(r, "updated_at") }),
		},
		{
			Name: "any-revision-is-the-latest", Breaks: "whichever revision is asked for, the latest is answered", Fails: "CP-REV-1",
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
			Name: "superseded-revision-is-gone", Breaks: "only the latest revision can be retrieved", Fails: "CP-REV-1",
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
			Name: "unknown-revision-is-400", Breaks: "an unknown revision is a bad request", Fails: "CP-REV-2",
			Apply: onUnknownRevision(func(a *answer, _ http.Handler, _ *http.Request) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "unknown-revision-is-the-latest", Breaks: "in place of an unknown revision the latest is answered", Fails: "CP-REV-2",
			Apply: onUnknownRevision(func(a *answer, next http.Handler, r *http.Request) {
				path := "/v2/deployments/" + deploymentOf(r) + "/revisions/"
				if latest := text(lookAtDeployment(next, r), "latest_revision_id"); latest != "" {
					a.status = http.StatusOK
					a.json(look(next, r, path+latest, ""))
				}
			}),
		},
		{
			Name: "revision-under-any-deployment", Breaks: "a revision is found under every deployment of the tenant", Fails: "CP-REV-3",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getRevision.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if home, known := m.marked(revisionOf(r)).(string); a.status == http.StatusNotFound && known {
					a = capture(next, withPath(r, "/v2/deployments/"+home+"/revisions/"+revisionOf(r)))
				}
				if a.status == http.StatusOK {
					m.mark(revisionOf(r), deploymentOf(r))
				}
				a.send(w)
			}),
		},
		{
			Name: "created-at-is-now", Breaks: "created_at of a single revision is the time of the read", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) {
				now := time.Now().UTC().Format(time.RFC3339Nano)
				r["created_at"], r["updated_at"] = now, now
			}),
		},
		{
			Name: "created-at-moves", Breaks: "created_at of a revision is the time of its last change, until it is settled", Fails: "CP-REV-4",
			Apply: both(paced(10*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) { r.CreatedAt = r.UpdatedAt })),
		},
		{
			Name: "updated-at-is-not-set", Breaks: "updated_at of a single revision is the zero time until someone touches it", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) { r["updated_at"] = "0001-01-01T00:00:00Z" }),
		},
		{
			Name: "updated-at-is-in-another-zone", Breaks: "updated_at of a single revision is the local time, sold as UTC", Fails: "CP-REV-4",
			Apply: onObject(getRevision, func(r map[string]any) {
				if at, err := time.Parse(time.RFC3339Nano, text(r, "updated_at")); err == nil {
					r["updated_at"] = at.Add(-5 * time.Hour).Format(time.RFC3339Nano)
				}
			}),
		},
		{
			Name: "revisions-share-a-config", Breaks: "every revision shows the source revision configuration of the latest", Fails: "CP-REV-5",
			Apply: readings(func(of reading, r *controlplane.Revision) { r.Config = of.deployment.Latest.Config }),
		},
		{
			Name: "earlier-revisions-lose-their-config", Breaks: "an update leaves nothing in the source revision configuration of earlier revisions", Fails: "CP-REV-5",
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if r.ID != of.deployment.LatestRevisionID {
					r.Config = controlplane.SourceRevisionConfig{RepoCommitSHA: r.Config.RepoCommitSHA}
				}
			}),
		},
		{
			Name: "commit-is-that-of-main", Breaks: "repo_commit_sha is that of the default branch, whatever the ref", Fails: "CP-REV-6",
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
			Name: "commit-is-shortened", Breaks: "repo_commit_sha has seven digits", Fails: "CP-REV-6",
			Apply: onRevisions(func(r map[string]any) {
				if commit := text(sourceOf(r), "repo_commit_sha"); len(commit) > 7 {
					sourceOf(r)["repo_commit_sha"] = commit[:7]
				}
			}),
		},
	}
}

// paced keeps a revision in each status for a while, so that it can be seen on its way.
func paced(pace time.Duration) Layer {
	return func(o *reference.Options) { o.Pace = max(o.Pace, pace) }
}

// onUnknownRevision changes the answer about revisions that no deployment has ever shown, under a deployment that there
// is.
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
	return []Fault{
		{
			Name: "never-leaves-building", Breaks: "a revision that is up is still shown as BUILDING", Fails: "CP-POLL-1", Hangs: true,
			Apply: statusIs("DEPLOYED", "BUILDING"),
		},
		{
			Name: "ends-in-unknown", Breaks: "a revision that is up is shown as UNKNOWN", Fails: "CP-POLL-1", Hangs: true,
			Apply: statusIs("DEPLOYED", "UNKNOWN"),
		},
		{
			Name: "begins-as-pending", Breaks: "a revision is PENDING at first, a status that does not exist", Fails: "CP-POLL-1",
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract},
			Apply: shownAtFirst(2, "PENDING"),
		},
		{
			Name: "success-has-another-name", Breaks: "a revision that is up is ACTIVE", Fails: "CP-POLL-1", Hangs: true,
			Also:  map[string]string{"CP-CONTRACT-get-revision": sameInContract},
			Apply: onObject(getRevision, statusWord("DEPLOYED", "ACTIVE")),
		},
		{
			Name: "nothing-can-be-deployed", Breaks: "every deployment fails when its agent server is started", Fails: "CP-POLL-1",
			Apply: deploying(func(n int) bool { return true }),
		},
		{
			Name: "deployed-flaps", Breaks: "the status of a revision that is up falls back to DEPLOYING now and then", Fails: "CP-POLL-2",
			Apply: flapping("DEPLOYING"),
		},
		{
			Name: "deployed-is-lost-sight-of", Breaks: "a failed health check shows a revision that is up as UNKNOWN", Fails: "CP-POLL-2",
			Apply: flapping("UNKNOWN"),
		},
		{
			Name: "list-status-is-stale", Breaks: "the list shows the status before the last one", Fails: "CP-POLL-3",
			Apply: onResources(statusWord("DEPLOYED", "DEPLOYING")),
		},
		{
			Name: "listed-created-at-is-updated-at", Breaks: "the list shows the time of the last change as created_at", Fails: "CP-POLL-3",
			Apply: onResources(func(r map[string]any) { r["created_at"] = r["updated_at"] }),
		},
		{
			Name: "list-leaves-out-the-commit", Breaks: "the list does not show repo_commit_sha", Fails: "CP-POLL-3",
			Apply: onResources(func(r map[string]any) { sourceOf(r)["repo_commit_sha"] = nil }),
		},
		{
			Name: "list-shows-one-config", Breaks: "every revision in a list shows the configuration of the first in it", Fails: "CP-POLL-3",
			Apply: onObject(listRevisions, func(list map[string]any) {
				rows := items(list["resources"])
				for _, row := range rows {
					row["source_revision_config"] = rows[0]["source_revision_config"]
				}
			}),
		},
		{
			Name: "broken-build-is-deployed", Breaks: "when a build fails the last good one is deployed, and the revision is DEPLOYED", Fails: "CP-POLL-4",
			Apply: lastGoodBuild(),
		},
		{
			Name: "broken-build-never-ends", Breaks: "a revision whose build failed is BUILDING for ever", Fails: "CP-POLL-4", Hangs: true,
			Apply: statusIs("BUILD_FAILED", "BUILDING"),
		},
		{
			Name: "broken-build-is-skipped", Breaks: "a revision whose build failed is SKIPPED", Fails: "CP-POLL-4", Hangs: true,
			Apply: statusIs("BUILD_FAILED", "SKIPPED"),
		},
	}
}

// statusIs shows another status wherever a revision is read, also to the filters.
func statusIs(is, shown controlplane.Status) Layer {
	return readings(func(_ reading, r *controlplane.Revision) {
		if r.Status == is {
			r.Status = shown
		}
	})
}

// statusWord shows another word for a status in an answer.
func statusWord(is, shown string) func(r map[string]any) {
	return func(r map[string]any) {
		if r["status"] == is {
			r["status"] = shown
		}
	}
}

// shownAtFirst shows a status in the first answers about each revision.
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

// flapping shows a status in every third answer about a revision that is up, where it is the only one.
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
