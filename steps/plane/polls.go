package plane

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// A wait after one that was in vain gets the part 1/cutShort of timeouts.poll, or longestCut. The polls of a run one
// after another stay below half of timeouts.poll so.
const (
	cutShort   = 20
	longestCut = 12 * time.Second
)

// A status outside the interface that does not change is waited for during the part 1/stuck of timeouts.poll.
const stuck = 4

// need is what a revision is polled for, named by the requirement that fails where it is in vain. What one revision did
// not do, another one for the same need is not expected to do.
type need string

const (
	needCreation need = "CP-POLL-1"
	needUpdate   need = "CP-UPDATE-10"
	needFailure  need = "CP-POLL-4"
)

// Read is what the run knows of a revision from polling it.
type Read struct {
	First    *exchange.Response // the earliest
	Statuses []string           // each once, in the order in which they were seen
	Deployed time.Time          // first read with status DEPLOYED; zero if there was none
	last     string
}

// polls are what the polls of a run have seen, and what that says about later ones.
type polls struct {
	start time.Time     // of the run
	whole time.Duration // timeouts.poll
	begun atomic.Uint64 // how many polls have begun

	mu       sync.Mutex
	reads    map[string]Read // by revision
	timeline []reports.Transition
	needs    map[string]need     // by revision; needUpdate where it is not in it
	ended    map[string]*History // by revision: a poll that did not reach its end
	deployed map[need]bool       // at least one revision was DEPLOYED
	overdue  map[need]*History   // the first poll that ran out of its whole time
	last     map[string]bool     // statuses outside the interface: whether a revision stayed in it, and none left it
}

func newPolls(start time.Time, whole time.Duration) *polls {
	return &polls{start: start, whole: whole,
		reads: map[string]Read{}, needs: map[string]need{}, ended: map[string]*History{},
		deployed: map[need]bool{}, overdue: map[need]*History{}, last: map[string]bool{}}
}

// note remembers what a poll read of a revision.
func (p *polls) note(deployment, revision string, a *exchange.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, status := p.reads[revision], a.Get("status").String()
	if known.First == nil {
		known.First = a
	} else if known.last != status {
		p.last[known.last] = false
	}
	known.last = status
	if known.Deployed.IsZero() && IsDeployed(status) {
		known.Deployed = a.Ended()
	}
	if !slices.Contains(known.Statuses, status) {
		known.Statuses = append(slices.Clip(known.Statuses), status)
		p.timeline = append(p.timeline, reports.Transition{Revision: revision, Deployment: deployment, Status: status,
			AtMS: time.Since(p.start).Milliseconds()})
	}
	p.reads[revision] = known
}

// ReadOf returns what is known of a revision.
func (p *polls) ReadOf(revision string) Read {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[revision]
}

// Timeline returns the statuses that polling saw, each once for each revision, in the order in which they were seen.
func (p *polls) Timeline() []reports.Transition {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.timeline)
}

// expects says what a revision is polled for.
func (p *polls) expects(revision string, n need) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.needs[revision] = n
}

// ExpectsFailure says that the source of a revision cannot be built: it tells nothing of how long others take.
func (p *polls) ExpectsFailure(revision string) { p.expects(revision, needFailure) }

// need is what a revision is polled for. The caller holds the lock.
func (p *polls) need(revision string) need { return cmp.Or(p.needs[revision], needUpdate) }

// end notes how a poll ended.
func (p *polls) end(h *History) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.need(h.revision)
	h.over, h.owner = time.Now(), string(n)
	switch _, known := p.last[h.Final]; {
	case IsDeployed(h.Final):
		p.deployed[n] = true
	case h.Ending == Stuck && !known:
		p.last[h.Final] = true
	case h.Ending == TimedOut && p.overdue[n] == nil:
		p.overdue[n] = h
	}
	if h.Ending != Reached && h.Ending != Superseded {
		p.ended[h.revision] = h
	}
}

// endOf returns how a poll of the revision ended before, where there is no reason to wait again: one that hangs would
// otherwise cost every scenario that meets it the whole time. The caller holds the lock.
func (p *polls) endOf(revision string) (Ending, bool) {
	h := p.ended[revision]
	if h == nil || h.Ending == CutShort && p.deployed[p.need(revision)] {
		return Reached, false
	}
	return h.Ending, true
}

// endsInVain tells whether there is no reason to wait for another status, and notes in the history what ended the poll.
// A status outside the interface in which another revision stayed need not be watched as long.
func (p *polls) endsInVain(h *History, wait time.Duration) bool {
	limit, ending := p.limit(h)
	p.mu.Lock()
	defer p.mu.Unlock()
	earlier, known := p.endOf(h.revision)
	strange := !IsKnown(Meant(h.Final))
	switch {
	case known && (earlier != Stuck || strange):
		h.Ending = earlier
	case strange && (p.last[h.Final] || time.Since(h.changed)+wait > p.whole/stuck):
		h.Ending = Stuck
	case time.Since(h.begun)+wait > limit:
		h.Ending = ending
	default:
		return false
	}
	return true
}

// hung tells whether there is no reason to wait for a revision of the deployment: one of them hung.
func (p *polls) hung(deployment string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for revision, h := range p.ended {
		if _, known := p.endOf(revision); known && h.isLate() && h.deployment == deployment {
			return true
		}
	}
	return false
}

// StaysIn returns the status outside the interface in which the latest revision of a deployment stays, or "".
func (p *polls) StaysIn(d *Deployment) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.ended[d.Latest()]; h != nil && h.Ending == Stuck {
		return h.Final
	}
	return ""
}

// limit is how long a poll may last. It is the whole time as long as a revision for the same need was DEPLOYED, or none
// was waited for in vain. A poll that began with that one gets its whole time, too.
func (p *polls) limit(h *History) (limit time.Duration, ending Ending) {
	if overdue := p.Overdue(h.revision); overdue != nil {
		if short := max(overdue.over.Sub(h.begun), 0) + min(p.whole/cutShort, longestCut); short < p.whole {
			return short, CutShort
		}
	}
	return p.whole, TimedOut
}

// Overdue returns the first poll that ran out of its whole time and was for the same need as that of the revision; nil
// where there was none, or one such revision was DEPLOYED.
func (p *polls) Overdue(revision string) *History {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.need(revision)
	if p.deployed[n] {
		return nil
	}
	return p.overdue[n]
}
