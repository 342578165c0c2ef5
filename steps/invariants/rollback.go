package invariants

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/outcome"
)

// rollback holds answers free of runs that were rolled back (section 3): of their ids and texts, in what was asked for
// after the new run had completed.
type rollback struct {
	posted map[idAt]*posted // runs
	order  []*posted
	found  sync.Once // those that are gone, when all runs are known
}

// posted is a run that was accepted.
type posted struct {
	id, text     string
	base, thread string // address of its agent server, and the thread there
	sent, ended  time.Time
	wait         time.Duration // that its graph was told to stay in progress at least
	rollsBack    bool
	completed    time.Time // when its join was answered with 2xx; zero: not seen

	// Of one that was in progress when another one rolled it back:
	gone  time.Time   // the new run had completed
	marks [][2]string // its "id" and its "text", but for what is short or another run has too
}

// waits finds how long a run of the conformance graph is told to stay in progress.
var waits = regexp.MustCompile(`\bwait(?:-after-write)?=(\d+)`)

func (r *rollback) note(s *seen) {
	if !s.ok() {
		return
	}
	switch s.Op.ID {
	case "create-run":
		id := s.answer.Get("run_id").String()
		messages := s.request.Get("input.messages").Array()
		if id == "" || len(messages) == 0 {
			return
		}
		p := &posted{id: id, text: messages[len(messages)-1].Get("content").Str, base: s.Base,
			thread: s.In("thread_id"), sent: s.Sent, ended: s.Ended,
			rollsBack: isRollback(s), wait: holdOf(s)}
		r.posted[idAt{s.Base, id}] = p
		r.order = append(r.order, p)
	case "join-run":
		if p := r.posted[idAt{s.Base, s.In("run_id")}]; p != nil && p.completed.IsZero() {
			p.completed = s.Ended
		}
	}
}

// find finds the runs that were certainly rolled back: accepted before the new run was sent, and told to be in progress
// until after the new one was accepted.
func (r *rollback) find() {
	for _, p := range r.order {
		for _, n := range r.order {
			inProgress := p.ended.Before(n.sent) && n.ended.Before(p.sent.Add(p.wait))
			if n.rollsBack && n != p && n.base == p.base && n.thread == p.thread && inProgress && !n.completed.IsZero() {
				p.gone, p.marks = n.completed, r.marksOf(p)
				break
			}
		}
	}
}

// marksOf is what no other run has: ids may be used again, and be numbers in each thread.
func (r *rollback) marksOf(p *posted) (own [][2]string) {
	isOwn := func(value string, has func(other *posted) bool) bool {
		isOther := func(other *posted) bool { return other != p && has(other) }
		return len(value) >= longEnough && !slices.ContainsFunc(r.order, isOther)
	}
	if isOwn(p.id, func(other *posted) bool { return other.id == p.id && other.base == p.base }) {
		own = append(own, [2]string{"id", p.id})
	}
	if isOwn(p.text, func(other *posted) bool { return strings.Contains(other.text, p.text) }) {
		own = append(own, [2]string{"text", p.text})
	}
	return own
}

// check looks at the operations of the interface. A refusal may name what it refuses.
func (r *rollback) check(t *tally, s *seen) {
	r.found.Do(r.find)
	if !s.ofInterface() || !s.ok() {
		return
	}
	for _, p := range r.order {
		if len(p.marks) == 0 || !s.Sent.After(p.gone) || p.base != s.Base {
			continue
		}
		t.judged++
		for _, mark := range p.marks {
			what, value := mark[0], mark[1]
			if holds(s.Answer, value) && !carries(s, value) {
				t.violated(s, outcome.NotRemoved, "", "A response shows the "+what+" of a run that was rolled back", "nothing of the run",
					"its "+what+" "+value)
			}
		}
	}
}
