package invariants

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// follow holds reads to showing what was written before, once patience is over: that something was created (no 404), and that an update
// has created a revision. An answer of 202 says that this is still to be done, so nothing follows from it. That no read ever shows
// what was written is for the requirements about creating and updating to judge.
type follow struct {
	patience time.Duration
	known    map[string]naming   // by deployment, or deployment/revision: the answer that first named it
	updates  map[string][]*seen  // by deployment, those that were not refused
	reads    map[string][]*seen  // of deployments, with 2xx
	deleted  map[string]struct{} // deployments
	longest  time.Duration
}

// naming is when something was there, and for which credentials.
type naming struct {
	at time.Time
	by client.Caller
}

func newFollow(patience time.Duration) *follow {
	return &follow{patience: patience, known: map[string]naming{}, updates: map[string][]*seen{}, reads: map[string][]*seen{},
		deleted: map[string]struct{}{}}
}

func (r *follow) note(s *seen) {
	deployment := s.In("deployment_id")
	switch {
	case s.Op.Method == http.MethodDelete:
		r.deleted[deployment] = struct{}{}
		return
	case s.Op.ID == "create-deployment" && s.ok() && s.Status != http.StatusAccepted:
		r.names(s, s.answer.Get("id").Str)
	case s.Op.ID == "update-deployment" && s.Status/100 != 4:
		r.updates[deployment] = append(r.updates[deployment], s)
	case s.Op.ID == "get-deployment" && s.ok():
		r.reads[deployment] = append(r.reads[deployment], s)
	}
	if s.ok() && s.Status != http.StatusAccepted {
		of := deployment
		if of == "" {
			of = s.answer.Get("id").Str
		}
		if named := s.answer.Get("latest_revision_id").Str; named != "" {
			r.names(s, of+"/"+named)
		}
	}
}

func (r *follow) names(s *seen, id string) {
	if first, known := r.known[id]; id != "" && (!known || s.Ended.Before(first.at)) {
		r.known[id] = naming{s.Ended, s.Caller}
	}
}

func (r *follow) check(t *tally, s *seen) {
	if s.Op.Method != http.MethodGet || s.Wrong {
		return
	}
	deployment, asked := s.In("deployment_id"), s.In("deployment_id")
	if revision := s.In("revision_id"); revision != "" {
		asked += "/" + revision
	}
	if _, gone := r.deleted[deployment]; gone {
		return
	}
	if w, known := r.known[asked]; known && w.by == s.Caller && s.Sent.After(w.at) {
		switch {
		case s.ok():
			t.judged++
		case s.Status == http.StatusNotFound && s.Sent.After(w.at.Add(r.patience)):
			t.judged++
			r.late(t, s, "", s.Sent.Sub(w.at), "a read of what was created is answered with 404", "status 2xx", "status 404")
		}
	}
	if s.Op.ID == "get-deployment" && s.ok() {
		r.afterUpdate(t, s, deployment)
	}
}

// afterUpdate compares a read after an update with the last one before it and with a later one, where no other update was under way.
func (r *follow) afterUpdate(t *tally, s *seen, deployment string) {
	var act *seen
	next := time.Time{} // when the update after it was sent
	for _, u := range r.updates[deployment] {
		switch {
		case !u.Sent.Before(s.Ended):
			if next.IsZero() || u.Sent.Before(next) {
				next = u.Sent
			}
		case act == nil || u.Sent.After(act.Sent):
			act = u
		}
	}
	if act == nil || !act.ok() || act.Status == http.StatusAccepted || !s.Sent.After(act.Ended) || r.overlaps(act, deployment) {
		return
	}
	latest := s.answer.Get("latest_revision_id").Str
	before, other := "", ""
	for _, read := range r.reads[deployment] {
		named := read.answer.Get("latest_revision_id").Str
		switch {
		case !read.Ended.After(act.Sent):
			before = named
		case !read.Sent.Before(act.Ended) && (next.IsZero() || read.Ended.Before(next)) && named != "" && named != latest:
			other = named
		}
	}
	if before == "" || other == "" && latest == before {
		return // nothing was created, or nobody saw it
	}
	if latest != before {
		t.judged++
	} else if s.Sent.After(act.Ended.Add(r.patience)) {
		t.judged++
		r.late(t, s, "/latest_revision_id", s.Sent.Sub(act.Ended), "a read after an update shows the deployment as it was before",
			"latest_revision_id "+other, "still "+before)
	}
}

// overlaps tells whether another update of the deployment was under way at the same time.
func (r *follow) overlaps(act *seen, deployment string) bool {
	return slices.ContainsFunc(r.updates[deployment], func(u *seen) bool {
		return u != act && u.Sent.Before(act.Ended) && (act.Sent.Before(u.Ended) || u.Status == 0)
	})
}

// late notes a violation, and keeps the one that was seen the longest time after the write.
func (r *follow) late(t *tally, s *seen, pointer string, after time.Duration, summary, expected, actual string) {
	v := t.violated(s, pointer, summary, expected, actual)
	if v.Count == 1 || after > r.longest {
		r.longest = after
		v.Exchange, v.Expected = s.ID, fmt.Sprintf("%s, %s after the answer to the write", expected, r.patience)
		v.Actual = fmt.Sprintf("%s after %s", actual, after.Round(time.Millisecond))
	}
}
