package faults

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
)

func revision() []Fault {
	return []Fault{
		{
			Name: "created-at-moves", Breaks: "created_at of a revision changes with its status", Fails: "CP-REV-4",
			Apply: compose(paced(40*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) { r.CreatedAt = r.UpdatedAt })),
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
	}
}

// paced keeps a revision in each status for a while, so that a client can observe it.
func paced(pace time.Duration) Layer {
	return func(o *reference.Options) { o.Pace = max(o.Pace, pace) }
}

func lifecycle() []Fault {
	return []Fault{
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
			Name: "nothing-can-be-deployed", Breaks: "every revision fails when its agent server starts", Fails: "CP-POLL-1",
			Apply: deploying(func(n int) bool { return true }),
		},
		{
			Name: "broken-build-is-deployed", Breaks: "after a failed build the last successful build is deployed and the revision is DEPLOYED", Fails: "CP-POLL-4",
			Apply: lastGoodBuild(),
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

// shownAtFirst shows a status in the first answers to get revision.
func shownAtFirst(times int, status string) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if a.Status == http.StatusOK && m.count(revisionOf(r)) <= times {
			a.Edit(func(revision map[string]any) { revision["status"] = status })
		}
		a.Send(w)
	})
}

// planeInvariants returns the faults of the control plane that only the record of a whole run shows.
func planeInvariants() []Fault {
	return []Fault{
		{
			Name: "created-is-unknown-at-first", Breaks: "reads of a new deployment return 404 for half a second", Fails: "CP-INVARIANT-8",
			Hangs: true,
			Apply: delayedCreations(500 * time.Millisecond),
		},
	}
}
