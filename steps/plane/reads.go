package plane

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Read is what the run knows of a revision from polling it.
type Read struct {
	First   *client.Answer // the earliest
	unknown time.Time      // since when every read showed UNKNOWN; zero where the last one did not
}

// noteRead remembers what a poll read of a revision.
func (p *Plane) noteRead(revision string, a *client.Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.reads[revision]
	if known.First == nil {
		known.First = a
	}
	switch {
	case a.Get("status").String() != statusUnknown:
		known.unknown = time.Time{}
	case known.unknown.IsZero():
		known.unknown = time.Now()
	}
	p.reads[revision] = known
}

// ReadOf returns what is known of a revision.
func (p *Plane) ReadOf(revision string) Read {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reads[revision]
}

// AwaitSettled waits until no revision of the deployment is going to change, and returns the first poll that ran out of
// time, if one did. An earlier revision that stays UNKNOWN counts as settled: the transitions are not part of the
// interface (section 3), and a target may stop reporting what it has superseded.
func (p *Plane) AwaitSettled(ctx context.Context, d *Deployment) (late *History, err error) {
	h, err := p.Poll(ctx, d.ID, d.Latest(), p.settled)
	if err != nil || h.TimedOut {
		return h, err
	}
	var unknown []string
	for _, revision := range d.Revisions[:len(d.Revisions)-1] {
		h, err := p.Poll(ctx, d.ID, revision, func(status string) bool { return status == statusUnknown || p.settled(status) })
		if err != nil || h.TimedOut {
			return h, err
		}
		if h.Final == statusUnknown {
			unknown = append(unknown, revision)
		}
	}
	enough := min(p.target.Config.Timeouts.Request, p.target.Config.Timeouts.Poll) // all of them wait at once: each since it was first UNKNOWN
	for _, revision := range unknown {
		h, err := p.Poll(ctx, d.ID, revision, func(status string) bool {
			since := p.ReadOf(revision).unknown
			return p.settled(status) || !since.IsZero() && time.Since(since) >= enough
		})
		if err != nil || h.TimedOut {
			return h, err
		}
	}
	return nil, nil
}
