package invariants

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// refused finds valid requests that were refused with a 4xx status: see isValid and isExcused.
type refused struct {
	*runs                // of the same record
	revisions *revisions // of the same record

	served   map[string]span      // when a request was served, by requestKey
	created  map[string]time.Time // time at which a thread, run, deployment or revision was first named, by objectKey and id
	changed  map[string]time.Time // time at which the effect of a request on a thread or deployment was first unknown, by objectKey
	accepted map[string]time.Time // when an assistant, or a value of a source field, was first accepted
	owners   map[string]string    // the caller who created a thread or deployment, by objectKey
	posts    map[string][]*seen   // requests for runs, whether accepted or not, by objectKey

	plain, rollback requests // for runs
}

// requests are the valid requests of one kind.
type requests struct {
	served  int
	refused []refusal
}

// refusal is a valid request that was refused, and the reason why the server must serve it.
type refusal struct {
	*seen
	reason
}

// reason is the reason why the server must serve a request.
type reason struct {
	when string // the end of a title: "returns 409 while a run is in progress"
	why  string // a sentence; empty if there is no reason
}

func (r *requests) judged() int { return r.served + len(r.refused) }

// violation returns the violation of all refusals. There must be at least one.
func (r *requests) violation() outcome.Violation {
	first := r.refused[0]
	v := outcome.Violation{Kind: outcome.Refused, Operation: first.Op.ID, Expected: "2xx, since " + first.why,
		Check:  outcome.Statuses("2XX"),
		Actual: strconv.Itoa(first.Status), Exchange: first.ID, Count: len(r.refused)}
	statuses := []string{strconv.Itoa(first.Status)}
	for _, other := range r.refused[1:] {
		v.Repeats = append(v.Repeats, other.ID)
		if status := strconv.Itoa(other.Status); !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	v.Summary = fmt.Sprintf("%s returns %s %s", first.Op.Request(), strings.Join(statuses, " or "), first.when)
	if len(statuses) > 1 || len(r.refused) > 1 {
		v.Actual = fmt.Sprintf("%s in %d of %s", strings.Join(statuses, " or "), len(r.refused), reports.Count(r.judged(), "such request"))
	}
	return v
}

func newRefused(g *runs, r *revisions) *refused {
	return &refused{runs: g, revisions: r, served: map[string]span{}, created: map[string]time.Time{},
		changed: map[string]time.Time{}, accepted: map[string]time.Time{}, owners: map[string]string{}, posts: map[string][]*seen{}}
}

// span has the end of the first response, and the beginning of the last request.
type span struct{ first, last time.Time }

// objectKey identifies the thread or deployment of a request. The request may be a vendor extension.
func objectKey(s *seen) string {
	id := s.In("thread_id") + s.In("deployment_id")
	if s.Op.ID != "" {
		return s.Base + " " + id
	}
	below, isThread := strings.CutPrefix(s.Path, "/threads/")
	if !isThread {
		below, _ = strings.CutPrefix(s.Path, "/v2/deployments/")
	}
	if len(below) < len(s.Path) {
		id, _, _ = strings.Cut(below, "/")
	}
	return s.Base + " " + id
}

// requestKey identifies a request by its caller and content. If not all of the content was recorded, the key is unique.
func requestKey(s *seen) string {
	if s.Request != "" && !s.request.Exists() {
		return strconv.Itoa(s.ID)
	}
	return strings.Join([]string{s.Caller.Name, s.Method, s.Base, s.Path, s.Query, s.Request}, " ")
}

// fieldKey identifies a source field with a value.
func fieldKey(field string, value gjson.Result) string { return field + " = " + value.Raw }

func (r *refused) note(s *seen) {
	// The effect is unknown for a vendor extension that was served, a write that was sent twice, and a write without a
	// response.
	isBeyond := s.Op.Field || s.Op.ID == "" && r.target.Recorded
	isUnknown := isBeyond && s.Status/100 != 4 || s.RepeatedWrite || !s.HasAnswer() || s.Status >= http.StatusInternalServerError
	if s.Method == http.MethodDelete || s.Method != http.MethodGet && isUnknown {
		keepEarliest(r.changed, objectKey(s), s.Sent)
	}
	if s.Op.ID == "create-run" {
		r.posts[objectKey(s)] = append(r.posts[objectKey(s)], s)
	}
	if !s.ok() {
		return
	}
	r.noteServed(s)
	switch s.Op.ID {
	case "create-thread":
		r.noteCreated(s, s.Base+" "+s.response.Get("thread_id").String())
	case "create-run":
		keepEarliest(r.created, objectKey(s)+s.response.Get("run_id").String(), s.Ended)
		keepEarliest(r.accepted, s.request.Get("assistant_id").Str, s.Ended)
	case "create-deployment", "update-deployment":
		key := objectKey(s)
		if s.Op.ID == "create-deployment" {
			key = s.Base + " " + s.response.Get("id").Str
			r.noteCreated(s, key)
		}
		keepEarliest(r.created, key+exchange.IDKey(s.response.Get("latest_revision_id").Str), s.Ended)
		for field, value := range s.request.Get(sourceConfig).Map() {
			keepEarliest(r.accepted, fieldKey(field, value), s.Ended)
		}
	}
}

// noteServed notes that a request was served. It ignores requests for runs and updates: they are not repeated, and
// isValid uses other reasons for them.
func (r *refused) noteServed(s *seen) {
	if s.Op.ID == "create-run" || s.Op.ID == "update-deployment" {
		return
	}
	key := requestKey(s)
	at := r.served[key]
	keepEarlier(&at.first, s.Ended)
	if s.Sent.After(at.last) {
		at.last = s.Sent
	}
	r.served[key] = at
}

func (r *refused) noteCreated(s *seen, key string) {
	r.owners[key] = s.Caller.Name
	keepEarliest(r.created, key, s.Ended)
}

// rule returns the rule that valid requests of one kind are served.
func (r *refused) rule(side spec.Side, owner string, isKind func(s *seen) bool) *invariant {
	var all requests
	return &invariant{side: side, coveredBy: owner,
		check: func(_ *tally, s *seen) {
			if isKind(s) {
				r.judge(&all, s)
			}
		},
		end: func(t *tally) { t.judgeRefusals(all) },
	}
}

// runRules returns the rules for all runs and for runs with rollback. The failure of a scenario covers their violations
// only if it shows all refusals.
func (r *refused) runRules() (all, rollback *invariant) {
	check := func(_ *tally, s *seen) {
		switch {
		case s.Op.ID != "create-run":
		case isRollback(s):
			r.judge(&r.rollback, s)
		default:
			r.judge(&r.plain, s)
		}
	}
	all = &invariant{side: spec.AgentServer, coveredBy: "AS-RUN-1", shows: Other.showsAll, check: check,
		end: func(t *tally) { t.judgeRefusals(r.allRuns()) }}
	rollback = &invariant{side: spec.AgentServer, coveredBy: "AS-ROLLBACK-1", shows: Other.showsAll,
		end: func(t *tally) { t.judgeRefusals(r.rollback) }}
	return all, rollback
}

// allRuns returns the requests for runs of both kinds. It omits refused runs with rollback, except those with the status
// of a refused plain run.
func (r *refused) allRuns() requests {
	all := requests{served: r.plain.served + r.rollback.served, refused: slices.Clone(r.plain.refused)}
	for _, x := range r.rollback.refused {
		isSame := func(plain refusal) bool { return plain.Status == x.Status }
		if slices.ContainsFunc(r.plain.refused, isSame) {
			all.refused = append(all.refused, x)
		}
	}
	return all
}

func (t *tally) judgeRefusals(all requests) {
	t.judged = all.judged()
	if len(all.refused) > 0 {
		t.found = append(t.found, all.violation())
	}
}

// judge adds a request to those of its kind if it is valid.
func (r *refused) judge(all *requests, s *seen) {
	switch {
	case s.Wrong || !s.IsKind(evidence.Kept):
	case s.ok():
		all.served++
	// Refused credentials are judged by the requirements about authentication.
	case s.Status/100 == 4 && !r.target.Rejects(s.Side, s.Status) && !r.isExcused(s):
		if must := r.isValid(s); must.why != "" {
			all.refused = append(all.refused, refusal{s, must})
		}
	}
}

// isValid returns the reason why the server must serve a request unless it is excused.
func (r *refused) isValid(s *seen) (none reason) {
	key := objectKey(s)
	owner, hasOwner := r.owners[key]
	switch s.Op.ID {
	case "create-run":
		assistant := s.request.Get("assistant_id").Str
		isAccepted := r.wasAccepted(assistant, s) || r.isAcceptedLater(s)
		switch {
		case owner != s.Caller.Name || !r.isOrdinary(s) || !isAccepted:
			return none
		case isRollback(s):
			return reason{"to a run with rollback", "no other run was sent at the same time"}
		}
		return reason{"without a run in progress", "no run is in progress on the thread"}
	case "update-deployment":
		fields := s.request.Get(sourceConfig).Map()
		if owner != s.Caller.Name || len(fields) == 0 || len(s.request.Map()) > 1 {
			return none
		}
		for field, value := range fields {
			isTag := strings.HasPrefix(value.Str, "refs/tags/") // build_on_push may forbid it
			if isTag || !r.wasAccepted(fieldKey(field, value), s) {
				return none
			}
		}
		return reason{"for values that were accepted before",
			"all revisions have settled, and these values were accepted before"}
	}
	served, wasServed := r.served[requestKey(s)]
	isOfOther := hasOwner && owner != s.Caller.Name // it was served with headers that are not recorded
	if isOfOther || !wasServed || !served.first.Before(s.Sent) {
		return none
	}
	// Within patience after the creation, a read may not find the object, even if another read has found it.
	created, isOurs := r.created[key+s.In("run_id")+exchange.IDKey(s.In("revision_id"))]
	if isOurs && !created.Add(r.revisions.patience).Before(s.Sent) {
		return none
	}
	return reason{"to a request that was served before", "the same request was served before"}
}

// wasAccepted reports whether a value was accepted before a request was sent.
func (r *refused) wasAccepted(value string, s *seen) bool {
	at, isKnown := r.accepted[value]
	return isKnown && at.Before(s.Sent)
}

// isAcceptedLater reports whether the thread accepted a later run of the same assistant. In a recording, the assistant
// may have been deployed between the two.
func (r *refused) isAcceptedLater(s *seen) bool {
	return !r.target.Recorded && slices.ContainsFunc(r.posts[objectKey(s)], func(later *seen) bool {
		isSame := later.request.Get("assistant_id").Str == s.request.Get("assistant_id").Str
		return later.ok() && isSame && !later.Sent.Before(s.Ended)
	})
}

// isOrdinary reports whether the request for a run has only an assistant, an input with plain texts, and optionally the
// strategy rollback. A server may refuse other texts, and the interface defines no other members and strategies.
func (r *refused) isOrdinary(s *seen) bool {
	for name := range s.request.Map() {
		isKnown := slices.Contains([]string{"assistant_id", "input"}, name) || name == "multitask_strategy" && isRollback(s)
		if !isKnown {
			return false
		}
	}
	messages := s.request.Get("input.messages").Array()
	for _, m := range messages {
		if !plainText.MatchString(m.Get("content").Str) {
			return false
		}
	}
	return s.request.Get("assistant_id").Str != "" && len(messages) > 0 && len(messages) < 10
}

// isExcused reports whether the server may refuse a valid request at that time: something is in progress on its thread or
// deployment, or another request for it had an unknown effect. A run with rollback may be refused only while another
// request for a run of the thread is in progress.
func (r *refused) isExcused(s *seen) bool {
	if isAfter(r.changed, objectKey(s), s) {
		return true
	}
	// Another client may have removed the object, unless it can be read again later.
	isGone := s.Status == http.StatusNotFound || s.Status == http.StatusGone
	if r.target.Recorded && isGone && !r.served[requestKey(s)].last.After(s.Ended) {
		return true
	}
	if isRollback(s) {
		return slices.ContainsFunc(r.posts[objectKey(s)], func(other *seen) bool {
			return other.ID != s.ID && other.Sent.Before(s.Ended) && other.Ended.After(s.Sent)
		})
	}
	switch s.Op.ID {
	case "create-run", "get-state":
		return slices.ContainsFunc(r.byThread[objectKey(s)], func(g *threadRun) bool {
			ended := r.endOf(g)
			return g.sent.Before(s.Ended) && (ended.IsZero() || ended.Add(r.revisions.patience).After(s.Sent))
		})
	case "get-run", "join-run":
		return r.mayBeReplaced(s)
	case "update-deployment":
		return !r.hasSettled(s)
	case "get-deployment", "get-revision", "list-revisions": // an update may have created the object of the read
		return slices.ContainsFunc(r.revisions.updates[s.In("deployment_id")], func(u *write) bool {
			return u.isUnderWay(s.Sent.Add(-r.revisions.patience), s.Ended)
		})
	}
	return false
}
