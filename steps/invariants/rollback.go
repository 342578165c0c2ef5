package invariants

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/outcome"
)

// rollback judges that responses contain no ID and no text of a run that was rolled back (section 3), if the request was
// sent after the new run had completed.
type rollback struct {
	posted map[idAt]*posted // runs
	order  []*posted
	found  sync.Once // finds the runs that were rolled back, when all runs are known
}

// posted is a run that was accepted.
type posted struct {
	id, text     string
	base, thread string // address of its agent server, and its thread there
	sent, ended  time.Time
	hold         time.Duration // for which its graph stays in progress, at least
	rollsBack    bool
	completed    time.Time // when its join returned 2xx; zero if unknown

	gone  time.Time // if the run was rolled back: when the new run had completed
	marks []mark    // if the run was rolled back: what identifies it
}

// mark is a text that identifies a run.
type mark struct{ what, value string }

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
		p := &posted{id: id, text: messages[len(messages)-1].Get("content").Str, base: s.Base,
			thread: s.In("thread_id"), sent: s.Sent, ended: s.Ended,
			rollsBack: isRollback(s), hold: holdOf(s)}
		r.posted[idAt{s.Base, id}] = p
		r.order = append(r.order, p)
	case "join-run":
		if p := r.posted[idAt{s.Base, s.In("run_id")}]; p != nil && p.completed.IsZero() {
			p.completed = s.Ended
		}
	}
}

// find finds the runs that were certainly rolled back: they were accepted before the new run was sent, their hold was not
// over when the new run was accepted, and no run without rollback may have interrupted them.
func (r *rollback) find() {
	for _, p := range r.order {
		for _, n := range r.order {
			inProgress := p.ended.Before(n.sent) && n.ended.Before(p.sent.Add(p.hold))
			if n.rollsBack && n != p && n.isBeside(p) && inProgress && !n.completed.IsZero() && !r.isOverlapped(p, n) {
				p.gone = n.completed
				p.marks = r.marksOf(p)
				break
			}
		}
	}
}

// isBeside reports whether two runs are on the same thread.
func (p *posted) isBeside(other *posted) bool {
	return p.base == other.base && p.thread == other.thread
}

// isOverlapped reports whether the thread accepted a run without rollback between a run and the new one. The interface does
// not define what happens to the run in progress then: it may have been interrupted, and not rolled back.
func (r *rollback) isOverlapped(p, n *posted) bool {
	return slices.ContainsFunc(r.order, func(m *posted) bool {
		return m != p && m != n && !m.rollsBack && m.isBeside(p) && m.ended.After(p.sent) && m.sent.Before(n.ended)
	})
}

// marksOf returns what identifies a run: its ID and its text, unless they are short or another run has them, too. Servers
// may use IDs again, or number the runs of each thread.
func (r *rollback) marksOf(p *posted) []mark {
	hasID, hasText := len(p.id) >= longEnough, len(p.text) >= longEnough
	for _, other := range r.order {
		if other == p {
			continue
		}
		if other.id == p.id && other.base == p.base {
			hasID = false
		}
		if strings.Contains(other.text, p.text) {
			hasText = false
		}
	}
	var marks []mark
	if hasID {
		marks = append(marks, mark{"id", p.id})
	}
	if hasText {
		marks = append(marks, mark{"text", p.text})
	}
	return marks
}

// check judges responses of operations of the interface. A refusal may name what it refuses.
func (r *rollback) check(t *tally, s *seen) {
	r.found.Do(r.find)
	if !s.ofInterface() || !s.ok() {
		return
	}
	isDuringRun := s.Op.ID == "get-state" && r.isInProgress(s)
	for _, p := range r.order {
		if len(p.marks) == 0 || !s.Sent.After(p.gone) || p.base != s.Base || isDuringRun {
			continue
		}
		t.judged++
		for _, m := range p.marks {
			if contains(s.Response, m.value) && !requestContains(s, m.value) {
				t.violated(s, outcome.NotRemoved, "", s.Op.Request()+" shows the "+m.what+" of a run that was rolled back",
					"nothing of a run that was rolled back", "its "+m.what+" "+m.value)
			}
		}
	}
}

// isInProgress reports whether a run of the thread may have been in progress when its state was read. Such a state is not
// judged: a server may remove what was rolled back when the next run completes.
func (r *rollback) isInProgress(s *seen) bool {
	return slices.ContainsFunc(r.order, func(p *posted) bool {
		isOfThread := p.base == s.Base && p.thread == s.In("thread_id")
		isOver := !p.completed.IsZero() && p.completed.Before(s.Sent) || !p.gone.IsZero() && p.gone.Before(s.Sent)
		return isOfThread && p.sent.Before(s.Ended) && !isOver
	})
}
