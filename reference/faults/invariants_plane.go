package faults

import (
	"net/http"
	"strings"
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
