package invariants

import (
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// follow holds reads to showing what was written before, once patience is over: that something was created (no 404),
// and that an update has created a revision. An answer of 202 says that this is still to be done, so nothing follows
// from it. That no read ever shows what was written is for the requirements about creating and updating to judge.
type follow struct {
	*revisions                    // of the same record
	known      map[string]naming  // by deployment, or deployment/revision: the answer that first named it
	reads      map[string][]*seen // of deployments, with 2xx
	deleted    map[string]bool    // deployments
	longest    time.Duration
}

// naming is when something was there, and for which credentials.
type naming struct {
	at time.Time
	by exchange.Caller
}

func newFollow(r *revisions) *follow {
	return &follow{
		revisions: r,
		known:     map[string]naming{},
		reads:     map[string][]*seen{},
		deleted:   map[string]bool{},
	}
}

func (r *follow) note(s *seen) {
	deployment := s.In("deployment_id")
	if s.Op.Method == http.MethodDelete {
		r.deleted[deployment] = true
	}
	if !s.ok() {
		return
	}
	if s.Op.ID == "get-deployment" {
		r.reads[deployment] = append(r.reads[deployment], s)
	}
	if s.Status == http.StatusAccepted {
		return
	}
	if s.Op.ID == "create-deployment" {
		deployment = s.answer.Get("id").Str
		r.names(s, deployment)
	}
	if named := s.answer.Get("latest_revision_id").Str; named != "" {
		r.names(s, deployment+"/"+named)
	}
}

func (r *follow) names(s *seen, id string) {
	if first, known := r.known[id]; id != "" && (!known || s.Ended.Before(first.at)) {
		r.known[id] = naming{s.Ended, s.Caller}
	}
}

func (r *follow) check(t *tally, s *seen) {
	deployment, asked := s.In("deployment_id"), s.In("deployment_id")
	if s.Op.Method != http.MethodGet || s.Wrong || r.deleted[deployment] {
		return
	}
	if revision := s.In("revision_id"); revision != "" {
		asked += "/" + revision
	}
	if w, known := r.known[asked]; known && w.by == s.Caller && s.Sent.After(w.at) {
		switch {
		case s.ok():
			t.judged++
		case s.Status == http.StatusNotFound && s.Sent.After(w.at.Add(r.patience)):
			t.judged++
			r.late(t, s, "", s.Sent.Sub(w.at), "GET of a created object returns 404", "status 2xx", "status 404")
		}
	}
	if s.Op.ID == "get-deployment" && s.ok() {
		r.afterUpdate(t, s, deployment)
	}
}

// afterUpdate compares a read after an update with the last one before it and with a later one, where no other update
// was under way.
func (r *follow) afterUpdate(t *tally, s *seen, deployment string) {
	var act *write
	next := time.Time{} // when the update after it was sent
	for _, u := range r.updates[deployment] {
		switch {
		case !u.sent.Before(s.Ended):
			if next.IsZero() || u.sent.Before(next) {
				next = u.sent
			}
		case act == nil || u.sent.After(act.sent):
			act = u
		}
	}
	if act == nil || act.status/100 != 2 || act.status == http.StatusAccepted || !s.Sent.After(act.ended) ||
		!r.isAlone(act) {
		return
	}
	latest := s.answer.Get("latest_revision_id").Str
	before, other := "", ""
	for _, read := range r.reads[deployment] {
		named := read.answer.Get("latest_revision_id").Str
		isAfter := !read.Sent.Before(act.ended) && (next.IsZero() || read.Ended.Before(next))
		switch {
		case !read.Ended.After(act.sent):
			before = named
		case isAfter && named != "" && named != latest:
			other = named
		}
	}
	switch isLate := latest == before; {
	case before == "", isLate && other == "": // nothing was created, or nobody saw it
	case !isLate:
		t.judged++
	case s.Sent.After(act.ended.Add(r.patience)):
		t.judged++
		r.late(t, s, "/latest_revision_id", s.Sent.Sub(act.ended),
			"GET after an update shows the deployment as it was before", "latest_revision_id "+other, "still "+before)
	}
}

// late notes a violation, and keeps the one that was seen the longest time after the write.
func (r *follow) late(t *tally, s *seen, pointer string, after time.Duration, summary, expected, actual string) {
	v := t.violated(s, outcome.Stale, pointer, summary, expected, actual)
	if v.Count == 1 || after > r.longest {
		r.longest = after
		v.Exchange, v.Expected = s.ID, fmt.Sprintf("%s, %s after the answer to the write", expected, r.patience)
		v.Actual = fmt.Sprintf("%s after %s", actual, after.Round(time.Millisecond))
	}
}
