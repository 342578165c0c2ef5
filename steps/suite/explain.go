package suite

import (
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// shown is what a violation shows: the place of the evidence that decides whether another failure explains it.
type shown struct {
	exchanges []int // its exchange and those that it compares
	objects   []string
	operation string
	kind      outcome.Kind
}

// explains reports whether the violation of a requirement explains another one that is tagged as following from it: both
// show the same exchange, the same object, or the same operation with the same kind of violation. A server error explains
// only server errors, unless both show the same exchange.
func (cause shown) explains(other shown) bool {
	isShared := func(exchange int) bool { return slices.Contains(cause.exchanges, exchange) }
	if slices.ContainsFunc(other.exchanges, isShared) {
		return true
	}
	isSameMistake := cause.kind == other.kind && cause.operation == other.operation
	if cause.kind == outcome.ServerError || other.kind == outcome.ServerError {
		return isSameMistake
	}
	isSameObject := func(object string) bool { return slices.Contains(cause.objects, object) }
	return isSameMistake || slices.ContainsFunc(other.objects, isSameObject)
}

// explanation returns the requirements whose violations explain all violations of a requirement, in the order of after. It
// returns nil if one is not explained.
func explanation(violations []shown, after []string, of func(requirement string) []shown) []string {
	var all []string
	for _, v := range violations {
		isExplained := false
		for _, id := range after {
			explains := func(cause shown) bool { return cause.explains(v) }
			if slices.ContainsFunc(of(id), explains) {
				isExplained = true
				all = append(all, id)
			}
		}
		if !isExplained {
			return nil
		}
	}
	var ordered []string
	for _, id := range after {
		if slices.Contains(all, id) {
			ordered = append(ordered, id)
		}
	}
	return ordered
}

// explainFailures sets which other failures explain that of a requirement: each of its scenarios that failed has one.
func (r *run) explainFailures(res *reports.Result, groups [][]*features.Scenario) {
	for i, scenarios := range groups {
		q := &res.Requirements[i]
		if q.Verdict != reports.Failed {
			continue
		}
		var all []string
		for _, s := range scenarios {
			if r.verdicts[s.Key()].Verdict != reports.Failed {
				continue
			}
			causes := explanation(r.shownBy(s), s.After, r.shownOf)
			if len(causes) == 0 {
				all = nil
				break
			}
			all = append(all, causes...)
		}
		for _, id := range scenarios[0].Requirement.After {
			if slices.Contains(all, id) {
				q.ExplainedBy = append(q.ExplainedBy, id)
			}
		}
	}
}

// shownOf returns what the violations of a requirement show.
func (r *run) shownOf(requirement string) (all []shown) {
	for _, s := range r.selected {
		if s.Requirement.ID == requirement && r.verdicts[s.Key()].Verdict == reports.Failed {
			all = append(all, r.shownBy(s)...)
		}
	}
	return all
}

// shownBy returns what the violations of a scenario that failed show.
func (r *run) shownBy(s *features.Scenario) (all []shown) {
	for _, v := range r.verdicts[s.Key()].Violations {
		one := shown{kind: v.Kind, operation: v.Operation}
		for _, exchange := range []int{v.Exchange, v.Compared.Shown, v.Compared.With} {
			if exchange == 0 {
				continue
			}
			one.exchanges = append(one.exchanges, exchange)
			x := r.target.Collector.Observation(exchange)
			if exchange == v.Exchange && x.Op.ID != "" {
				one.operation = x.Op.ID
			}
			for _, parameter := range []string{"thread_id", "deployment_id"} {
				if id := x.In(parameter); id != "" {
					one.objects = append(one.objects, x.Base+" "+id)
				}
			}
		}
		all = append(all, one)
	}
	return all
}
