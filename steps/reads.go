package steps

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// read is what the run knows of a revision from polling it.
type read struct {
	first   *client.Answer // the earliest
	unknown time.Time      // since when every read showed UNKNOWN; zero where the last one did not
}

// noteRead remembers what a poll read of a revision.
func (r *run) noteRead(revision string, a *client.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.reads[revision]
	if known.first == nil {
		known.first = a
	}
	switch {
	case a.Get("status").String() != statusUnknown:
		known.unknown = time.Time{}
	case known.unknown.IsZero():
		known.unknown = time.Now()
	}
	r.reads[revision] = known
}

// readOf returns what is known of a revision.
func (r *run) readOf(revision string) read {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reads[revision]
}

// awaitCalm waits until no revision of the deployment is going to change, and returns the first poll that ran out of
// time, if one did. An earlier revision that stays UNKNOWN counts as settled: the transitions are not part of the
// interface (section 3), and a target may lose sight of what it has superseded.
func (r *run) awaitCalm(ctx context.Context, d *deployment) (late *history, err error) {
	h, err := r.poll(ctx, d.id, d.latest(), r.settled)
	if err != nil || h.timedOut {
		return h, err
	}
	var unknown []string
	for _, revision := range d.revisions[:len(d.revisions)-1] {
		h, err := r.poll(ctx, d.id, revision, func(status string) bool { return status == statusUnknown || r.settled(status) })
		if err != nil || h.timedOut {
			return h, err
		}
		if h.final == statusUnknown {
			unknown = append(unknown, revision)
		}
	}
	enough := min(r.config.Timeouts.Request, r.config.Timeouts.Poll) // all of them wait at once: each since it was first UNKNOWN
	for _, revision := range unknown {
		h, err := r.poll(ctx, d.id, revision, func(status string) bool {
			since := r.readOf(revision).unknown
			return r.settled(status) || !since.IsZero() && time.Since(since) >= enough
		})
		if err != nil || h.timedOut {
			return h, err
		}
	}
	return nil, nil
}
