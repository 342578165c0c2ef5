// Package invariants judges, when all scenarios that send requests have ended, what must be true of every recorded
// exchange of a run: that an answer has the id that was asked for, that nobody is served without credentials. It sends
// no requests.
//
// An invariant shows what no scenario looks for. Where a requirement that tells the same has failed, the invariant is
// left to it: one fault is one finding. A status of 500 or above belongs to the requirements about server errors and is
// not judged here.
package invariants

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// invariant judges the exchanges with one half: note reads each of them before check reads each again, and end comes
// last. Any of them may be nil.
type invariant struct {
	side  spec.Side
	note  func(s *seen)
	check func(t *tally, s *seen)
	end   func(t *tally)
	// coveredBy are the requirements that tell the same, with blanks between them: where one of them has failed, the
	// invariant adds nothing. A star stands for any rest.
	coveredBy string
	// shows, where it is not nil, tells whether what one of them has found is the violation: no other is left to it.
	shows    func(o Other, v outcome.Violation) bool
	advisory bool // it belongs to a SHOULD: a SHOULD that has failed says enough for it, and not for the others
	tally
}

// all are the invariants, by the sentence that asks for them.
func (r *Record) all() map[string]*invariant {
	const plane, agent = spec.ControlPlane, spec.AgentServer
	c := r.target.Config
	sent := newRevisions(c.Patience)
	follows := newFollow(sent)
	refused := &refusals{c.Agent.RejectedStatus, c.Agent.RejectedDetail, map[string]bool{}}
	listed := newLists(c.Patience)
	rollbacks := &rollback{posted: map[idAt]*posted{}}
	leaks := &isolation{users: map[string]*belongings{}, known: personsOf(r.target), leaks: map[int]string{}}
	rules := map[string]*invariant{
		`each answer of the control plane has the id of its request`: {
			side: plane, check: sameIDs, coveredBy: "CP-GET-1 CP-REV-1 CP-CREATE-* CP-UPDATE-* CP-POLL-*"},
		`each answer of the agent server has the id of its request`: {
			side: agent, check: sameIDs, coveredBy: "AS-RUN-* AS-ROLLBACK-*"},
		`no control-plane request without valid credentials was answered with 2xx`: {
			side: plane, check: closed, coveredBy: "CP-AUTH-*"},
		`no agent-server request without valid credentials was answered with 2xx`: {
			side: agent, check: closed, coveredBy: "AS-AUTH-*"},
		`each refusal of the authentication handler has its status and detail`: {
			side: agent, note: refused.note, check: refused.check, coveredBy: "AS-AUTH-*"},
		`each read of a revision shows what was sent for it`: {
			side: plane, note: sent.note, check: sent.asSent,
			coveredBy: "CP-CREATE-* CP-UPDATE-* CP-REV-* CP-POLL-* CP-LIST-*"},
		`each answer with a deployment shows the source_revision_config of the revision that it names as latest`: {
			side: plane, check: sent.asNamed, coveredBy: "CP-CREATE-* CP-UPDATE-* CP-GET-* CP-REV-* CP-POLL-*"},
		`each read of a revision shows the fields of the one before that its update did not name`: {
			side: plane, check: sent.asBefore, advisory: true, coveredBy: "CP-UPDATE-* CP-REV-* CP-POLL-* CP-LIST-*"},
		`no revision was seen with another status after it was DEPLOYED while none was later`: {
			side: plane, check: sent.staysDeployed, advisory: true,
			coveredBy: "CP-POLL-* CP-LIST-* CP-REV-* CP-UPDATE-* CP-CREATE-*"},
		`no deployment that this run has waited for stayed without reaching DEPLOYED`: r.effect(plane,
			"create-deployment", "", "CP-POLL-1", outcome.NotFinished, "A deployment does not reach DEPLOYED"),
		`each run that the suite waited for has completed`: r.effect(agent,
			"create-run", "", "AS-RUN-4", outcome.NotFinished, "A run does not end within its hold and timeouts.run"),
		`each read shows what was written before, once the configured patience is over`: {
			side: plane, note: follows.note, check: follows.check,
			coveredBy: "CP-CREATE-1 CP-GET-1 CP-REV-1 CP-UPDATE-1 CP-UPDATE-2 CP-UPDATE-3"},
		`each list of revisions holds at least those that were known before`: {
			side: plane, note: listed.note, check: listed.check, coveredBy: "CP-LIST-* CP-CREATE-* CP-UPDATE-* CP-GET-1"},
		`no refusal of the control plane holds a stack trace`: {side: plane, check: traceless, advisory: true},
		`no refusal of the agent server holds a stack trace`:  {side: agent, check: traceless, advisory: true},
		`no answer to one caller holds an id or a text of another user`: {
			side: agent, note: leaks.note, check: leaks.check, shows: leaks.isTold, coveredBy: "AS-AUTHZ-*"},
		`no answer after a rollback holds the id or the text of the prior run`: {
			side: agent, note: rollbacks.note, check: rollbacks.check, coveredBy: "AS-ROLLBACK-*"},
	}
	// Updates create a revision (section 2), those too that only bring about a precondition. The field may be a neutral
	// word that is configured wrongly.
	updates := map[string]string{"repo_ref": "CP-UPDATE-1", "graph_config_path": "CP-UPDATE-2", "image_uri": "CP-UPDATE-3"}
	for field, owner := range updates {
		rules[`no update of "`+field+`" in this run was served and created no revision`] = r.effect(plane, "update-deployment",
			sourceConfig+"."+field, owner, outcome.NoEffect, "An update of "+field+" is served and creates no revision", field)
	}
	valid := newRefused(r.target, sent)
	addRefusedRules(rules, valid, updates)
	addStateRules(rules, newStates(valid))
	return rules
}

// addStateRules adds the rules about states that never existed.
func addStateRules(rules map[string]*invariant, st *states) {
	rules[`no state lacks a completed run that it had shown before`] = &invariant{side: spec.AgentServer,
		note: st.note, check: st.checkThreadState, coveredBy: "AS-STATE-* AS-RUN-4 AS-ROLLBACK-* AS-CONTRACT-get-state"}
	rules[`no deployment names a revision of another deployment`] = &invariant{side: spec.ControlPlane,
		note: st.note, check: st.checkDeployment, coveredBy: "CP-CREATE-* CP-GET-1 CP-UPDATE-*"}
}

// addRefusedRules adds the rules that valid requests are served, one for each operation. updates are the requirements
// that own the updates of a source field.
func addRefusedRules(rules map[string]*invariant, valid *refused, updates map[string]string) {
	const plane, agent = spec.ControlPlane, spec.AgentServer
	for operation, owner := range map[string]string{
		"get-deployment": "CP-GET-1", "get-revision": "CP-REV-1", "list-revisions": "CP-LIST-1",
	} {
		rules[`every valid request to "`+operation+`" was served`] = &invariant{side: plane,
			check: valid.checks(operation, ""), coveredBy: owner}
	}
	for operation, owner := range map[string]string{
		"create-thread": "AS-THREAD-1", "list-threads": "AS-THREAD-2", "create-run": "AS-RUN-1", "get-run": "AS-RUN-2",
		"join-run": "AS-RUN-5", "get-state": "AS-STATE-1",
	} {
		rules[`every valid request to "`+operation+`" was served`] = &invariant{side: agent,
			check: valid.checks(operation, ""), coveredBy: owner}
	}
	for field, owner := range updates {
		rules[`every valid update of "`+field+`" was served`] = &invariant{side: plane,
			check: valid.checks("update-deployment", field), coveredBy: owner}
	}
	// One rule of each side notes the exchanges for the others.
	rules[`every valid request to "get-deployment" was served`].note = valid.note
	rules[`every valid request to "get-run" was served`].note = valid.note
}

// Record is what a run has recorded, judged once for all invariants.
type Record struct {
	target *target.Target
	others func() []Other
	rules  map[string]*invariant // by the sentence that asks for them
	judge  func()
}

// Other is what a scenario that sends requests has come to.
type Other struct {
	Requirement *features.Requirement
	Outcome     *outcome.Outcome
}

// NewRecord returns the record of a run. others tells what all scenarios that send requests have come to.
func NewRecord(t *target.Target, others func() []Other) *Record {
	r := &Record{target: t, others: others}
	r.rules, r.judge = r.all(), sync.OnceFunc(r.read)
	return r
}

// Define registers the sentences for one scenario.
func (r *Record) Define(d *common.Definitions) {
	d.When(`all exchanges of this run are read`, func() error { return nil })
	for sentence := range r.rules {
		d.Then(sentence, func() error {
			judged, err := r.outcome(sentence)
			if judged > 0 || err != nil {
				return err
			}
			return outcome.Inconclusive(noEvidence)
		})
	}
}

const noEvidence = "no answer in this run could have shown a violation"

// read has all invariants read the record.
func (r *Record) read() {
	observations := r.target.Collector.Observations()
	for _, checks := range []bool{false, true} {
		for _, o := range observations {
			s := &seen{Observation: o, request: valueOf(o.Request), answer: valueOf(o.Answer)}
			for _, rule := range r.rules {
				switch {
				case rule.side != o.Side:
				case !checks && rule.note != nil:
					rule.note(s)
				case checks && rule.check != nil && s.HasAnswer() && s.Status < http.StatusInternalServerError:
					rule.check(&rule.tally, s)
				}
			}
		}
	}
	for _, rule := range r.rules {
		if rule.end != nil {
			rule.end(&rule.tally)
		}
	}
}

// outcome is the verdict of the invariant with the sentence. A violation that another requirement shows at the same
// place of the same exchange is left to it, and so are all where a requirement has failed that tells the same and binds
// as much. A leak between users is left to nothing else than a requirement that shows a leak by the same operation.
// Where no answer could have shown a violation, what has failed or is blocked among these blocks the invariant.
func (r *Record) outcome(sentence string) (judged int, verdict error) {
	r.judge()
	rule := r.rules[sentence]
	judged, found := rule.judged, rule.found
	if len(found) == 0 && judged > 0 {
		return judged, nil
	}
	var owners []string
	for _, o := range r.others() {
		id := o.Requirement.ID
		tellsTheSame := reports.Among(strings.Fields(rule.coveredBy), id)
		switch {
		case o.Outcome.Verdict == reports.Blocked && judged == 0 && tellsTheSame:
			return 0, &outcome.Outcome{
				Verdict: reports.Blocked, Reason: o.Outcome.Reason, BlockedBy: o.Outcome.BlockedBy,
			}
		case o.Outcome.Verdict != reports.Failed, o.Requirement.Level != reports.Must && !rule.advisory:
		case tellsTheSame && rule.shows == nil:
			owners, found = append(owners, id), nil
		default:
			shows := o.shows
			if rule.shows != nil {
				shows = func(v outcome.Violation) bool { return tellsTheSame && rule.shows(o, v) }
			}
			left := slices.DeleteFunc(slices.Clone(found), shows)
			if len(left) < len(found) {
				owners, found = append(owners, id), left
			}
		}
	}
	if len(found) > 0 {
		return judged, outcome.All(found)
	}
	if len(owners) == 0 {
		return judged, nil
	}
	owners = slices.Compact(slices.Sorted(slices.Values(owners)))
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

// tally counts what an invariant has judged, and keeps one violation of each kind and operation: the first that was
// seen.
type tally struct {
	judged int
	found  []outcome.Violation
}

func (t *tally) violated(s *seen, kind outcome.Kind, pointer, summary, expected, actual string) *outcome.Violation {
	for i := range t.found {
		v := &t.found[i]
		if v.Operation == s.Op.ID && v.Kind == kind && v.Pointer == pointer {
			v.Count++
			return v
		}
	}
	t.found = append(t.found, outcome.Violation{Kind: kind, Summary: summary, Expected: expected, Actual: actual,
		Operation: s.Op.ID, Pointer: pointer, Exchange: s.ID, Count: 1})
	return &t.found[len(t.found)-1]
}

// seen is one exchange as the invariants read it.
type seen struct {
	evidence.Observation
	request gjson.Result // nothing where the body is not JSON
	answer  gjson.Result // the same
}

// valueOf is a body where it is JSON within the bounds; one that was cut is none.
func valueOf(body string) gjson.Result {
	if !exchange.IsJSON([]byte(body)) {
		return gjson.Result{}
	}
	return gjson.Parse(body)
}

// ok tells whether the request was served.
func (s *seen) ok() bool { return s.Status/100 == 2 }

// ofInterface tells whether the request is for an operation of the interface.
func (s *seen) ofInterface() bool { return s.Op.ID != "" && !s.Op.Field }

// isUser tells whether a user of the configuration sent the request.
func (s *seen) isUser() bool { return strings.HasPrefix(s.Caller.Name, "users.") }

// effect finds the requests that were served and had no effect, of those to an operation that have a string at a path
// of their body, where one is given: by those who have waited for the effect and are blocked by its owner.
func (r *Record) effect(
	side spec.Side, operation, path, owner string, kind outcome.Kind, summary string, words ...string,
) *invariant {
	count := 0
	note := func(s *seen) {
		if s.Op.ID == operation && s.ok() && !s.Wrong && (path == "" || s.request.Get(path).Type == gjson.String) {
			count++
		}
	}
	end := func(t *tally) {
		t.judged = count
		for _, o := range r.others() {
			if !slices.Contains(o.Outcome.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: owner}) {
				continue
			}
			for _, v := range o.Outcome.Violations {
				if !slices.ContainsFunc(t.found, func(f outcome.Violation) bool { return f.Exchange == v.Exchange }) {
					v.Kind, v.Class = kind, ""
					v.Summary, v.Words = summary, words
					t.found = append(t.found, v)
				}
			}
		}
	}
	return &invariant{side: side, note: note, end: end, coveredBy: owner}
}
