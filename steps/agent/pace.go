package agent

import (
	"slices"
	"sync"
	"time"
)

// Runs that wait are given times that a slow target cannot miss by its slowness alone: at least MinHold, and many
// times what answers took lately, but for single slow ones. A scenario that lost its race tries again with twice the time.
const (
	// MinHold is the least time that a run is told to wait.
	MinHold = 400 * time.Millisecond
	// MaxHold bounds the time that a run is told to wait because of the pace.
	MaxHold = 10 * time.Second
	// perAnswer is how many times as long as an answer it is.
	perAnswer = 12
)

// Pace is how fast the target answers, as this run of the suite has seen it lately. Its zero value is ready for use, by many goroutines.
type Pace struct {
	answers     ring // that had nothing to wait for
	turnarounds ring // of runs that were told nothing to wait for, from their creation to their answer
}

// Turned adds how long a run took that was told nothing to wait for, and was not in the queue of the target.
func (p *Pace) Turned(d time.Duration) { p.turnarounds.add(d) }

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

// usual is how long three of four took at most: a moment in which the target was busy, or the suite, is no measure.
func (r *ring) usual() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(r.n, len(r.last))
	if n == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(r.last[:n]))[(n-1)*3/4]
}

// Answered adds how long an answer took that had nothing to wait for.
func (p *Pace) Answered(took time.Duration) { p.answers.add(took) }

// Turnaround is how long a run took that was told nothing to wait for, at worst; 0 where none was seen.
func (p *Pace) Turnaround() time.Duration { return p.turnarounds.worst() }

// Slowest is how long an answer took, at worst.
func (p *Pace) Slowest() time.Duration { return p.answers.worst() }

// Hold is how long a run is told to wait in the attempt, from 0.
func (p *Pace) Hold(attempt int) time.Duration {
	d := max(MinHold, perAnswer*p.answers.usual(), 3*p.turnarounds.usual()) << attempt
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
