package plane

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Read is what the run knows of a revision from polling it.
type Read struct {
	First    *client.Answer // the earliest
	Statuses []string       // each once, in the order in which they were seen
	unknown  time.Time      // since when every read showed UNKNOWN; zero where the last one did not
}

// reads are what polls read of revisions.
type reads struct {
	start time.Time // of the run

	mu       sync.Mutex
	of       map[string]Read // by revision
	timeline []reports.Transition
}

// note remembers what a poll read of a revision.
func (r *reads) note(deployment, revision string, a *client.Answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, status := r.of[revision], a.Get("status").String()
	if known.First == nil {
		known.First = a
	}
	switch {
	case status != statusUnknown:
		known.unknown = time.Time{}
	case known.unknown.IsZero():
		known.unknown = time.Now()
	}
	if !slices.Contains(known.Statuses, status) {
		known.Statuses = append(slices.Clip(known.Statuses), status)
		r.timeline = append(r.timeline, reports.Transition{Revision: revision, Deployment: deployment, Status: status,
			AtMS: time.Since(r.start).Milliseconds()})
	}
	r.of[revision] = known
}

// ReadOf returns what is known of a revision.
func (r *reads) ReadOf(revision string) Read {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of[revision]
}

// Timeline returns the statuses that polling saw, each once for each revision, in the order in which they were seen.
func (r *reads) Timeline() []reports.Transition {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.timeline)
}

// AwaitSettled waits until no revision of the deployment is going to change (one that stays in a status outside the interface
// is not), and returns the first poll that did not reach
// its end, if there was one. An earlier revision that stays UNKNOWN counts as settled: the transitions are not part of the
// interface (section 3), and a target may stop reporting what it has superseded.
func (p *Plane) AwaitSettled(ctx context.Context, d *Deployment) (late *History, err error) {
	h, err := p.Poll(ctx, d.ID, d.Latest(), p.Statuses.settled)
	if err != nil || h.Ending != Reached && h.Ending != Stuck {
		return h, err
	}
	var unknown []string
	for _, revision := range d.Revisions[:len(d.Revisions)-1] {
		h, err := p.Poll(ctx, d.ID, revision, func(status string) bool { return status == statusUnknown || p.Statuses.settled(status) })
		if err != nil || h.Ending != Reached && h.Ending != Stuck {
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
			return p.Statuses.settled(status) || !since.IsZero() && time.Since(since) >= enough
		})
		if err != nil || h.Ending != Reached && h.Ending != Stuck {
			return h, err
		}
	}
	return nil, nil
}

// CreatedAsAtFirst compares the created_at of answers with the earliest read of the run, at which the revision was still being built. The two
// reads may differ in precision: one may be of a time that has not been through the target's store.
func (r *reads) CreatedAsAtFirst(answers []*client.Answer) error {
	compared := 0
	for _, a := range answers {
		if !a.OK() {
			return outcome.Blocked("the revision cannot be retrieved: %s", outcome.Seen(a))
		}
		first := r.ReadOf(a.Get("id").String()).First
		if first == nil {
			continue // what is answered under another id is the concern of another requirement
		}
		compared++
		was, is := first.Get("created_at"), a.Get("created_at")
		same, comparable := SameInstant(was, is)
		if !comparable {
			return outcome.Inconclusive("the revision has no created_at to compare")
		}
		if !same {
			return outcome.Violated(a, "created_at "+outcome.Shown(was)+" as at the first read, when the status was "+outcome.Shown(first.Get("status")), "%s", outcome.Shown(is)).At("/created_at").Comparing(a, first)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no revision is returned under the id that was polled")
	}
	return nil
}

// Instant reads a date-time of any offset and precision.
func Instant(v gjson.Result) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v.String())) // RFC 3339 allows a small t and z
	return t, err == nil
}

// SameInstant compares two date-times as exactly as the coarser of them is written.
func SameInstant(a, b gjson.Result) (same, comparable bool) {
	at, ok := Instant(a)
	bt, ok2 := Instant(b)
	if !ok || !ok2 {
		return false, false
	}
	if at.Equal(bt) {
		return true, true
	}
	finer, coarser := digits(a.String()), digits(b.String())
	if finer == coarser {
		return false, true
	}
	unit := time.Second
	for range min(finer, coarser) {
		unit /= 10
	}
	return at.Sub(bt).Abs() < unit, true
}

// digits counts those of the fraction of a second.
func digits(dateTime string) int {
	_, fraction, _ := strings.Cut(dateTime, ".")
	return len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
}
