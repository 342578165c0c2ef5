// Package pace measures how fast a target answers, and says from that how long runs are told to wait and how long the suite
// waits for what should happen. It sends nothing.
package pace

import (
	"sync"
	"sync/atomic"
	"time"
)

// Runs that wait are given times that a slow target cannot miss by its slowness alone: at least MinHold, and many
// times what answers took lately. A scenario that lost its race tries again with twice the time.
const (
	// MinHold is the least time that a run is told to wait where a judgement depends on it.
	MinHold   = 400 * time.Millisecond
	shortHold = 150 * time.Millisecond
	// MaxHold bounds the time that a run is told to wait because of the pace.
	MaxHold = 10 * time.Second
	// perAnswer is how many times as long as an answer it is.
	perAnswer = 12
)

// Pace is how fast the target answers, as this run of the suite has seen it lately. Its zero value is ready for use, by many goroutines.
type Pace struct {
	answers     ring         // that had nothing to wait for
	turnarounds ring         // of runs that were told nothing to wait for, from their creation to their answer
	queued      atomic.Int64 // where the target has a queue: the longest turnaround that is not taken for the time in it
}

// Turned adds how long a run took that was told nothing to wait for, unless it is the time in the queue of the target: the longer runs wait there, the longer others would
// be told to wait.
func (p *Pace) Turned(d time.Duration) {
	if most := time.Duration(p.queued.Load()); most == 0 || d <= most {
		p.turnarounds.add(d)
	}
}

// HasQueue says that the target has a queue. What was seen before was seen without one.
func (p *Pace) HasQueue() { p.queued.Store(int64(2 * max(p.turnarounds.worst(), 10*time.Millisecond))) }

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

func (r *ring) worst() (longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.last {
		longest = max(longest, d)
	}
	return longest
}

// Answered adds how long an answer took that had nothing to wait for.
func (p *Pace) Answered(took time.Duration) { p.answers.add(took) }

// Turnaround is how long a run took that was told nothing to wait for, at worst; 0 where none was seen.
func (p *Pace) Turnaround() time.Duration { return p.turnarounds.worst() }

// Slowest is how long an answer took, at worst.
func (p *Pace) Slowest() time.Duration { return p.answers.worst() }

// HoldAt is how long a run is told to wait at a target that answers in that time.
func HoldAt(answer time.Duration) time.Duration { return min(max(MinHold, perAnswer*answer), MaxHold) }

// Hold is how long a run is told to wait in the attempt, from 0.
func (p *Pace) Hold(attempt int) time.Duration { return p.holdAtLeast(MinHold, attempt) }

// ShortHold is Hold where no judgement depends on it.
func (p *Pace) ShortHold(attempt int) time.Duration { return p.holdAtLeast(shortHold, attempt) }

func (p *Pace) holdAtLeast(least time.Duration, attempt int) time.Duration {
	d := max(least, perAnswer*p.Slowest(), 3*p.turnarounds.worst()) << attempt
	return min(d, MaxHold).Round(time.Millisecond)
}

// Slack is how much later than expected things may happen.
func (p *Pace) Slack() time.Duration {
	return max(50*time.Millisecond, 3*p.Slowest(), p.turnarounds.worst())
}

// Patience is how long to wait for what should be there already, before looking in another way.
func (p *Pace) Patience() time.Duration { return max(time.Second, 6*p.Slack()) }

// Prompt is the time within which something that has nothing to wait for is answered.
func (p *Pace) Prompt() time.Duration { return max(time.Second, 8*p.Slowest()) }
