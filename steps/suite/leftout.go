package suite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// followLeftOut returns a skip in place of a blocked or inconclusive outcome if the reason is that the test run omits
// other requirements: all blockers are requirements of --skip, or no judged requirement could have produced the missing
// evidence. It returns other outcomes unchanged.
func (r *run) followLeftOut(s *features.Scenario, o *outcome.Outcome) *outcome.Outcome {
	switch {
	case o.Verdict != reports.Blocked && o.Verdict != reports.Inconclusive:
		return o
	case len(o.ShownBy) > 0:
		return r.skippedWithEvidence(s, o)
	}
	var owners []string
	for _, b := range o.BlockedBy {
		if b.Kind != reports.ByRequirement || !matchesAny(r.Select.Skip, b.Name) {
			return o
		}
		owners = append(owners, b.Name)
	}
	if len(owners) == 0 {
		return o
	}
	return outcome.Skipped(reports.NotSelected, "--skip", "not selected: it depends on %s, skipped with --skip: %s",
		strings.Join(owners, ", "), o.Reason)
}

// skippedWithEvidence returns the skip of the first requirement that could have produced the evidence that an outcome
// lacks. If one of these requirements is blocked, the outcome is blocked by the same cause. If one was judged, or is not
// applicable, it returns the outcome unchanged.
func (r *run) skippedWithEvidence(s *features.Scenario, o *outcome.Outcome) *outcome.Outcome {
	var skip *outcome.Outcome
	isJudged := false
	for _, other := range r.Catalogue.Scenarios() {
		isSource := other.Requirement == s.Requirement || reports.Among(o.ShownBy, other.Requirement.ID)
		if !isSource || other.Terms.Record {
			continue
		}
		left := r.skipOf(other)
		if left == nil {
			isJudged = true
			if blocked := r.blockOf(other); blocked != nil {
				return blocked
			}
			continue
		}
		if skip == nil && left.Skip.Kind != reports.NotApplicable {
			skip = left
		}
	}
	if skip == nil || isJudged {
		return o
	}
	return skip
}

// blockOf returns the outcome of a scenario that is blocked, or nil.
func (r *run) blockOf(s *features.Scenario) *outcome.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.verdicts[s.Key()]
	if v == nil || v.Verdict != reports.Blocked {
		return nil
	}
	return &outcome.Outcome{Verdict: reports.Blocked, Reason: v.Reason, BlockedBy: v.BlockedBy}
}

// skipOf returns the outcome of a scenario that was left out of the test run, or nil if it was executed.
func (r *run) skipOf(s *features.Scenario) *outcome.Outcome {
	if !slices.Contains(r.selected, s) {
		option := r.Select.LeavesOut(s.Requirement.ID)
		if r.recording != nil && option != "--only" {
			return outcome.Skipped(reports.NotSelected, option, "not in the recording: nothing in it could show a violation")
		}
		return outcome.Skipped(reports.NotSelected, option, "not selected: %s leaves out %s, which could show a violation",
			cmp.Or(option, "the selection"), s.Requirement.ID)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.verdicts[s.Key()]
	if v == nil || v.Verdict != reports.Skipped {
		return nil
	}
	return v.Outcome
}
