package invariants

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Record is what a run has recorded, judged once for all invariants.
type Record struct {
	target *target.Target
	others func() []Other
	judged func() map[string]invariant
}

// Other is what a scenario that sends requests has come to.
type Other struct {
	Requirement *features.Requirement
	Outcome     *outcome.Outcome
}

// NewRecord returns the record of a run. others tells what all scenarios that send requests have come to.
func NewRecord(t *target.Target, others func() []Other) *Record {
	r := &Record{target: t, others: others}
	r.judged = sync.OnceValue(r.judge)
	return r
}

// invariant judges all exchanges: note reads each of them before check reads each again.
type invariant interface {
	note(s *seen)
	check(s *seen)
	// result returns how many answers could have shown a violation, and those that did.
	result() (judged int, found []outcome.Violation)
}

// all are the invariants, by the sentence that asks for them.
func all(t *target.Target, others func() []Other) map[string]invariant {
	revisions := newRevisions()
	madeBy := func(field, owner string) invariant {
		return &effects{field: field, owner: owner, others: others, summary: "an update of " + field + " was served and created no revision"}
	}
	return map[string]invariant{
		idsOfPlane:      &ids{side: spec.ControlPlane},
		idsOfAgent:      &ids{side: spec.AgentServer},
		closedPlane:     &closed{side: spec.ControlPlane},
		closedAgent:     &closed{side: spec.AgentServer},
		handlerRefuses:  &refusals{status: t.Config.Agent.RejectedStatus, detail: t.Config.Agent.RejectedDetail},
		asSent:          &sources{revisions: revisions},
		asNamed:         &latest{revisions: revisions},
		asBefore:        &unchanged{revisions: revisions},
		staysDeployed:   &stays{revisions: revisions, patience: t.Config.Patience, deployed: map[string]time.Time{}},
		revisionOfRef:   madeBy("repo_ref", "CP-UPDATE-1"),
		revisionOfPath:  madeBy("graph_config_path", "CP-UPDATE-2"),
		revisionOfImage: madeBy("image_uri", "CP-UPDATE-3"),
		reachDeployed:   &effects{owner: "CP-POLL-1", others: others, summary: "a deployment of this run did not reach DEPLOYED"},
		readsFollow:     newFollow(t.Config.Patience),
		planeTraces:     &traceless{side: spec.ControlPlane},
		agentTraces:     &traceless{side: spec.AgentServer},
		apart:           newIsolation(t),
		rolledBack:      newRollback(),
	}
}

// judge has all invariants read the record.
func (r *Record) judge() map[string]invariant {
	rules := all(r.target, r.others)
	observations := r.target.Collector.Observations()
	check := func(rule invariant, s *seen) {
		if s.judged() {
			rule.check(s)
		}
	}
	for _, pass := range []func(invariant, *seen){invariant.note, check} {
		for _, o := range observations {
			s := seenOf(o)
			for _, rule := range rules {
				pass(rule, s)
			}
		}
	}
	return rules
}

// outcome is the verdict of the invariant with the sentence. A violation that another requirement shows at the same place of the same
// exchange is left to it, and so are all where a requirement has failed that tells the same and binds as much. A leak between users
// is left to nothing else than a requirement that shows a leak by the same operation. That one makes the
// run non-conformant, so nothing is lost. Where no answer could have shown a violation, what has failed or is blocked among these blocks
// the invariant.
func (r *Record) outcome(sentence string) (judged int, verdict error) {
	rules := r.judged()
	judged, found := rules[sentence].result()
	if len(found) == 0 && judged > 0 {
		return judged, nil
	}
	var owners []string
	for _, o := range r.others() {
		id := o.Requirement.ID
		switch {
		case o.Outcome.Verdict == reports.Blocked && judged == 0 && reports.Among(toldBy[sentence], id):
			return 0, &outcome.Outcome{Verdict: reports.Blocked, Reason: o.Outcome.Reason, BlockedBy: o.Outcome.BlockedBy}
		case o.Outcome.Verdict != reports.Failed, o.Requirement.Level != reports.Must && !advisory[sentence]:
		case sentence != apart && reports.Among(toldBy[sentence], id):
			owners, found = append(owners, id), nil
		default:
			shows := o.shows
			if leaks, is := rules[sentence].(*isolation); is {
				shows = func(v outcome.Violation) bool { return leaks.toldBy(o, v) }
			}
			left := slices.DeleteFunc(slices.Clone(found), shows)
			if len(left) < len(found) {
				owners, found = append(owners, id), left
			}
		}
	}
	if len(found) > 0 {
		return judged, (&outcome.Outcome{Verdict: reports.Failed, Violations: found}).OrNil()
	}
	if len(owners) == 0 {
		return judged, nil
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	if judged == 0 {
		return 0, outcome.Blocked("%s: %s failed", noEvidence, strings.Join(owners, ", ")).ByRequirement(owners...)
	}
	return judged, outcome.Inapplicable(owners[0], "left to %s, which failed", strings.Join(owners, ", "))
}

// shows tells whether a violation is at the same place of the same exchange.
func (o Other) shows(v outcome.Violation) bool {
	return slices.ContainsFunc(o.Outcome.Violations, func(f outcome.Violation) bool {
		return v.Exchange != 0 && slices.Contains([]int{f.Exchange, f.Compared.Shown, f.Compared.With}, v.Exchange) &&
			(f.Pointer == v.Pointer || f.Pointer == "" || v.Pointer == "")
	})
}

// tally counts what an invariant has judged, and keeps one violation of each operation and place: the first that was seen.
type tally struct {
	judged int
	found  []outcome.Violation
}

func (t *tally) result() (int, []outcome.Violation) { return t.judged, t.found }

func (t *tally) violated(s *seen, pointer, summary, expected, actual string) {
	operation := s.Op.ID
	for i := range t.found {
		if v := &t.found[i]; v.Operation == operation && v.Pointer == pointer && v.Key == summary {
			v.Count++
			return
		}
	}
	t.found = append(t.found, outcome.Violation{Summary: summary, Expected: expected, Actual: actual, Operation: operation, Pointer: pointer,
		Exchange: s.ID, Count: 1, Key: summary, Site: outcome.Site(1)})
}
