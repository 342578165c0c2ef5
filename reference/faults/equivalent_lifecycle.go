package faults

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
)

// otherLifecycles differ in the way from CREATING to DEPLOYED.
func otherLifecycles() []EquivalentMutant {
	return []EquivalentMutant{
		{
			Name: "statuses-are-skipped", Place: "revision status", Differs: "a revision is QUEUED until its final status",
			Apply: readings(func(_ reading, r *controlplane.Revision) {
				if !r.Status.Settled() {
					r.Status = controlplane.Queued
				}
			}),
		},
		{
			Name: "commit-is-empty-until-deployed", Differs: "repo_commit_sha is an empty string until a revision has a final status",
			Apply: commitUntilSettled(""),
		},
		{
			Name: "commit-is-pending-until-deployed", Differs: "repo_commit_sha is the word pending until a revision has a final status",
			Apply: commitUntilSettled("pending"),
		},
		{
			Name: "unknown-at-first", Place: "revision status", Differs: "the first two answers to get revision show UNKNOWN",
			Apply: shownAtFirst(2, "UNKNOWN"),
		},
		{
			Name: "first-times-are-finer", Place: "times", Differs: "the first answer to get revision shows created_at with nanoseconds",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getRevision.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := deviate.Capture(next, r)
				if created, err := time.Parse(time.RFC3339Nano, text(a.Object(), "created_at")); err == nil && m.count(revisionOf(r)) == 1 {
					a.Edit(func(revision map[string]any) {
						revision["created_at"] = created.Add(321 * time.Nanosecond).Format(time.RFC3339Nano)
					})
				}
				a.Send(w)
			}),
		},
		{
			Name: "superseded-revisions-are-unknown", Place: "revision status", Differs: "all revisions but the latest are UNKNOWN",
			Apply: readings(func(of reading, r *controlplane.Revision) {
				if r.ID != of.deployment.LatestRevisionID {
					r.Status = controlplane.Unknown
				}
			}),
		},
		{
			Name: "failed-builds-are-create-failed", Place: "revision status", Differs: "a revision with a failed build is CREATE_FAILED instead of BUILD_FAILED",
			Apply: statusIs(controlplane.BuildFailed, controlplane.CreateFailed),
		},
		{
			Name: "updates-take-effect-later", Differs: "an update returns 202 with an empty object and takes effect after 30 ms",
			Apply: delayedUpdates(30*time.Millisecond, true),
		},
		{
			Name:    "reads-follow-writes-late",
			Differs: "reads show for 60 ms after a create request 404, and after an update the deployment as it was",
			Apply:   compose(delayedCreations(60*time.Millisecond), delayedUpdates(60*time.Millisecond, false)),
		},
		{
			Name: "agent-address-comes-later", Place: "agent address", Differs: "custom_url appears 150 ms after the revision is DEPLOYED",
			Apply: addressAfter(150 * time.Millisecond),
		},
		{
			Name: "agent-serves-later", Differs: "an agent server closes connections, then returns 503, until 400 ms after its deployment is DEPLOYED",
			Apply: servingAfter(400 * time.Millisecond),
		},
	}
}

// commitUntilSettled shows a text as the commit id of a revision that has no final status.
func commitUntilSettled(text string) Layer {
	return compose(paced(15*time.Millisecond), readings(func(_ reading, r *controlplane.Revision) {
		if !r.Status.Settled() {
			r.Config.RepoCommitSHA = &text
		}
	}))
}

// addressAfter hides custom_url for a while after a revision was first seen as DEPLOYED.
func addressAfter(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !getRevision.is(r) && !getDeployment.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		from, up := m.marked(deploymentOf(r)).(time.Time)
		switch {
		case getRevision.is(r) && !up && text(a.Object(), "status") == string(controlplane.Deployed):
			m.mark(deploymentOf(r), time.Now().Add(while))
		case getDeployment.is(r) && a.Status == http.StatusOK && (!up || time.Now().Before(from)):
			a.Edit(func(o map[string]any) { delete(object(o["source_config"]), "custom_url") })
		}
		a.Send(w)
	})
}

// servingAfter has the agent server of a deployment not serve for a while after a revision was first seen as DEPLOYED.
func servingAfter(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasPrefix(r.URL.Path, "/agents/") {
			from, known := m.marked(segment(r, 2)).(time.Time)
			switch left := time.Until(from); {
			case !known || left <= 0:
				next.ServeHTTP(w, r)
			case left > while/2:
				panic(http.ErrAbortHandler) // closes the connection
			default:
				writeJSON(w, http.StatusServiceUnavailable, `{"detail":"no healthy upstream"}`)
			}
			return
		}
		if !getRevision.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if _, known := m.marked(deploymentOf(r)).(time.Time); !known && text(a.Object(), "status") == string(controlplane.Deployed) {
			m.mark(deploymentOf(r), time.Now().Add(while))
		}
		a.Send(w)
	})
}

// delayedCreations answers with 404 to reads of a new deployment for a while.
func delayedCreations(while time.Duration) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !createDeployment.is(r) && !isDeployment(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if createDeployment.is(r) && a.Status < 300 {
			m.mark(text(a.Object(), "id"), time.Now().Add(while))
		}
		if until, known := m.marked(deploymentOf(r)).(time.Time); known && r.Method == http.MethodGet && time.Now().Before(until) {
			a.Refuse(http.StatusNotFound, "Deployment ID "+deploymentOf(r)+" not found.")
		}
		a.Send(w)
	})
}

// pendingUpdate is an update that is not visible yet.
type pendingUpdate struct {
	until  time.Time
	before map[string]any // the deployment
	latest string         // id of the revision that the update created
}

// delayedUpdates hides the effects of an update for a while. Where it is only accepted, its answer says so.
func delayedUpdates(while time.Duration, accepted bool) Layer {
	return remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if updateDeployment.is(r) && len(asksFor(r)) > 0 {
			before := lookAtDeployment(next, r)
			a := deviate.Capture(next, r)
			if a.Status == http.StatusOK {
				m.mark(deploymentOf(r), pendingUpdate{time.Now().Add(while), before, text(a.Object(), "latest_revision_id")})
				if accepted {
					a.Status = http.StatusAccepted
					a.JSON(map[string]any{})
				}
			}
			a.Send(w)
			return
		}
		hidden, _ := m.marked(deploymentOf(r)).(pendingUpdate)
		if !time.Now().Before(hidden.until) {
			next.ServeHTTP(w, r)
			return
		}
		a := deviate.Capture(next, r)
		if a.Status == http.StatusOK {
			hidden.hide(r, a)
		}
		a.Send(w)
	})
}

func (u pendingUpdate) hide(r *http.Request, a *deviate.Answer) {
	switch {
	case getDeployment.is(r):
		a.JSON(u.before)
	case getRevision.is(r) && revisionOf(r) == u.latest:
		a.Refuse(http.StatusNotFound, "Revision ID "+u.latest+" not found.")
	case listRevisions.is(r):
		a.Edit(func(list map[string]any) {
			rows, _ := list["resources"].([]any)
			list["resources"] = slices.DeleteFunc(rows, func(row any) bool { return text(object(row), "id") == u.latest })
		})
	}
}
