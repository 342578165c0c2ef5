package plane

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
)

// If one poll has lasted timeouts.poll and no revision was DEPLOYED, the target probably deploys nothing, and each
// further poll would take as long. Later polls get 1/shortPart of timeouts.poll, so that ten of them one after another
// take half of it. They get at most longestShort, because timeouts.poll may allow builds of many minutes, and a poll
// reads the status several times in 12 seconds.
const (
	shortPart    = 20
	longestShort = 12 * time.Second
)

// A status outside the interface may be a vendor's intermediate step, such as WARMING_UP, or final. It gets 1/foreignPart
// of timeouts.poll to change. That is enough for one step of a deployment, and saves most of the time if the status is
// final.
const foreignPart = 4

// The owner of a poll is the requirement that fails if the revision does not reach the expected status. If a poll timed
// out, later polls with the same owner are cut short.
const (
	ownerOfCreation = "CP-POLL-1"
	ownerOfUpdate   = "CP-UPDATE-10"
	ownerOfFailure  = "CP-POLL-4"
)

// Observation has the observations of a revision in all polls of a test run.
type Observation struct {
	First    *exchange.Response // the earliest response
	Statuses []string           // each once, in the order in which they were seen
	Deployed time.Time          // when DEPLOYED was first read, or zero
	last     string             // the latest status
	changed  time.Time          // when it was first read
	revision string             // its id in the first poll
}

// polls has the observations of all polls of a test run, and decides how long a poll lasts.
type polls struct {
	testStart time.Time     // the start of the test run
	whole     time.Duration // timeouts.poll
	started   atomic.Uint64 // number of polls

	mu         sync.Mutex
	observed   map[string]Observation // by key of the revision, as in polling, owners and unfinished
	polling    map[string]int         // the number of polls in progress
	timeline   []reports.Transition
	owners     map[string]string   // ownerOfUpdate if missing
	unfinished map[string]*History // the latest poll that ended with TimedOut, CutShort or Stuck
	deployed   map[string]bool     // by owner: at least one revision was DEPLOYED
	timedOut   map[string]*History // by owner: the first poll that timed out
	final      map[string]bool     // by status: true if a revision was Stuck in it, false if a revision has left it
}

func newPolls(testStart time.Time, whole time.Duration) *polls {
	return &polls{testStart: testStart, whole: whole,
		observed: map[string]Observation{}, polling: map[string]int{}, owners: map[string]string{}, unfinished: map[string]*History{},
		deployed: map[string]bool{}, timedOut: map[string]*History{}, final: map[string]bool{}}
}

// begin notes the start of a poll of a revision. The returned function notes its end.
func (p *polls) begin(revision string) (end func()) {
	add := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.polling[exchange.IDKey(revision)] += n
	}
	add(1)
	return func() { add(-1) }
}

func (p *polls) record(deployment, revision string, a *exchange.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key, status := exchange.IDKey(revision), a.Get("status").String()
	known := p.observed[key]
	if known.First == nil {
		known.First, known.revision = a, revision
	} else if known.last != status {
		p.final[known.last] = false
	}
	if known.changed.IsZero() || known.last != status {
		known.changed = a.Ended()
	}
	known.last = status
	if known.Deployed.IsZero() && IsDeployed(status) {
		known.Deployed = a.Ended()
	}
	if !slices.Contains(known.Statuses, status) {
		known.Statuses = append(slices.Clip(known.Statuses), status)
		p.timeline = append(p.timeline, reports.Transition{Revision: known.revision, Deployment: deployment, Status: status,
			AtMS: time.Since(p.testStart).Milliseconds()})
	}
	p.observed[key] = known
}

// Waiting returns the polled revision that has had the same non-final status for the longest time, with this status and
// its first read. It returns "" if no such revision is polled.
func (p *polls) Waiting() (revision, status string, since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, o := range p.observed {
		isLonger := revision == "" || o.changed.Before(since)
		if isLonger && p.polling[key] > 0 && !IsSettled(CanonicalStatus(o.last)) {
			revision, status, since = o.revision, o.last, o.changed
		}
	}
	return revision, status, since
}

// Observed returns the observations of a revision.
func (p *polls) Observed(revision string) Observation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.observed[exchange.IDKey(revision)]
}

// SeenStatuses returns the statuses of this poll's revision in all polls, each once.
func (p *polls) SeenStatuses(h *History) []string { return p.Observed(h.revision).Statuses }

// Timeline returns the statuses in all polls in the order of their first reads, each once for each revision.
func (p *polls) Timeline() []reports.Transition {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.timeline)
}

// ExpectFailure notes that the source of a revision cannot be built, so that the duration of its poll does not affect the
// polls of other revisions.
func (p *polls) ExpectFailure(revision string) { p.setOwner(revision, ownerOfFailure) }

func (p *polls) setOwner(revision, requirement string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owners[exchange.IDKey(revision)] = requirement
}

// owner returns the requirement that owns the poll of a revision. The caller holds the lock.
func (p *polls) owner(revision string) string {
	if owner := p.owners[exchange.IDKey(revision)]; owner != "" {
		return owner
	}
	return ownerOfUpdate
}

// finish notes the ending of a poll.
func (p *polls) finish(h *History) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.owner, h.end = p.owner(h.revision), time.Now()
	_, isFinalKnown := p.final[h.Final]
	switch {
	case IsDeployed(h.Final):
		p.deployed[h.owner] = true
	case h.Ending == Stuck && !isFinalKnown:
		p.final[h.Final] = true
	case h.Ending == TimedOut && p.timedOut[h.owner] == nil:
		p.timedOut[h.owner] = h
	}
	if h.Ending != Reached && h.Ending != Superseded {
		p.unfinished[exchange.IDKey(h.revision)] = h
	}
}

// ending returns the ending of the poll if its revision would be read again at next, or Reached if the poll continues.
func (p *polls) ending(h *History, next time.Time) Ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	foreign := isForeign(h.Final)
	earlier := p.earlierEnding(h.revision)
	if earlier == Stuck && foreign {
		return Stuck
	}
	if earlier != Reached && earlier != Stuck {
		return earlier
	}
	if foreign && (p.final[h.Final] || next.After(h.changed.Add(p.whole/foreignPart))) {
		return Stuck
	}
	deadline, ending := p.deadline(h)
	if next.After(deadline) {
		return ending
	}
	return Reached
}

// earlierEnding returns the ending with which an earlier poll of the revision failed, or Reached if the revision must be
// polled. Without this, each scenario would wait the whole time for a revision that hangs. A poll that was cut short is
// repeated once another revision was DEPLOYED. The caller holds the lock.
func (p *polls) earlierEnding(revision string) Ending {
	h := p.unfinished[exchange.IDKey(revision)]
	if h == nil || h.Ending == CutShort && p.deployed[p.owner(revision)] {
		return Reached
	}
	return h.Ending
}

// deadline returns the deadline of the poll, and the ending of a poll that reaches it. The deadline is timeouts.poll
// after the start, unless an earlier poll with the same owner timed out and none has seen DEPLOYED. Then the poll gets a
// small part of that time, counted from the end of the earlier poll or from its own start, whichever is later. So polls
// in progress do not end at once when the first one times out. The caller holds the lock.
func (p *polls) deadline(h *History) (time.Time, Ending) {
	deadline := h.start.Add(p.whole)
	earlier := p.overdue(h.revision)
	if earlier == nil {
		return deadline, TimedOut
	}
	from := h.start
	if earlier.end.After(from) {
		from = earlier.end
	}
	if short := from.Add(min(p.whole/shortPart, longestShort)); short.Before(deadline) {
		return short, CutShort
	}
	return deadline, TimedOut
}

// left returns the time until the deadline of a poll.
func (p *polls) left(h *History) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	deadline, _ := p.deadline(h)
	return time.Until(deadline)
}

// Overdue returns the first poll that timed out and has the same owner as the poll of the revision. It returns nil if
// there is none, or if a revision with this owner was DEPLOYED.
func (p *polls) Overdue(revision string) *History {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.overdue(revision)
}

// overdue is Overdue for a caller that holds the lock.
func (p *polls) overdue(revision string) *History {
	owner := p.owner(revision)
	if p.deployed[owner] {
		return nil
	}
	return p.timedOut[owner]
}

// isHung reports whether a revision of the deployment hung, so that waiting for it again is useless.
func (p *polls) isHung(deployment string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for revision, h := range p.unfinished {
		if h.deployment == deployment && h.isLate() && p.earlierEnding(revision) != Reached {
			return true
		}
	}
	return false
}

// StuckStatus returns the status outside the interface in which the latest revision of a deployment stays, or "".
func (p *polls) StuckStatus(d *Deployment) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.unfinished[exchange.IDKey(d.Latest())]; h != nil && h.Ending == Stuck {
		return h.Final
	}
	return ""
}
