package agent

import (
	"sync"
	"sync/atomic"
	"time"
)

// Pace is how fast the target answers, as this run has seen it lately.
type Pace struct {
	answers     ring         // that had nothing to wait for
	Turnarounds ring         // of runs that were told nothing to wait for, from their creation to their answer
	queued      atomic.Int64 // where the target has a queue: the longest turnaround that is not taken for the time in it
}

// turned adds a turnaround, unless it is the time in the queue of the target: the longer runs wait there, the longer others would
// be told to wait.
func (p *Pace) turned(d time.Duration) {
	if most := time.Duration(p.queued.Load()); most == 0 || d <= most {
		p.Turnarounds.add(d)
	}
}

// hasQueue says that the target has a queue. What was seen before was seen without one.
func (p *Pace) hasQueue() { p.queued.Store(int64(2 * max(p.Turnarounds.Worst(), 10*time.Millisecond))) }

// ring keeps the last of many durations. Its zero value is ready for use.
type ring struct {
	mu   sync.Mutex
	last [32]time.Duration
	n    int
}

func (r *ring) add(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[r.n%len(r.last)] = d
	r.n++
}

func (r *ring) Worst() (worst time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.last {
		worst = max(worst, d)
	}
	return worst
}

// Slowest is how long an answer took, at worst.
func (p *Pace) Slowest() time.Duration { return p.answers.Worst() }

// Hold is how long a run is told to wait in the attempt, from 0.
func (p *Pace) Hold(attempt int) time.Duration { return p.holdAtLeast(minHold, attempt) }

func (p *Pace) holdAtLeast(least time.Duration, attempt int) time.Duration {
	d := max(least, 12*p.Slowest(), 3*p.Turnarounds.Worst()) << attempt
	return min(d, maxHold).Round(time.Millisecond)
}

// Slack is how much later than expected things may happen.
func (p *Pace) Slack() time.Duration {
	return max(50*time.Millisecond, 3*p.Slowest(), p.Turnarounds.Worst())
}

// Patience is how long to wait for what should be there already, before looking in another way.
func (p *Pace) Patience() time.Duration { return max(time.Second, 6*p.Slack()) }

// Prompt is the time within which something that has nothing to wait for is answered.
func (p *Pace) Prompt() time.Duration { return max(time.Second, 8*p.Slowest()) }
