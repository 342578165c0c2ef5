package invariants

import (
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
)

// unchanged holds the fields that an update does not name to those of the revision before (section 2).
type unchanged struct {
	*revisions
	tally
}

func (r *unchanged) note(*seen) {} // sources does

// check compares each read of a revision that an update has created with the revision before.
func (r *unchanged) check(s *seen) {
	if !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		u, before := r.creation(id)
		of := revision.Get(sourceConfig)
		if u == nil || before == "" || !of.IsObject() {
			continue
		}
		for _, field := range fieldsSet {
			got, is := readOf(of.Get(field), s.ID)
			earlier := r.firstValue(before, field)
			if !is || u.fields[field] != "" || earlier == nil {
				continue
			}
			r.judged++
			if got.null || !sameValue(field, earlier.value, got.value) {
				r.violated(s, pointerTo(s, field), "a revision shows another "+field+" than the one before, although the update did not name it", shownValue(*earlier), shownValue(got))
			}
		}
	}
}

// creation returns the update that has created a revision, and the revision that the deployment named before; nothing where either is
// not certain.
func (r *revisions) creation(revision string) (made *update, before string) {
	at := slices.IndexFunc(r.created, func(u *update) bool { return u.revision == revision && u.update })
	if at < 0 || !r.sure(r.created[at]) {
		return nil, ""
	}
	made = r.created[at]
	var last *update
	for _, u := range r.created {
		if u.deployment == made.deployment && !u.ended.After(made.sent) && (last == nil || u.ended.After(last.ended)) {
			last = u
		}
	}
	if last == nil || r.changedBetween(made.deployment, last.ended, made.sent) {
		return nil, ""
	}
	return made, last.revision
}

// changedBetween tells whether an update that may have created a revision was under way in between.
func (r *revisions) changedBetween(deployment string, from, to time.Time) bool {
	return slices.ContainsFunc(r.updates[deployment], func(u *update) bool {
		return u.sent.Before(to) && (u.ended.IsZero() || u.ended.After(from))
	})
}

// stays holds revisions to DEPLOYED while none is later (section 3).
type stays struct {
	*revisions
	patience time.Duration        // for which a read may show what was before
	deployed map[string]time.Time // by revision: when an answer first showed it
	tally
}

func (r *stays) note(s *seen) {
	if s.Side != spec.ControlPlane || !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		if at, known := r.deployed[id]; isDeployed(revision.Get("status").Str) && (!known || s.Ended.Before(at)) {
			r.deployed[id] = s.Ended
		}
	}
}

// check looks at reads that were sent after the revision was seen DEPLOYED, and answered before any later update was sent.
func (r *stays) check(s *seen) {
	if !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		at, known := r.deployed[id]
		status := revision.Get("status").Str
		if !known || !slices.Contains(spec.RevisionStatuses(), strings.ToUpper(status)) || !s.Sent.After(at) || !r.isLatest(id, s.Ended) {
			continue
		}
		if !isDeployed(status) && !s.Sent.After(at.Add(r.patience)) { // it may show what was before
			continue
		}
		r.judged++
		if !isDeployed(status) && !strings.EqualFold(status, "UNKNOWN") { // which says that the server cannot tell, not that it is another
			r.violated(s, statusIn(s), "a revision that was DEPLOYED shows another status, and none is later", "DEPLOYED", status)
		}
	}
}

// isDeployed tells whether a status is DEPLOYED, in whichever case: how it is written is for CP-POLL-1 to judge.
func isDeployed(status string) bool { return strings.EqualFold(status, "DEPLOYED") }

func statusIn(s *seen) string {
	if s.Op.ID == "list-revisions" {
		return "/resources/*/status"
	}
	return "/status"
}

// isLatest tells whether a revision of this run was certainly the latest of its deployment until then.
func (r *revisions) isLatest(revision string, until time.Time) bool {
	i := slices.IndexFunc(r.created, func(u *update) bool { return u.revision == revision })
	return i >= 0 && !r.changedBetween(r.created[i].deployment, r.created[i].ended, until)
}
