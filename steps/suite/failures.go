package suite

import (
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/invariants"
)

// failures are what the scenarios have found that send requests: all of them have ended when the record is judged.
func (r *run) failures() (all []invariants.Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.Catalogue.Scenarios() {
		v := r.verdicts[s.Key()]
		if v == nil || v.outcome == nil || v.outcome.Verdict != reports.Failed || r.forecast.JudgesRecord(s) {
			continue
		}
		for _, found := range v.outcome.Violations {
			all = append(all, invariants.Failure{Requirement: s.Requirement.ID, Must: s.Requirement.Level == reports.Must, Pointer: found.Pointer,
				Exchanges: []int{found.Exchange, found.Compared.Shown, found.Compared.With}})
		}
	}
	return all
}
