package faults

import (
	"net/http"
	"net/url"
	"slices"
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

// sourceFields are the fields whose update creates a revision (interface, section 2).
var sourceFields = []string{"repo_ref", "graph_config_path", "image_uri"}

func newRevisions() []Fault {
	return []Fault{
		{
			Name:   "refused-update-supersedes",
			Breaks: "an update without credentials gets 401, but is applied, and the revision that was being built becomes SKIPPED or INTERRUPTED",
			Fails:  "CP-AUTH-3", Elsewhere: true,
			Apply: compose(changing([]string{"update-deployment", "caller without-credentials", "status = 401"}, "beside", "as owner"), paced(100*time.Millisecond)),
		},
		{
			Name: "second-revision-fails", Breaks: "the second revision of a deployment fails when its agent server starts", Fails: "CP-UPDATE-10",
			Apply: deploying(func(n int) bool { return n == 2 }),
		},
		{
			Name: "second-revision-awaits-deploy", Breaks: "the revision of an update stays at AWAITING_DEPLOY", Fails: "CP-UPDATE-10", Hangs: true,
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if of.number > 1 && r.Status == controlplane.Deployed {
					r.Status = controlplane.AwaitingDeploy
				}
			}),
		},
	}
}

// asksFor returns the source fields of an update that are non-empty strings.
func asksFor(r *http.Request) []string { return asked(bodyOf(r)) }

func asked(body map[string]any) []string {
	source := sourceOf(body)
	return slices.DeleteFunc(slices.Clone(sourceFields), func(field string) bool { return text(source, field) == "" })
}

func keptAsIs() []Fault {
	return []Fault{
		{
			Name: "null-clears-a-field", Breaks: "an update with repo_ref, graph_config_path or image_uri null shows it as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				value, named := sourceOf(body)[field]
				return named && value == nil
			}),
		},
		{
			Name: "update-clears-what-it-does-not-name", Breaks: "an update with a source field shows the other source fields of the new revision as null", Fails: "CP-UPDATE-12",
			Apply: forgetting(func(body map[string]any, field string) bool {
				return len(asked(body)) > 0 && sourceOf(body)[field] == nil
			}),
		},
	}
}

// forgetting shows source fields as null after an update that lost them: those of the deployment until the next update, and those
// of a revision that the update created.
func forgetting(lost func(body map[string]any, field string) bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) {
			var fields []string
			body := bodyOf(r)
			for _, field := range sourceFields {
				if body != nil && lost(body, field) {
					fields = append(fields, field)
				}
			}
			a := deviate.Capture(next, r)
			if a.Status == http.StatusOK {
				m.mark(deploymentOf(r), fields)
				if len(asked(body)) > 0 {
					m.mark(text(a.Object(), "latest_revision_id"), fields)
				}
			}
			a.Send(w)
			return
		}
		a := deviate.Capture(next, r)
		forget := func(o map[string]any) {
			fields, _ := m.marked(text(o, "id")).([]string)
			for _, field := range fields {
				sourceOf(o)[field] = nil
			}
		}
		switch {
		case a.Status != http.StatusOK:
		case getDeployment.is(r), getRevision.is(r):
			a.Edit(forget)
		case listRevisions.is(r):
			a.Edit(func(list map[string]any) {
				for _, row := range items(list["resources"]) {
					forget(row)
				}
			})
		}
		a.Send(w)
	})
}

func filters() []Fault {
	return []Fault{
		{
			Name: "status-without-match-keeps-all", Breaks: "a status filter that matches nothing returns all revisions", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				if kept := keep(all, statuses); len(kept) > 0 {
					return kept
				}
				return all
			}),
		},
		{
			Name: "failed-are-never-listed", Breaks: "failed revisions are missing from every list with a status filter", Fails: "CP-LIST-9",
			Apply: filtering(func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
				return slices.DeleteFunc(keep(all, statuses), func(r controlplane.Revision) bool {
					return statuses != nil && strings.HasSuffix(string(r.Status), "_FAILED")
				})
			}),
		},
		{
			Name: "filter-comes-after-paging", Breaks: "the status filter is applied after paging", Fails: "CP-LIST-10",
			Apply: lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
				return keep(cut(all, f.Page), f.Statuses)
			}),
		},
		{
			Name: "status-is-matched-by-its-beginning", Breaks: "a filter value that starts with a known status, in any case, is accepted as that status", Fails: "CP-LIST-11",
			Apply: onQuery(listRevisions, func(q url.Values) {
				for _, status := range controlplane.Statuses() {
					if given := strings.ToUpper(q.Get("status")); !strings.Contains(given, ",") && strings.HasPrefix(given, string(status)) {
						q.Set("status", string(status))
					}
				}
			}),
		},
	}
}

// filtering replaces the status filter. It is not called for lists without one.
func filtering(kept func(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision) Layer {
	return lists(func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision {
		if f.Statuses != nil {
			all = kept(all, f.Statuses)
		}
		return cut(all, f.Page)
	})
}
