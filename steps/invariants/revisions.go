package invariants

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// maxInTitle is the maximum length of a value in a title, in characters.
const maxInTitle = 14

// compare judges whether a response shows the wanted value of a field. The summary has places for the name of the field,
// the value and the wanted value. why is the end of the expected value: "as its request sent".
func (t *tally) compare(s *seen, got read, isSame bool, summary, want, why string) {
	t.judged++
	if !isSame {
		t.violated(s, outcome.WrongValue, pointerIn(s, sourceConfig+"/"+got.field),
			fmt.Sprintf(summary, got.field, safe.Ellipsis(got.String(), maxInTitle), safe.Ellipsis(want, maxInTitle)),
			fmt.Sprintf("%s %s, %s", got.field, want, why), got.String())
	}
}

// asSent judges that reads of a revision show the values of the request that created it (section 2). If it is uncertain
// which request did, it compares the reads with each other. The server may choose a value that was not sent when the
// revision is built, so reads before that are not compared.
func (r *revisions) asSent(t *tally, s *seen) {
	if !s.shows() {
		return
	}
	for _, got := range readsIn(s) {
		if got.field == commit && (!commitPattern.MatchString(got.value) || r.commits[got.value]) {
			continue
		}
		if sent := r.sentFor(got.revision, got.field); sent != "" {
			t.compare(s, got, got.value != "" && SameValue(got.field, sent, got.value),
				"A revision shows %s %s instead of %s", fmt.Sprintf("%q", sent), "as its request sent")
			continue
		}
		first := r.firstValue(got.revision, got.field)
		if first != nil && got.value != "" && got.settled && first.exchange != s.ID {
			t.compare(s, got, sameEither(got.field, first.value, got.value),
				"The %s of a revision changes from %[3]s to %[2]s", first.String(), "as before")
		}
	}
}

// firstValue returns the first shown value of a field of a revision that must not change any more: it was sent, or was
// shown with a final status. It returns nil if there is none.
func (r *revisions) firstValue(id, field string) *read {
	wasSent := r.sentFor(id, field) != ""
	for _, v := range r.revision(id).shown[field] {
		isPlaceholder := field == commit && !commitPattern.MatchString(v.value)
		if (wasSent || v.settled) && v.value != "" && !isPlaceholder {
			return &v
		}
	}
	return nil
}

// pointerIn returns the pointer to a part of a revision in a response. All revisions in a list have the same pointer.
func pointerIn(s *seen, path string) string {
	if s.Op.ID == "list-revisions" {
		return "/resources/*/" + path
	}
	return "/" + path
}

// asNamed judges that the source_revision_config of a deployment equals that of its latest revision (section 2). It
// compares responses that contain a deployment with reads of the revision. Until the revision is built, a field that was
// not sent, such as the commit id, may have any value that no deployed revision has. Once it is built, null is a wrong
// value of such a field. The response to a POST or PATCH need not show the fields, but it must not show a wrong value.
func (r *revisions) asNamed(t *tally, s *seen) {
	if s.Op.ID != "get-deployment" && !isWrite(s) || !s.shows() {
		return
	}
	id := s.response.Get("latest_revision_id").Str
	latest := r.revision(id)
	for _, got := range readsOf(id, s.response, s.ID) {
		wasSent := r.sentFor(got.revision, got.field) != ""
		mayBeEmpty := isWrite(s) || !wasSent && !r.showsTooLate(s, got)
		if got.value == "" && mayBeEmpty || got.field == commit && r.commits[got.value] {
			continue
		}
		mayBeAny := !wasSent && !s.Sent.After(latest.settled) && !r.deployed[got.field+" "+got.value]
		isFinal := func(v read) bool { return v.value != "" && (wasSent || v.settled) }
		isSame := func(v read) bool { return v.value != "" && sameEither(got.field, v.value, got.value) }
		values := latest.shown[got.field]
		first := slices.IndexFunc(values, isFinal)
		if first < 0 || mayBeAny {
			continue
		}
		t.compare(s, got, got.value != "" && slices.ContainsFunc(values, isSame),
			"A deployment shows %s %s, its latest revision %s", values[first].String(), "as the revision shows")
	}
}

// showsTooLate reports whether a response contains a field although the revision had its final status longer ago than
// patience, so that the value must be that of the revision. A deployment need not have a field that was not sent.
func (r *revisions) showsTooLate(s *seen, got read) bool {
	settled := r.revision(got.revision).settled
	return s.response.Get(sourceConfig+"."+got.field).Exists() && !settled.IsZero() && s.Sent.After(settled.Add(r.patience))
}

// asBefore judges that an update does not change the fields that it does not name: they equal those of the previous
// revision (section 2).
func (r *revisions) asBefore(t *tally, s *seen) {
	if !s.shows() {
		return
	}
	for _, got := range readsIn(s) {
		u, before := r.creation(got.revision)
		if u == nil || before == "" || u.fields[got.field] != "" || got.field == commit {
			continue
		}
		earlier := r.firstValue(before, got.field)
		if earlier != nil {
			t.compare(s, got, got.value != "" && SameValue(got.field, earlier.value, got.value),
				"An update without %s changes it from %[3]s to %[2]s", earlier.String(), "as before")
		}
	}
}

// creation returns the update that created a revision, and the previous latest revision of the deployment. It returns nil
// if either is uncertain.
func (r *revisions) creation(id string) (created *write, before string) {
	created = r.revision(id).by
	if !r.isCertain(created) || !created.patch {
		return nil, ""
	}
	var last *write
	for _, other := range r.created[created.deployment] {
		u := other.by
		if !u.ended.After(created.sent) && (last == nil || u.ended.After(last.ended)) {
			last = u
		}
	}
	if !r.isCertain(last) || r.wasReplaced(last, created.sent) {
		return nil, ""
	}
	return created, last.revision
}

// wasUpdated reports whether an update that may have created a revision was under way between two times.
func (r *revisions) wasUpdated(deployment string, from, to time.Time) bool {
	return slices.ContainsFunc(r.updates[deployment], func(u *write) bool { return u.isUnderWay(from, to) })
}

// wasReplaced reports whether an update that sets a field of the source was sent between a creation and a time. A
// revision that any other update creates has the same source as the previous one.
func (r *revisions) wasReplaced(created *write, by time.Time) bool {
	return slices.ContainsFunc(r.updates[created.deployment], func(u *write) bool {
		return u != created && len(u.fields) > 0 && u.isUnderWay(created.ended, by)
	})
}

// staysDeployed judges that a revision stays DEPLOYED as long as it is the latest (section 3). It judges reads that were
// sent after the revision was seen DEPLOYED, if the response came before any later update was sent.
func (r *revisions) staysDeployed(t *tally, s *seen) {
	if !s.shows() {
		return
	}
	for id, object := range shownIn(s) {
		known := r.revision(id)
		status := object.Get("status").Str
		isLatest := r.isCertain(known.by) && !r.wasUpdated(known.by.deployment, known.by.ended, s.Ended)
		wasDeployed := !known.deployed.IsZero() && s.Sent.After(known.deployed)
		if !isLatest || !wasDeployed || !plane.IsKnown(strings.ToUpper(status)) {
			continue
		}
		if plane.IsDeployed(status) {
			t.judged++
			continue
		}
		if !s.Sent.After(known.deployed.Add(r.patience)) { // it may show the earlier state
			continue
		}
		t.judged++
		if !strings.EqualFold(status, "UNKNOWN") { // UNKNOWN does not contradict DEPLOYED
			t.violated(s, outcome.Changed, pointerIn(s, "status"),
				"A DEPLOYED revision becomes "+safe.Ellipsis(status, maxInTitle),
				"DEPLOYED", status)
		}
	}
}
