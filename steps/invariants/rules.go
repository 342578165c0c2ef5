package invariants

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// invariant judges the exchanges with one half. Each of its functions may be nil.
type invariant struct {
	side  spec.Side
	note  func(s *seen)           // reads each exchange
	check func(t *tally, s *seen) // judges each exchange, after note has read all of them
	end   func(t *tally)          // judges the whole record, at the end
	// coveredBy has the requirements that fail for the same mistake, separated by blanks. "CP-LIST-*" is a family. If one
	// of them has failed, the invariant reports nothing.
	coveredBy string
	// shows, if not nil, reports whether the failure of a requirement in coveredBy shows the violation. Violations that it
	// does not show are reported in spite of the failure.
	shows func(o Other, v outcome.Violation) bool
	// advisory means that the invariant belongs to a SHOULD, so that the failure of a SHOULD can cover it.
	advisory bool
	tally
}

// always is for invariants that are covered by every failure of a requirement in coveredBy.
func always(Other, outcome.Violation) bool { return true }

// isCoveredBy reports whether a requirement fails for the same mistake as the invariant.
func (i *invariant) isCoveredBy(id string) bool {
	return reports.Among(strings.Fields(i.coveredBy), id)
}

// shownBy returns the requirements whose scenarios could show a violation: those that cover the invariant, or all of its
// half if there are none.
func (i *invariant) shownBy() []string {
	if i.coveredBy != "" {
		return strings.Fields(i.coveredBy)
	}
	return common.AllOf(i.side)
}

// isShownBy reports whether a failed requirement also shows the violation.
func (i *invariant) isShownBy(o Other, v outcome.Violation) bool {
	if i.shows == nil {
		return o.shows(v)
	}
	return i.isCoveredBy(o.Requirement.ID) && i.shows(o, v)
}

// newRules returns the invariants by their steps in the features.
func (r *Record) newRules() map[string]*invariant {
	const plane, agent = spec.ControlPlane, spec.AgentServer
	c := r.target.Config
	sent := newRevisions(c.Patience)
	sent.recorded = r.target.Recorded
	follows := newFollow(sent)
	handler := &refusals{c.Agent.RejectedStatus, c.Agent.RejectedDetail, map[string]bool{}}
	listed := newLists(sent)
	accepted := newRuns(r.target)
	rollbacks := newRollback(accepted)
	users := newLetIn()
	leaks := newIsolation(r.target)
	threads := &newThreads{created: map[string]bool{}}
	rules := map[string]*invariant{
		`each response of the control plane has the id of its request`: {
			side: plane, check: sameIDs, coveredBy: "CP-GET-1 CP-REV-1 CP-CREATE-* CP-UPDATE-* CP-POLL-*"},
		`each response of the agent server has the id of its request`: {
			side: agent, check: sameIDs, coveredBy: "AS-RUN-* AS-ROLLBACK-*"},
		`no control-plane request without valid credentials returned 2xx`: {
			side: plane, check: closed, coveredBy: "CP-AUTH-*"},
		`no agent-server request without valid credentials returned 2xx`: {
			side: agent, check: closed, coveredBy: "AS-AUTH-*"},
		`no new thread has the thread_id of another thread`: {side: agent, check: threads.check, shows: always,
			coveredBy: "AS-THREAD-1"},
		`each refusal of the authentication handler has its status and detail`: {
			side: agent, note: handler.note, check: handler.check, coveredBy: "AS-AUTH-*"},
		`no user was refused with 401 between two requests that were served`: {
			side: agent, note: users.note, check: users.check, shows: always, coveredBy: "AS-AUTH-5"},
		`each read of a revision shows what was sent for it`: {
			side: plane, note: sent.note, check: sent.asSent,
			coveredBy: "CP-CREATE-* CP-UPDATE-* CP-REV-* CP-POLL-* CP-LIST-*"},
		`each response with a deployment shows the source_revision_config of the revision that it names as latest`: {
			side: plane, check: sent.asNamed, coveredBy: "CP-CREATE-* CP-UPDATE-* CP-GET-* CP-REV-* CP-POLL-*"},
		`each read of a revision shows the earlier values of the fields that its update did not name`: {
			side: plane, check: sent.asBefore, advisory: true, coveredBy: "CP-UPDATE-* CP-REV-* CP-POLL-* CP-LIST-*"},
		`each revision that was DEPLOYED stays DEPLOYED until a later one exists`: {
			side: plane, check: sent.staysDeployed, advisory: true,
			coveredBy: "CP-POLL-* CP-LIST-* CP-REV-* CP-UPDATE-* CP-CREATE-*"},
		`every deployment that the test run waited for reached DEPLOYED`: r.ruleOf(effect{
			side: plane, operation: "create-deployment", owner: "CP-POLL-1", kind: outcome.NotFinished,
			summary: "A deployment does not reach DEPLOYED"}),
		`each run that the suite waited for has completed`: r.ruleOf(effect{
			side: agent, operation: "create-run", owner: "AS-RUN-4", kind: outcome.NotFinished,
			summary: "A run does not end in time"}),
		`each read shows what was written before, once the configured patience is over`: {
			side: plane, note: follows.note, check: follows.check, end: follows.end,
			coveredBy: "CP-CREATE-1 CP-GET-1 CP-REV-1 CP-UPDATE-1 CP-UPDATE-2 CP-UPDATE-3"},
		`no read of a revision shows an updated_at that is before its created_at`: {
			side: plane, check: checkTimes, coveredBy: "CP-REV-4"},
		`each list of revisions holds at least those that were known before`: {
			side: plane, note: listed.note, check: listed.check, coveredBy: "CP-LIST-* CP-CREATE-* CP-UPDATE-* CP-GET-1"},
		`each revision that was known before is in a list of its deployment`: {
			side: plane, check: listed.checkListed, shows: always, coveredBy: "CP-CREATE-* CP-UPDATE-* CP-GET-1 CP-REV-*"},
		`no list has a revision twice`: {side: plane, check: listed.checkTwice, coveredBy: "CP-LIST-*"},
		`no deployment has more revisions than requests that may have created one`: {side: plane, check: listed.checkSurplus,
			shows: always, coveredBy: "CP-AUTH-* CP-CREATE-* CP-UPDATE-* CP-LIST-* CP-GET-1 CP-REV-*"},
		`no refusal of the control plane contains a stack trace`: {side: plane, check: traceless, advisory: true},
		`no refusal of the agent server contains a stack trace`:  {side: agent, check: traceless, advisory: true},
		`no response to one caller contains an id or a text of another user`: {
			side: agent, note: leaks.note, check: leaks.check, shows: leaks.isShownBy, coveredBy: "AS-AUTHZ-*"},
		`no response after a rollback contains the id or the text of the prior run`: {
			side: agent, note: accepted.note, check: rollbacks.check, coveredBy: "AS-ROLLBACK-*"},
	}
	// Updates create a revision (section 2), including updates that only prepare a precondition. A failure may be due to a
	// wrong name for the field in vocabulary.
	updates := map[string]string{"repo_ref": "CP-UPDATE-1", "graph_config_path": "CP-UPDATE-2", "image_uri": "CP-UPDATE-3"}
	for field, owner := range updates {
		rules[`every update of "`+field+`" that returned 2xx in the test run created a revision`] = r.ruleOf(effect{
			side: plane, operation: "update-deployment", path: sourceConfig + "." + field, owner: owner,
			kind: outcome.NoEffect, summary: "An update of " + field + " is served and creates no revision", word: field})
	}
	ofPlane, ofAgent := newRefused(accepted, sent), newRefused(accepted, sent)
	addRefusedByPlane(rules, ofPlane, updates)
	addRefusedByAgent(rules, ofAgent)
	addStateRules(rules, newStates(ofAgent), newDeployments(c.Patience))
	pushed := newPushes(c.Patience)
	pushed.recorded = r.target.Recorded
	addPushRules(rules, pushed)
	values := newReadOnly(sent)
	rules[`no read-only value of a request is shown by a revision of its deployment`] = &invariant{side: plane,
		note: values.note, check: values.check}
	return rules
}

// addStateRules adds the rules about states that never existed.
func addStateRules(rules map[string]*invariant, st *states, d *deployments) {
	const plane, agent = spec.ControlPlane, spec.AgentServer
	rules[`no state lacks a completed run that it had shown before, and all later runs`] = &invariant{side: agent,
		check: st.checkThreadState, coveredBy: "AS-STATE-* AS-RUN-4 AS-ROLLBACK-* AS-CONTRACT-get-state"}
	rules[`no deployment names a revision of another deployment, or one that it never had`] = &invariant{side: plane,
		note: d.note, check: d.checkLatest, coveredBy: "CP-CREATE-* CP-GET-1 CP-UPDATE-* CP-LIST-*"}
	rules[`each deployment has only its first revision until its first update`] = &invariant{side: plane,
		check: d.checkOnlyRevision, coveredBy: "CP-CREATE-2 CP-LIST-* CP-UPDATE-*"}
	rules[`all GETs of a deployment and its revisions show the same source`] = &invariant{side: plane,
		check: d.checkSource, coveredBy: "CP-CREATE-* CP-GET-1 CP-REV-* CP-UPDATE-5"}
}

// addPushRules adds the rules about build_on_push.
func addPushRules(rules map[string]*invariant, p *pushes) {
	rules[`no deployment has build_on_push true with a tag`] = &invariant{side: spec.ControlPlane,
		note: p.note, check: p.checkTag, coveredBy: "CP-CREATE-5"}
	rules[`each deployment shows the build_on_push that was set last`] = &invariant{side: spec.ControlPlane,
		check: p.checkSet, advisory: true, coveredBy: "CP-CREATE-5 CP-UPDATE-8 CP-UPDATE-12"}
}

// addRefusedByPlane adds the rules that the control plane serves valid requests, one for each operation. updates names the
// requirement about updates of each source field.
func addRefusedByPlane(rules map[string]*invariant, valid *refused, updates map[string]string) {
	const plane = spec.ControlPlane
	for operation, owner := range map[string]string{
		"get-deployment": "CP-GET-1", "get-revision": "CP-REV-1", "list-revisions": "CP-LIST-1",
	} {
		rules[served(operation)] = valid.rule(plane, owner, func(s *seen) bool { return s.Op.ID == operation })
	}
	for field, owner := range updates {
		rules[`every valid update of "`+field+`" returned 2xx`] = valid.rule(plane, owner, func(s *seen) bool {
			return s.Op.ID == "update-deployment" && s.request.Get(sourceConfig+"."+field).Type == gjson.String
		})
	}
	rules[served("get-deployment")].note = valid.note // for all rules of the half
}

// addRefusedByAgent adds the rules that the agent server serves valid requests, one for each operation.
func addRefusedByAgent(rules map[string]*invariant, valid *refused) {
	const agent = spec.AgentServer
	for operation, owner := range map[string]string{
		"create-thread": "AS-THREAD-1", "get-run": "AS-RUN-2", "join-run": "AS-RUN-5", "get-state": "AS-STATE-1",
	} {
		rules[served(operation)] = valid.rule(agent, owner, func(s *seen) bool { return s.Op.ID == operation })
	}
	rules[served("list-threads")] = valid.rule(agent, "AS-THREAD-2", func(s *seen) bool {
		return s.Op.ID == "list-threads" || s.Op.ID == "search-threads"
	})
	rules[served("create-run")], rules[`every valid run with rollback returned 2xx`] = valid.runRules()
	rules[`every valid request to "get-state" during a run returned 2xx`] = valid.duringRunRule()
	rules[`no join returned before the end of its run`] = valid.joinRule()
	rules[served("get-run")].note = valid.note // for all rules of the half
}

// served returns the step about valid requests of an operation.
func served(operation string) string {
	return `every valid request to "` + operation + `" returned 2xx`
}
