package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// compared notes whether an answer shows of a field what it should. The summary has a place for the name of the field.
func (t *tally) compared(s *seen, got read, same bool, summary, expected string) {
	t.judged++
	if !same {
		t.violated(s, outcome.WrongValue, placeIn(s, sourceConfig+"/"+got.field), fmt.Sprintf(summary, got.field), expected, got.String())
	}
}

// asSent holds what reads of a revision show to what the request sent that created it (section 2). It compares them
// with the request, where that is known, else with each other: what was not sent may become known only when the
// revision is built, so that reads before are left out.
func (r *revisions) asSent(t *tally, s *seen) {
	if !s.ok() {
		return
	}
	for _, got := range readsIn(s) {
		if got.field == commit && !aCommit.MatchString(got.value) {
			continue
		}
		sent, first := r.sentFor(got.revision, got.field), r.firstValue(got.revision, got.field)
		switch {
		case sent != "":
			t.compared(s, got, got.value != "" && SameValue(got.field, sent, got.value),
				"A revision shows another %s than the request that created it", fmt.Sprintf("%q", sent))
		case first != nil && got.value != "" && got.settled && first.exchange != s.ID:
			t.compared(s, got, sameEither(got.field, first.value, got.value),
				"GETs of a revision show different values of %s", first.String())
		}
	}
}

// firstValue is the first value that was shown of a revision and is not to change: what was sent, or with a final
// status; nil where none was.
func (r *revisions) firstValue(id, field string) *read {
	values, sent := r.of(id).shown[field], r.sentFor(id, field) != ""
	known := func(v read) bool {
		return (sent || v.settled) && v.value != "" && (field != commit || aCommit.MatchString(v.value))
	}
	if i := slices.IndexFunc(values, known); i >= 0 {
		return &values[i]
	}
	return nil
}

// placeIn is the place of something of a revision: in a list it is that of any revision.
func placeIn(s *seen, path string) string {
	if s.Op.ID == "list-revisions" {
		return "/resources/*/" + path
	}
	return "/" + path
}

// asNamed holds the source_revision_config of a deployment to the revision that it names as latest (section 2). It
// compares answers with a deployment with what reads of the revision have shown. A field that was not sent, such as the
// commit id, may show nothing or something in its place until the revision is built: until then it is only not to show
// the value of another revision. What the answer to a POST or PATCH shows is its own matter, but it is not to be wrong.
func (r *revisions) asNamed(t *tally, s *seen) {
	wrote := s.Op.ID == "create-deployment" || s.Op.ID == "update-deployment"
	if s.Op.ID != "get-deployment" && !wrote || !s.ok() {
		return
	}
	latest := s.answer.Get("latest_revision_id").Str
	for _, got := range readsOf(latest, s.answer, s.ID) {
		field, sent := got.field, r.sentFor(got.revision, got.field) != ""
		own := slices.DeleteFunc(slices.Clone(r.of(latest).shown[field]), func(v read) bool { return v.value == "" })
		at := slices.IndexFunc(own, func(v read) bool { return sent || v.settled })
		if at < 0 || got.value == "" && (!sent || wrote) {
			continue
		}
		if !sent && !s.Sent.After(r.of(latest).settled) && !r.served[field+" "+got.value] {
			continue
		}
		isOwn := func(v read) bool { return sameEither(field, v.value, got.value) }
		t.compared(s, got, got.value != "" && slices.ContainsFunc(own, isOwn),
			"A deployment shows another %s than its latest revision", own[at].String())
	}
}

// asBefore holds the fields that an update does not name to those of the revision before (section 2).
func (r *revisions) asBefore(t *tally, s *seen) {
	if !s.ok() {
		return
	}
	for _, got := range readsIn(s) {
		u, before := r.creation(got.revision)
		if u == nil || before == "" || u.fields[got.field] != "" || got.field == commit {
			continue
		}
		if earlier := r.firstValue(before, got.field); earlier != nil {
			t.compared(s, got, got.value != "" && SameValue(got.field, earlier.value, got.value),
				"An update changes %s, which it does not name", earlier.String())
		}
	}
}

// creation returns the update that has created a revision, and the revision that the deployment named before; nothing
// where either is not certain.
func (r *revisions) creation(id string) (made *write, before string) {
	if made = r.of(id).by; !r.sure(made) || !made.patch {
		return nil, ""
	}
	var last *write
	for _, other := range r.byID {
		u := other.by
		isBefore := u != nil && u.deployment == made.deployment && !u.ended.After(made.sent)
		if isBefore && (last == nil || u.ended.After(last.ended)) {
			last = u
		}
	}
	if !r.sure(last) || r.changedBetween(made.deployment, last.ended, made.sent) {
		return nil, ""
	}
	return made, last.revision
}

// changedBetween tells whether an update that may have created a revision was under way in between.
func (r *revisions) changedBetween(deployment string, from, to time.Time) bool {
	return slices.ContainsFunc(r.updates[deployment], func(u *write) bool {
		return u.sent.Before(to) && (u.ended.IsZero() || u.ended.After(from))
	})
}

// staysDeployed holds revisions to DEPLOYED while none is later (section 3). It looks at reads that were sent after the
// revision was seen DEPLOYED, and answered before any later update was sent.
func (r *revisions) staysDeployed(t *tally, s *seen) {
	if !s.ok() {
		return
	}
	for id, revision := range shownIn(s) {
		at, by, status := r.of(id).deployed, r.of(id).by, revision.Get("status").Str
		isLatest := r.sure(by) && !r.changedBetween(by.deployment, by.ended, s.Ended)
		if at.IsZero() || !plane.IsKnown(strings.ToUpper(status)) || !s.Sent.After(at) || !isLatest {
			continue
		}
		if !plane.IsDeployed(status) && !s.Sent.After(at.Add(r.patience)) { // it may show what was before
			continue
		}
		t.judged++
		if !plane.IsDeployed(status) && !strings.EqualFold(status, "UNKNOWN") { // which says that the server cannot tell
			t.violated(s, outcome.Changed, placeIn(s, "status"), "The latest revision does not stay DEPLOYED",
				"DEPLOYED", status)
		}
	}
}
