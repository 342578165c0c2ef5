package invariants

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// follow judges that reads show earlier writes after patience: GET of a created object does not return 404, and a
// deployment shows the revision that an update has created. A write that returned 202 does not count, because the server
// still has to carry it out. If no read ever shows a write, the requirements about creating and updating judge that.
type follow struct {
	*revisions                       // of the same record
	known      map[string]firstNamed // by deployment, or by deployment/revision
	reads      map[string][]*seen    // of deployments, with 2xx
	longest    time.Duration         // between a write and a read that does not show it
}

// firstNamed is the time at which a response first named an object, and the caller of that response.
type firstNamed struct {
	at time.Time
	by exchange.Caller
}

func newFollow(r *revisions) *follow {
	return &follow{
		revisions: r,
		known:     map[string]firstNamed{},
		reads:     map[string][]*seen{},
	}
}

func (r *follow) note(s *seen) {
	deployment := s.In("deployment_id")
	if !s.shows() {
		return
	}
	if s.Op.ID == "get-deployment" {
		r.reads[deployment] = append(r.reads[deployment], s)
	}
	if s.Status == http.StatusAccepted {
		return
	}
	if s.Op.ID == "create-deployment" {
		deployment = s.response.Get("id").Str
		r.noteNamed(s, deployment)
	}
	if latest := s.response.Get("latest_revision_id").Str; latest != "" {
		r.noteNamed(s, deployment+"/"+exchange.IDKey(latest))
	}
}

// noteNamed records that a response named an object.
func (r *follow) noteNamed(s *seen, id string) {
	first, isKnown := r.known[id]
	if id != "" && (!isKnown || s.Ended.Before(first.at)) {
		r.known[id] = firstNamed{s.Ended, s.Caller}
	}
}

func (r *follow) check(t *tally, s *seen) {
	deployment := s.In("deployment_id")
	if s.Op.Method != http.MethodGet || s.Wrong || isAfter(r.deleted, deployment, s) {
		return
	}
	id := deployment
	if revision := s.In("revision_id"); revision != "" {
		id += "/" + exchange.IDKey(revision)
	}
	r.checkFound(t, s, id)
	if s.Op.ID == "get-deployment" && s.shows() {
		r.checkUpdate(t, s, deployment)
	}
}

// checkFound judges a read of an object that a response to the same caller has named.
func (r *follow) checkFound(t *tally, s *seen, id string) {
	named, isKnown := r.known[id]
	if !isKnown || named.by != s.Caller || !s.Sent.After(named.at) {
		return
	}
	if s.ok() {
		t.judged++
		return
	}
	if s.Status == http.StatusNotFound && s.Sent.After(named.at.Add(r.patience)) {
		t.judged++
		r.violatedLate(t, s, named.at, outcome.Violation{
			Summary: s.Op.Request() + " returns 404 for an id from an earlier response", Expected: "2xx", Actual: "404"})
	}
}

// checkUpdate judges a read of a deployment after an update. The read is stale if it shows the latest revision from
// before the update although another read has shown the new one. Reads are not judged if two updates overlap.
func (r *follow) checkUpdate(t *tally, s *seen, deployment string) {
	update, next := r.lastUpdate(deployment, s.Ended)
	if update == nil || update.status/100 != 2 || update.status == http.StatusAccepted ||
		!s.Sent.After(update.ended) || !r.isAlone(update) {
		return
	}
	latest := s.response.Get("latest_revision_id").Str
	before, other := "", ""
	for _, read := range r.reads[deployment] {
		named := read.response.Get("latest_revision_id").Str
		isAfter := !read.Sent.Before(update.ended) && (next.IsZero() || read.Ended.Before(next))
		switch {
		case !read.Ended.After(update.sent):
			before = named
		case isAfter && named != "" && !exchange.SameID(named, latest):
			other = named
		}
	}
	isLate := exchange.SameID(latest, before)
	switch {
	case before == "" || isLate && other == "": // the update created no revision, or no read shows it
	case !isLate:
		t.judged++
	case s.Sent.After(update.ended.Add(r.patience)):
		t.judged++
		r.violatedLate(t, s, update.ended, outcome.Violation{Pointer: "/latest_revision_id",
			Summary:  "A deployment shows a stale latest_revision_id after an update",
			Expected: "latest_revision_id " + other, Actual: "still " + before})
	}
}

// lastUpdate returns the last update that was sent before a time, or nil. It also returns the time of the next update, or
// zero.
func (r *follow) lastUpdate(deployment string, before time.Time) (last *write, next time.Time) {
	for _, u := range r.updates[deployment] {
		switch {
		case !u.sent.Before(before):
			keepEarlier(&next, u.sent)
		case last == nil || u.sent.After(last.sent):
			last = u
		}
	}
	return last, next
}

// violatedLate records a violation by a read, with the time since the end of the write. It keeps the longest time.
func (r *follow) violatedLate(t *tally, s *seen, written time.Time, of outcome.Violation) {
	after := s.Sent.Sub(written)
	v := t.violated(s, outcome.Stale, of.Pointer, of.Summary, of.Expected, of.Actual)
	if v.Count > 1 && after <= r.longest {
		return
	}
	r.longest = after
	if v.Count > 1 {
		v.Repeats[len(v.Repeats)-1] = v.Exchange
		v.Exchange = s.ID
	}
	v.Expected = fmt.Sprintf("%s within %s after the write", of.Expected, r.patience)
	v.Actual = fmt.Sprintf("%s after %s", of.Actual, after.Round(time.Millisecond))
}

// end notes all stale reads as doubtful, because those within patience are no violations.
func (r *follow) end(t *tally) {
	for _, deployment := range slices.Sorted(maps.Keys(r.reads)) {
		for _, id := range r.stale(deployment) {
			t.doubtful = append(t.doubtful, outcome.Violation{Kind: outcome.Stale, Exchange: id})
		}
	}
}

// stale returns the reads of a deployment that contradict other reads after the same update. If another update was under
// way at the same time, it is unknown which of the named revisions is the latest, and all of these reads are returned.
func (r *follow) stale(deployment string) []int {
	after := map[*write][]*seen{}
	for _, read := range r.reads[deployment] {
		last := r.lastSourceUpdate(read)
		if last != nil {
			after[last] = append(after[last], read)
		}
	}
	var all []int
	for update, reads := range after {
		named := map[string]bool{}
		latest := map[string]bool{} // revisions that no response named before the update
		for _, read := range reads {
			id := latestIn(read)
			named[id] = true
			if !r.revision(id).named.Before(update.sent) {
				latest[id] = true
			}
		}
		for _, read := range reads {
			isLatest := len(latest) == 1 && latest[latestIn(read)]
			if len(named) > 1 && !isLatest {
				all = append(all, read.ID)
			}
		}
	}
	slices.Sort(all)
	return all
}

// latestIn returns the latest revision in a read of a deployment, in the spelling of IDKey.
func latestIn(read *seen) string {
	return exchange.IDKey(read.response.Get("latest_revision_id").Str)
}

// lastSourceUpdate returns the last update of a source field before a read, or nil if there was none or one was under way.
func (r *follow) lastSourceUpdate(read *seen) (last *write) {
	for _, u := range r.updates[read.In("deployment_id")] {
		if len(u.fields) == 0 || !u.sent.Before(read.Ended) {
			continue
		}
		if u.isUnderWay(read.Sent, read.Ended) {
			return nil
		}
		if last == nil || u.sent.After(last.sent) {
			last = u
		}
	}
	return last
}
