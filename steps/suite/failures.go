package suite

import "github.com/agentconform/agentconform/steps/invariants"

// judgedApart are the outcomes of the scenarios that send requests: all of them have ended when the record is judged.
func (r *run) judgedApart() (all []invariants.Other) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.Catalogue.Scenarios() {
		if v := r.verdicts[s.Key()]; v != nil && v.outcome != nil && !r.forecast.JudgesRecord(s) {
			all = append(all, invariants.Other{Requirement: s.Requirement, Outcome: v.outcome})
		}
	}
	return all
}
