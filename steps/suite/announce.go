package suite

import (
	"cmp"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// doubt is a failure that was announced as a mistake in the configuration: a half has refused every request so far, or,
// if side is "", the target has not shown a word of vocabulary.
type doubt struct {
	scenario *features.Scenario
	verdict  *verdict
	side     spec.Side
}

// announce reports the verdict of a scenario to the progress display. If the failure would count as a mistake in the
// configuration at this point of the test run, it is announced as such, and announced again if that turns out to be
// wrong.
func (r *run) announce(kind target.EventKind, s *features.Scenario, v *verdict) {
	o, side := r.ifEndedNow(s, v.Outcome)
	isDoubtful := o.Verdict != v.Verdict
	if isDoubtful {
		r.mu.Lock()
		r.doubts = append(r.doubts, doubt{s, v, side})
		r.mu.Unlock()
	}
	if isDoubtful && kind == target.Changed {
		return
	}
	reason := o.Reason
	if o.Verdict == reports.Failed && len(o.Violations) > 0 {
		reason = cmp.Or(o.Violations[0].Summary, reason)
	}
	r.target.Progress(target.Event{Kind: kind, Name: s.Name, Text: s.Requirement.ID, Verdict: o.Verdict,
		Decides: s.Requirement.Level == reports.Must || r.binding(s.Requirement),
		Reason:  r.target.Redact.Excerpt(reason), BlockedBy: r.blockers(o), Elapsed: v.took})
}

// ifEndedNow returns the outcome of a scenario for the case that the test run ends now. If the reason is a half that has
// refused every request, it also returns that half.
func (r *run) ifEndedNow(s *features.Scenario, o *outcome.Outcome) (*outcome.Outcome, spec.Side) {
	if o.Verdict != reports.Failed {
		return o, ""
	}
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} {
		if !needsSide(r.target, s, side) || !r.followsFromRejection(s, o) {
			continue
		}
		if blocked := r.rejectedBy(side); blocked != nil {
			return blocked, side
		}
	}
	reduced, _ := r.withoutUnknownWords(r.target.Collector.Words(), s, o)
	return reduced, ""
}

// reconsider announces failures again that are no longer explained by a mistake in the configuration: failures of halves
// that have since accepted a request, or for the side "", failures because of words.
func (r *run) reconsider(sides ...spec.Side) {
	var remaining, explained []doubt
	r.mu.Lock()
	for _, d := range r.doubts {
		if slices.Contains(sides, d.side) && (d.side == "" || refusedAll(r.target, d.side) == 0) {
			explained = append(explained, d)
		} else {
			remaining = append(remaining, d)
		}
	}
	r.doubts = remaining
	r.mu.Unlock()
	for _, d := range explained {
		r.announce(target.Changed, d.scenario, d.verdict)
	}
}
