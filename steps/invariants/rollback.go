package invariants

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// rollback judges that responses contain neither the ID nor the text of a run that was rolled back (section 3), if the
// request was sent after the new run had completed.
type rollback struct {
	*runs // of the same record

	found  sync.Once                 // finds the runs that were rolled back, when all runs are known
	gone   map[*threadRun]time.Time  // when the new run had completed, by the run that was rolled back
	by     map[*threadRun]*threadRun // the new run, by the run that was rolled back
	byBase map[string][]*threadRun   // these runs by address, in the order of their removal
	marks  finder[mark]
}

func newRollback(r *runs) *rollback {
	return &rollback{runs: r, gone: map[*threadRun]time.Time{}, by: map[*threadRun]*threadRun{}, byBase: map[string][]*threadRun{}}
}

// mark is a text that identifies a run that was rolled back.
type mark struct {
	of          *threadRun
	what, value string
}

// find finds the runs that were certainly rolled back.
func (r *rollback) find() {
	ids := map[idAt]int{}
	texts := finder[*threadRun]{} // texts of the runs that were rolled back
	for _, p := range r.all {
		if p.id == "" { // no request can contain its id
			continue
		}
		ids[idAt{p.base, p.id}]++
		at := slices.IndexFunc(r.byThread[p.thread], func(n *threadRun) bool { return r.removes(n, p) })
		if at >= 0 {
			n := r.byThread[p.thread][at]
			r.gone[p], r.by[p] = n.completed, n
			texts.add(p.text, p)
		}
	}
	inOthers := map[*threadRun]bool{} // runs whose text is a part of another run's text
	for _, other := range r.all {
		for _, p := range texts.in(other.text) {
			if p != other {
				inOthers[p] = true
			}
		}
	}
	for _, p := range r.all {
		if _, isGone := r.gone[p]; isGone {
			r.mark(p, ids[idAt{p.base, p.id}] == 1, !inOthers[p])
		}
	}
	for _, gone := range r.byBase {
		slices.SortFunc(gone, func(a, b *threadRun) int { return r.gone[a].Compare(r.gone[b]) })
	}
}

// removes reports whether a new run has certainly rolled another run back. The other run was accepted before the new one
// was sent and in progress after the new one was accepted, and no run without rollback may have interrupted it.
func (r *rollback) removes(n, p *threadRun) bool {
	if !n.isRollback || n == p || n.completed.IsZero() {
		return false
	}
	wasInProgress := n.accepted.Before(p.earliest) || p.unfinished.After(n.accepted)
	return p.accepted.Before(n.sent) && wasInProgress && !r.isOverlapped(p, n)
}

// mark adds the ID and the text of a run that was rolled back, unless they are short or another run has the same. Servers
// may reuse IDs, or number the runs of each thread.
func (r *rollback) mark(p *threadRun, hasOwnID, hasOwnText bool) {
	hasID, hasText := hasOwnID && len(p.id) >= longEnough, hasOwnText && len(p.text) >= longEnough && !p.isOther // an answer may repeat any text
	if hasID {
		r.marks.addAsJSON(p.id, mark{p, "id", p.id})
	}
	if hasText {
		r.marks.addAsJSON(p.text, mark{p, "text", p.text})
	}
	if hasID || hasText || r.isOnly(p) {
		r.byBase[p.base] = append(r.byBase[p.base], p)
	}
}

// isOverlapped reports whether the thread accepted a run without rollback between a run and the new one. The interface
// does not define the effect on the run in progress, which may have been interrupted and not rolled back.
func (r *rollback) isOverlapped(p, n *threadRun) bool {
	return slices.ContainsFunc(r.byThread[p.thread], func(m *threadRun) bool {
		return m != p && m != n && !m.isRollback && m.accepted.After(p.sent) && m.sent.Before(n.accepted)
	})
}

// check judges responses of operations of the interface. A refusal may contain the ID in its request.
func (r *rollback) check(t *tally, s *seen) {
	r.found.Do(r.find)
	if !s.ofInterface() || !s.ok() || s.Op.ID == "get-state" && r.isInProgress(s) {
		return
	}
	all := r.byBase[s.Base]
	before, _ := slices.BinarySearchFunc(all, s.Sent, func(p *threadRun, sent time.Time) int { return r.gone[p].Compare(sent) })
	t.judged += before
	if before == 0 {
		return
	}
	isGone := func(p *threadRun) bool { return p.id == s.In("run_id") && r.wasGone(p, s) && r.isOnly(p) }
	if s.Op.ID == "get-run" && slices.ContainsFunc(r.byThread[objectKey(s)], isGone) {
		v := t.violated(s, outcome.NotRemoved, "",
			fmt.Sprintf("GET of a run that was rolled back returns %d", s.Status), "400 or above", strconv.Itoa(s.Status))
		v.Check = outcome.Statuses("4XX", "5XX")
	}
	shown := r.marks.in(s.Response)
	slices.SortFunc(shown, func(a, b mark) int { return cmp.Or(a.of.order-b.of.order, strings.Compare(a.what, b.what)) })
	for _, m := range slices.Compact(shown) {
		if m.of.base == s.Base && r.wasGone(m.of, s) && !requestContains(s, m.value) && !r.isEarlier(m.of, s) {
			actual := fmt.Sprintf("its %s %q", m.what, m.value)
			if at := evidence.PointerTo(s.response, m.value); at != "" {
				actual += " at " + at
			}
			t.violated(s, outcome.NotRemoved, "", s.Op.Request()+" shows the "+m.what+" of a run that was rolled back",
				"nothing of a run that was rolled back", actual)
		}
	}
}

// isEarlier reports whether a state may be from before the rollback: it shows nothing of the new run, and was read within
// patience.
func (r *rollback) isEarlier(p *threadRun, s *seen) bool {
	n := r.by[p]
	return s.Op.ID == "get-state" && s.Sent.Before(n.accepted.Add(r.target.Config.Patience)) &&
		!strings.Contains(s.Response, n.text)
}

// wasGone reports whether a run was rolled back before a request was sent.
func (r *rollback) wasGone(p *threadRun, s *seen) bool {
	at, isGone := r.gone[p]
	return isGone && s.Sent.After(at)
}

// isOnly reports whether no other run of the thread has the ID of a run.
func (r *rollback) isOnly(p *threadRun) bool {
	return !slices.ContainsFunc(r.byThread[p.thread], func(other *threadRun) bool { return other != p && other.id == p.id })
}

// isInProgress reports whether a run of the thread may have been in progress when its state was read. Such a state is not
// judged, because a server may remove messages of a rolled-back run only when the next run completes.
func (r *rollback) isInProgress(s *seen) bool {
	return slices.ContainsFunc(r.byThread[objectKey(s)], func(p *threadRun) bool {
		isOver := !p.completed.IsZero() && p.completed.Before(s.Sent) || r.wasGone(p, s)
		return p.sent.Before(s.Ended) && !isOver
	})
}
