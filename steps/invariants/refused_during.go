package invariants

import (
	"slices"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
)

// duringRunRule returns the rule that the state of a thread is served while the latest run of the thread is in progress.
func (r *refused) duringRunRule() *invariant {
	var all requests
	return &invariant{side: spec.AgentServer, coveredBy: "AS-STATE-1 AS-STATE-6", advisory: true,
		check: func(_ *tally, s *seen) {
			if s.Op.ID == "get-state" && !s.Wrong && s.IsKind(evidence.Kept) {
				r.judgeDuringRun(&all, s)
			}
		},
		end: func(t *tally) { t.judgeRefusals(all) },
	}
}

// judgeDuringRun adds a GET of a state to the requests if a run of the thread was in progress. Within patience after the
// run was accepted, a read may show the thread without a run. Such a thread need not have a state.
func (r *refused) judgeDuringRun(all *requests, s *seen) {
	key := objectKey(s)
	if r.owners[key] != s.Caller.Name || isAfter(r.changed, key, s) {
		return
	}
	runs := r.latestRuns(key, s.Ended)
	if len(runs) == 0 {
		return
	}
	g := runs[0]
	isInProgress := !g.mayFail && g.accepted.Before(s.Sent) && s.Ended.Before(g.earliest)
	switch {
	// Refused credentials are judged by the requirements about authentication.
	case !isInProgress || r.target.Rejects(s.Side, s.Status):
	case s.ok():
		all.served++
	case s.Status/100 == 4 && g.accepted.Add(r.revisions.patience).Before(s.Sent):
		all.refused = append(all.refused, refusal{s, reason{"while a run is in progress", "a run of the thread is in progress"}})
	}
}

// mayBeReplaced reports whether another run was sent after the run of a request, and no response showed the end of that
// run. The interface does not define the effect of a run without multitask_strategy, so it may have rolled back the
// earlier one.
func (r *refused) mayBeReplaced(s *seen) bool {
	all := r.byThread[objectKey(s)]
	at := slices.IndexFunc(all, func(g *threadRun) bool { return g.id == s.In("run_id") })
	return at >= 0 && all[at].ended.IsZero() && slices.ContainsFunc(all, func(other *threadRun) bool {
		return other.sent.After(all[at].sent) && other.sent.Before(s.Ended)
	})
}

// hasSettled reports whether all revisions of the deployment were known to have settled before a request, and no other
// update was under way.
func (r *refused) hasSettled(s *seen) bool {
	deployment := s.In("deployment_id")
	isOpen := func(u *write) bool {
		return u.isUnderWay(s.Sent, s.Ended) || u.revision == "" && u.sent.Before(s.Ended)
	}
	isUnsettled := func(v *revision) bool {
		return v.named.Before(s.Ended) && (v.settled.IsZero() || v.settled.After(s.Sent))
	}
	return !slices.ContainsFunc(r.revisions.updates[deployment], isOpen) &&
		!slices.ContainsFunc(r.revisions.created[deployment], isUnsettled)
}
