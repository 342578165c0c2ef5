package invariants

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// rollback judges that responses contain no ID and no text of a run that was rolled back (section 3), if the request was
// sent after the new run had completed.
type rollback struct {
	target   *target.Target
	posted   map[idAt]*posted // runs
	order    []*posted
	byThread map[idAt][]*posted

	found sync.Once            // finds the runs that were rolled back, when all runs are known
	gone  map[string][]*posted // these runs by address, in the order in which they were gone
	marks finder[mark]
}

func newRollback(t *target.Target) *rollback {
	return &rollback{target: t, posted: map[idAt]*posted{}, byThread: map[idAt][]*posted{}, gone: map[string][]*posted{}}
}

// posted is a run that was accepted.
type posted struct {
	id, text    string
	thread      idAt
	order       int // in which the runs were accepted
	sent, ended time.Time
	hold        time.Duration // for which its graph stays in progress, at least
	rollsBack   bool
	completed   time.Time // when its join returned 2xx; zero if unknown
	unfinished  time.Time // when a read was sent that showed it in progress, the last one; zero if there was none
	isOther     bool      // it may be a run of another graph than that of the configuration

	gone time.Time // if the run was rolled back: when the new run had completed
}

// mark is a text that identifies a run that was rolled back.
type mark struct {
	of          *posted
	what, value string
}

// waits matches the words that hold a run of the conformance graph in progress.
var waits = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

func (r *rollback) note(s *seen) {
	if !s.ok() {
		return
	}
	switch s.Op.ID {
	case "create-run":
		id := s.response.Get("run_id").String()
		messages := s.request.Get("input.messages").Array()
		if id == "" || len(messages) == 0 {
			return
		}
		p := &posted{id: id, text: messages[len(messages)-1].Get("content").Str, thread: idAt{s.Base, s.In("thread_id")},
			order: len(r.order), sent: s.Sent, ended: s.Ended, rollsBack: isRollback(s), hold: holdOf(r.target, s),
			isOther: isOtherGraph(r.target, s)}
		r.posted[idAt{s.Base, id}] = p
		r.order = append(r.order, p)
		r.byThread[p.thread] = append(r.byThread[p.thread], p)
	case "join-run":
		if p := r.posted[idAt{s.Base, s.In("run_id")}]; p != nil && p.completed.IsZero() {
			p.completed = s.Ended
		}
	case "get-run":
		r.noteStatus(s)
	}
}

// noteStatus notes the status of a run in a recording, whose clients need not join a run.
func (r *rollback) noteStatus(s *seen) {
	p := r.posted[idAt{s.Base, s.In("run_id")}]
	if p == nil || !r.target.Recorded {
		return
	}
	status := s.response.Get("status").Str
	switch {
	case slices.Contains(agent.UnfinishedStatuses, status) && s.Sent.After(p.unfinished):
		p.unfinished = s.Sent
	case slices.Contains(agent.CompleteStatuses, status) && p.completed.IsZero():
		p.completed = s.Ended
	}
}

// find finds the runs that were certainly rolled back: they were accepted before the new run was sent, they were in
// progress after it was accepted, and no run without rollback may have interrupted them.
func (r *rollback) find() {
	ids := map[idAt]int{}
	texts := finder[*posted]{} // of the runs that were rolled back
	for _, p := range r.order {
		ids[idAt{p.thread.base, p.id}]++
		for _, n := range r.byThread[p.thread] {
			wasInProgress := n.ended.Before(p.sent.Add(p.hold)) || p.unfinished.After(n.ended)
			if n.rollsBack && n != p && p.ended.Before(n.sent) && wasInProgress && !n.completed.IsZero() && !r.isOverlapped(p, n) {
				p.gone = n.completed
				texts.add(p.text, p)
				break
			}
		}
	}
	inOthers := map[*posted]bool{} // whose text is in that of another run
	for _, other := range r.order {
		for _, p := range texts.in(other.text) {
			if p != other {
				inOthers[p] = true
			}
		}
	}
	for _, p := range r.order {
		if !p.gone.IsZero() {
			r.mark(p, ids[idAt{p.thread.base, p.id}] == 1, !inOthers[p])
		}
	}
	for _, gone := range r.gone {
		slices.SortFunc(gone, func(a, b *posted) int { return a.gone.Compare(b.gone) })
	}
}

// mark adds what identifies a run that was rolled back: its ID and its text, unless they are short or another run has them,
// too. Servers may use IDs again, or number the runs of each thread.
func (r *rollback) mark(p *posted, hasOwnID, hasOwnText bool) {
	hasID, hasText := hasOwnID && len(p.id) >= longEnough, hasOwnText && len(p.text) >= longEnough && !p.isOther // an answer may repeat any text
	if hasID {
		r.marks.addAsJSON(p.id, mark{p, "id", p.id})
	}
	if hasText {
		r.marks.addAsJSON(p.text, mark{p, "text", p.text})
	}
	if hasID || hasText || r.isOnly(p) {
		r.gone[p.thread.base] = append(r.gone[p.thread.base], p)
	}
}

// isOverlapped reports whether the thread accepted a run without rollback between a run and the new one. The interface does
// not define what happens to the run in progress then: it may have been interrupted, and not rolled back.
func (r *rollback) isOverlapped(p, n *posted) bool {
	return slices.ContainsFunc(r.byThread[p.thread], func(m *posted) bool {
		return m != p && m != n && !m.rollsBack && m.ended.After(p.sent) && m.sent.Before(n.ended)
	})
}

// check judges responses of operations of the interface. A refusal may name what it refuses.
func (r *rollback) check(t *tally, s *seen) {
	r.found.Do(r.find)
	if !s.ofInterface() || !s.ok() || s.Op.ID == "get-state" && r.isInProgress(s) {
		return
	}
	all := r.gone[s.Base]
	before, _ := slices.BinarySearchFunc(all, s.Sent, func(p *posted, sent time.Time) int { return p.gone.Compare(sent) })
	t.judged += before
	if before == 0 {
		return
	}
	read := r.posted[idAt{s.Base, s.In("run_id")}]
	isGone := read != nil && !read.gone.IsZero() && s.Sent.After(read.gone)
	if s.Op.ID == "get-run" && isGone && read.thread.id == s.In("thread_id") && r.isOnly(read) {
		v := t.violated(s, outcome.NotRemoved, "", "GET of a run that was rolled back returns 2xx", "an error status",
			strconv.Itoa(s.Status))
		v.Check = outcome.Statuses("4XX", "5XX")
	}
	shown := r.marks.in(s.Response)
	slices.SortFunc(shown, func(a, b mark) int { return cmp.Or(a.of.order-b.of.order, strings.Compare(a.what, b.what)) })
	for _, m := range slices.Compact(shown) {
		if m.of.thread.base == s.Base && s.Sent.After(m.of.gone) && !requestContains(s, m.value) {
			t.violated(s, outcome.NotRemoved, "", s.Op.Request()+" shows the "+m.what+" of a run that was rolled back",
				"nothing of a run that was rolled back", "its "+m.what+" "+m.value)
		}
	}
}

// isOnly reports whether no other run of the thread has the ID of a run.
func (r *rollback) isOnly(p *posted) bool {
	return !slices.ContainsFunc(r.byThread[p.thread], func(other *posted) bool { return other != p && other.id == p.id })
}

// isInProgress reports whether a run of the thread may have been in progress when its state was read. Such a state is not
// judged: a server may remove what was rolled back when the next run completes.
func (r *rollback) isInProgress(s *seen) bool {
	return slices.ContainsFunc(r.byThread[idAt{s.Base, s.In("thread_id")}], func(p *posted) bool {
		isOver := !p.completed.IsZero() && p.completed.Before(s.Sent) || !p.gone.IsZero() && p.gone.Before(s.Sent)
		return p.sent.Before(s.Ended) && !isOver
	})
}
