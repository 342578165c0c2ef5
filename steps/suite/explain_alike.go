package suite

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// sign is an exchange that shows a violation.
type sign struct {
	exchange  int
	operation string
	object    string // the thread or deployment of the request, or the thread that is missing in a list
	caller    string
	status    int
	body      string
	kind      outcome.Kind
	class     string
	isLeak    bool // the response shows data that the caller must not see
}

// signsOf returns the exchanges that show a violation.
func (r *run) signsOf(found outcome.Violation, isLeak bool) (all []sign) {
	for _, id := range found.Shows() {
		if id == 0 {
			return nil
		}
		o := r.target.Collector.Observation(id)
		s := sign{exchange: id, operation: o.Op.ID, object: o.In("thread_id") + o.In("deployment_id"), caller: o.Caller.Name,
			status: o.Status, body: withoutIDs(o), kind: found.Kind, class: found.Class, isLeak: isLeak}
		if s.object == "" && found.Kind == outcome.MissingItem && found.Compared.With > 0 {
			s.object = gjson.Get(r.target.Collector.Observation(found.Compared.With).Response, "thread_id").String()
		}
		all = append(all, s)
	}
	return all
}

// withoutIDs returns the body of a response without the IDs of its request.
func withoutIDs(o *evidence.Observation) string {
	body := o.Response
	for _, name := range []string{"thread_id", "run_id", "deployment_id", "revision_id"} {
		if id := o.In(name); id != "" {
			body = strings.ReplaceAll(body, id, "{"+name+"}")
		}
	}
	return body
}

// isRefusal reports whether the response refuses its request. Nothing else in a refusal is judged.
func (s sign) isRefusal() bool { return s.status/100 == 4 }

// isLost reports whether the response does not show an object that exists.
func (s sign) isLost() bool {
	return slices.Contains([]outcome.Kind{outcome.Refused, outcome.MissingItem, outcome.Changed}, s.kind)
}

// readOf returns an operation that finds its object in the same way: a server looks up a run for a join as it does for
// GET.
func readOf(operation string) string {
	if operation == "join-run" {
		return "get-run"
	}
	return operation
}

// mayShareCause reports whether o and s may have the same cause. Unless a leak is involved, at least one of them must be
// a refusal, because two other responses, such as a 500 and a wrong value, show different faults.
func (s sign) mayShareCause(o sign) bool {
	isSameObject := s.object != "" && s.object == o.object
	isSameCaller := s.caller == o.caller
	switch {
	case o.isLeak && !s.isLeak: // the thread has the wrong owner, so the server refuses the right one
		return s.isRefusal() && isSameObject && !isSameCaller
	case s.isLeak && !o.isLeak:
		return false
	case s.isLeak:
		return s.exchange == o.exchange || isSameObject
	case s.isRefusal() && o.isRefusal():
		isSameResponse := isSameCaller && s.status == o.status && s.body == o.body
		isAlike := readOf(s.operation) == readOf(o.operation) && (s.kind == o.kind || s.isLost() && o.isLost())
		return isSameResponse && (s.exchange == o.exchange || isSameObject || isAlike)
	case s.isRefusal(): // a list lacks a thread that is not found
		return isSameObject && isSameCaller && o.kind == outcome.MissingItem
	case o.isRefusal():
		return isSameObject && isSameCaller && s.kind == outcome.MissingItem
	}
	return false
}

// explainByResponses explains failures whose responses are like those of another failure: refusals of the same thread or
// of requests of the same kind, and leaks of the same thread. The failure with the lowest rank explains the others. Only
// leaks explain a leak, and a leak explains that its thread is refused to its owner. An invariant does not show the
// cause, so it explains only other invariants.
func explainByResponses(failures []failure) {
	sorted := slices.Clone(failures)
	slices.SortStableFunc(sorted, func(a, b failure) int { return a.rank() - b.rank() })
	shown := map[string][]sign{} // for each cause, by its ID: its signs, and the signs of the failures that it explains
	var causes []failure
	for _, f := range sorted {
		if len(f.ExplainedBy) == 0 && len(f.signs) > 0 {
			at := slices.IndexFunc(causes, func(c failure) bool {
				return isAsBinding(c, f) && (f.isInvariant || !c.isInvariant) && repeat(shown[c.ID], f.signs)
			})
			if at < 0 {
				causes = append(causes, f)
			} else {
				f.ExplainedBy = []string{causes[at].ID}
			}
		}
		if id := rootOf(f); id != "" {
			shown[id] = append(shown[id], slices.Concat(f.signs...)...)
		}
	}
}

// rank orders failures that may have one cause: leaks first, then the most general failure. Failures in a situation and
// failures with a rollback are special cases.
func (f failure) rank() int {
	switch {
	case f.Subject == "isolation":
		return 0
	case !f.isSituational:
		return 1
	case f.Subject != "rollback":
		return 2
	}
	return 3
}

// rootOf returns the ID of the failure that explains the given one, or the given ID.
func rootOf(f failure) string {
	switch len(f.ExplainedBy) {
	case 0:
		return f.ID
	case 1:
		return f.ExplainedBy[0]
	}
	return ""
}

// repeat reports whether each violation may share a cause with the other failure, or is like another violation that may.
func repeat(cause []sign, violations [][]sign) bool {
	sharesCause := func(v []sign) bool {
		return slices.ContainsFunc(v, func(s sign) bool { return slices.ContainsFunc(cause, s.mayShareCause) })
	}
	return !slices.ContainsFunc(violations, func(v []sign) bool {
		return !sharesCause(v) &&
			!slices.ContainsFunc(violations, func(other []sign) bool { return isLike(v, other) && sharesCause(other) })
	})
}

// isLike reports whether two violations of a requirement have the same operation, or the same class of the input.
func isLike(a, b []sign) bool {
	if len(a) == 0 || len(b) == 0 || a[0].kind != b[0].kind || a[0].isRefusal() != b[0].isRefusal() {
		return false
	}
	return a[0].operation == b[0].operation || a[0].class == b[0].class
}
