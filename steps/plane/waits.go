package plane

import (
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/outcome"
)

// Ending says how a poll ended.
type Ending int

// How a poll ends. Only one that ran out of its whole time shows a violation.
const (
	Reached    Ending = iota // the status is one that was waited for
	TimedOut                 // timeouts.poll was over
	CutShort                 // it was not waited for as long: an earlier revision of the kind had not become DEPLOYED in time
	Stuck                    // the status is not one of the thirteen in any way of writing, and did not change for a while
	Superseded               // the status is SKIPPED or INTERRUPTED, and the deployment names another revision as its latest
)

// A wait after one that was in vain gets the part 1/cutShort of timeouts.poll. The polls of a run one after another stay
// below half of timeouts.poll so.
const cutShort = 20

// A status outside the interface that does not change is waited for during the part 1/stuck of timeouts.poll.
const stuck = 4

// need is what a revision is polled for. What one revision did not do, another one for the same need is not expected to do.
type need string

const (
	needCreation need = "CP-POLL-1" // each is named by the requirement that fails where it is in vain
	needUpdate   need = "CP-UPDATE-10"
	needFailure  need = "CP-POLL-4"
)

// waits is what earlier polls say about later ones.
type waits struct {
	mu       sync.Mutex
	needs    map[string]need     // by revision; needUpdate where it is not in it
	ended    map[string]*History // by revision, or deployment where that was settled: a poll that did not reach its end
	deployed map[need]bool       // at least one revision was DEPLOYED
	vain     map[need]time.Time  // when the first poll ended in vain
	overdue  map[need]*History   // the first poll that ran out of its whole time
	last     map[string]bool     // statuses outside the interface: whether a revision stayed in it, and none left it
}

func newWaits() *waits {
	return &waits{needs: map[string]need{}, ended: map[string]*History{}, deployed: map[need]bool{}, vain: map[need]time.Time{}, overdue: map[need]*History{}, last: map[string]bool{}}
}

func (w *waits) note(revision string, n need) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.needs[revision] = n
}

func (w *waits) need(revision string) need {
	if n, known := w.needs[revision]; known {
		return n
	}
	return needUpdate
}

// end notes how a poll ended.
func (w *waits) end(h *History) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.need(h.revision)
	switch {
	case isDeployed(h.Final):
		w.deployed[n] = true
	case h.Ending == Stuck:
		if _, known := w.last[h.Final]; !known {
			w.last[h.Final] = true
		}
	case h.Ending == TimedOut && w.overdue[n] == nil:
		w.overdue[n] = h
	}
	if h.Ending == Reached || h.Ending == Superseded {
		return
	}
	w.ended[h.revision] = h
	if h.Ending == Stuck { // other revisions may take the whole time to come as far
		return
	}
	if w.vain[n].IsZero() {
		w.vain[n] = time.Now()
	}
}

// endOf returns how a poll of the revision, or of one of the deployment, ended before, where there is no reason to wait again:
// one that hangs would otherwise cost every scenario that meets it the whole time.
func (w *waits) endOf(id string) (Ending, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.ended[id]
	if h == nil || h.Ending == CutShort && w.deployed[w.need(h.revision)] {
		return Reached, false
	}
	return h.Ending, true
}

// leaves notes that a revision went from a status to another one: it is not the last one.
func (w *waits) leaves(status string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[status] = false
}

// isLast tells whether another revision stayed in this status outside the interface: the next one need not be watched as long.
func (w *waits) isLast(status string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last[status]
}

// staysIn returns the status outside the interface in which a revision stays, or "".
func (w *waits) staysIn(revision string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.ended[revision]; h != nil && h.Ending == Stuck {
		return h.Final
	}
	return ""
}

// settling notes that a deployment was waited for in vain.
func (w *waits) settling(deployment string, h *History) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended[deployment] = h
}

// limit is how long a poll that began then may last. It is the whole time as long as a revision for the same need was
// DEPLOYED, or none was waited for in vain.
func (w *waits) limit(revision string, began time.Time, whole time.Duration) (limit time.Duration, ending Ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.need(revision)
	vain := w.vain[n]
	if vain.IsZero() || w.deployed[n] {
		return whole, TimedOut
	}
	short := max(vain.Sub(began), 0) + whole/cutShort
	if short >= whole {
		return whole, TimedOut
	}
	return short, CutShort
}

// ExpectsFailure says that the source of a revision cannot be built: how long it takes says nothing about other revisions.
func (w *waits) ExpectsFailure(revision string) { w.note(revision, needFailure) }

// Overdue returns the first poll that ran out of its whole time and was for the same need as that of the revision; nil where
// there was none, or one such revision was DEPLOYED.
func (w *waits) Overdue(revision string) *History {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.need(revision)
	if w.deployed[n] {
		return nil
	}
	return w.overdue[n]
}

// Unjudged says why a poll that did not reach its end shows nothing: it has not lasted as long as the target may take. It is
// nil where the poll reached its end or ran out of its whole time.
func (p *Plane) Unjudged(h *History) error {
	if o := p.unjudged(h); o != nil {
		return o
	}
	return nil
}

func (p *Plane) unjudged(h *History) *outcome.Outcome {
	switch h.Ending {
	case CutShort:
		p.waits.mu.Lock()
		owner := p.waits.need(h.revision)
		p.waits.mu.Unlock()
		return outcome.Blocked("revision %s is %s; it was polled for less than timeouts.poll (%s), because an earlier revision never reached DEPLOYED (%s)",
			h.revision, h.Final, p.target.Config.Timeouts.Poll, owner).ByRequirement(string(owner))
	case Superseded:
		return outcome.Blocked("revision %s is %s, and the deployment has the later revision %s", h.revision, h.Final, h.later)
	case Stuck:
		return outcome.Blocked("revision %s stays %q, which is not one of the thirteen statuses (CP-POLL-1)", h.revision, h.Final).ByRequirement(string(needCreation))
	}
	return nil
}
