package plane

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The statuses of a revision that decide something (section 3).
const (
	StatusDeployed    = "DEPLOYED"
	statusSkipped     = "SKIPPED"
	statusInterrupted = "INTERRUPTED"
	statusUnknown     = "UNKNOWN"
)

// History is what polling saw of one revision.
type History struct {
	revision string
	statuses []string // each once, in the order in which they were seen
	Final    string   // the status at the end of the poll
	Answer   *client.Answer
	Ending   Ending
	later    string // the revision that superseded it
}

// Poll reads the status of a revision until that of the interface which is meant satisfies the condition, less and less often, for at most the
// configured time. Running out of time is no error: the history says so. A revision for which the time ran out before
// is not waited for again, only looked at.
func (p *Plane) Poll(ctx context.Context, deployment, revision string, until func(status string) bool) (*History, error) {
	h := &History{revision: revision}
	start := time.Now()
	changed := start // when the status was first seen to be what it is
	for wait := p.target.Config.Polling.Interval; ; wait = min(wait*3/2, p.target.Config.Polling.MaxInterval) {
		a, err := p.Get(ctx, RevisionPath(deployment, revision), "")
		if err != nil {
			return nil, err
		}
		status := a.Get("status")
		if a.Refused() && len(h.statuses) == 0 && time.Since(start) < p.target.Config.Timeouts.Request {
			if err := client.Sleep(ctx, wait); err != nil { // just created, and not yet to be seen
				return nil, err
			}
			continue
		}
		if !a.OK() || !status.Exists() {
			return nil, outcome.Violated(a, "the revision with a status", "%s", outcome.Seen(a))
		}
		h.Answer, h.Final = a, status.String()
		p.reads.note(deployment, revision, a)
		if n := len(h.statuses); n == 0 || h.statuses[n-1] != h.Final {
			if n > 0 {
				p.waits.leaves(h.statuses[n-1])
			}
			h.statuses = append(h.statuses, h.Final)
			changed = time.Now()
		}
		over := until(p.Statuses.Meant(h.Final))
		if !over {
			if err := p.supersedes(ctx, deployment, h); err != nil {
				return nil, err
			}
			over = h.Ending == Superseded || p.endsInVain(h, start, changed, wait)
		}
		limit, _ := p.waits.limit(revision, start, p.target.Config.Timeouts.Poll)
		p.target.Progress(target.Event{Kind: target.Polled, Name: revision, Text: h.Final, Elapsed: time.Since(start), Left: limit - time.Since(start), Over: over})
		if over {
			p.waits.end(h)
			return h, nil
		}
		jitter := time.Duration(rand.Int64N(int64(wait)/4 + 1))
		if err := client.Sleep(ctx, wait-wait/8+jitter); err != nil {
			return nil, err
		}
	}
}

// supersedes notes in the history whether a later revision keeps this one from being DEPLOYED.
func (p *Plane) supersedes(ctx context.Context, deployment string, h *History) error {
	if status := p.Statuses.Meant(h.Final); status != statusSkipped && status != statusInterrupted {
		return nil
	}
	a, err := p.Get(ctx, DeploymentPath(deployment), "")
	if err != nil {
		return err
	}
	if latest := a.Get("latest_revision_id").String(); a.OK() && latest != "" && !strings.EqualFold(latest, h.revision) {
		h.Ending, h.later = Superseded, latest
	}
	return nil
}

// endsInVain tells whether there is no reason to wait for another status, and notes in the history what ended the poll.
func (p *Plane) endsInVain(h *History, start, changed time.Time, wait time.Duration) bool {
	whole := p.target.Config.Timeouts.Poll
	strange := !p.Statuses.IsKnown(p.Statuses.Meant(h.Final))
	if earlier, known := p.waits.endOf(h.revision); known && (earlier != Stuck || strange) {
		h.Ending = earlier
		return true
	}
	if strange && (p.waits.isLast(h.Final) || time.Since(changed)+wait > whole/stuck) {
		h.Ending = Stuck
		return true
	}
	limit, ending := p.waits.limit(h.revision, start, whole)
	if time.Since(start)+wait > limit {
		h.Ending = ending
		return true
	}
	return false
}

// Settled says what is wrong with a poll that was to end in DEPLOYED, for those who only need a deployment that does not change
// any more: one whose revision stays in a status outside the interface will do, too. Whether such a deployment is up is not
// known.
func (p *Plane) Settled(h *History) error {
	if h.Ending == Stuck {
		return nil
	}
	return p.Deployed(h)
}

// StaysIn returns the status outside the interface in which the latest revision of a deployment stays, or "".
func (p *Plane) StaysIn(d *Deployment) string { return p.waits.staysIn(d.Latest()) }

// Deployed says what is wrong with a poll that was to end in DEPLOYED, in whatever way of writing.
func (p *Plane) Deployed(h *History) error {
	if isDeployed(h.Final) {
		return nil
	}
	o := p.unjudged(h)
	if o == nil {
		expected := StatusDeployed
		if h.Ending == TimedOut {
			expected += " within " + p.target.Config.Timeouts.Poll.String()
		}
		o = outcome.Violated(h.Answer, expected, "%s (seen: %s)", h.Final, strings.Join(h.statuses, ", ")).At("/status")
		if h.Ending == TimedOut && p.Statuses.IsKnown(h.Final) {
			o.Hinting("raise timeouts.poll if the target needs longer")
		}
	}
	return p.target.BlamingFixtures(o)
}

// Statuses are those of a revision, from the contract (section 3).
type Statuses struct{ known, failed []string }

func statusesOfContract() Statuses { return Statuses{spec.RevisionStatuses(), spec.FailedStatuses()} }

// Known lists all statuses of the interface.
func (s Statuses) Known() []string { return s.known }

// IsKnown tells whether a status is one of the interface.
func (s Statuses) IsKnown(status string) bool { return slices.Contains(s.known, status) }

// Meant returns the status of the interface that a status of the target is, whatever its case and separators: "deployed",
// "Awaiting build". One that is none of these in any way of writing is returned as it is. That a status is not written as the
// interface has it is for CP-POLL-1 to judge; what depends on the status is judged all the same.
func (s Statuses) Meant(status string) string {
	if s.IsKnown(status) {
		return status
	}
	at := slices.IndexFunc(s.known, func(known string) bool { return letters(known) == letters(status) })
	if at < 0 {
		return status
	}
	return s.known[at]
}

// letters is a status without its case and separators.
func letters(status string) string {
	return strings.ToUpper(strings.NewReplacer("_", "", "-", "", " ", "").Replace(status))
}

// isDeployed tells whether a status is DEPLOYED in some way of writing.
func isDeployed(status string) bool { return letters(status) == StatusDeployed }

// IsFailed tells whether a status says that a revision has failed for good.
func (s Statuses) IsFailed(status string) bool { return slices.Contains(s.failed, status) }

// Done tells whether a revision is DEPLOYED or has failed for good.
func (s Statuses) Done(status string) bool { return status == StatusDeployed || s.IsFailed(status) }

// settled tells whether a revision does not change by itself any more.
func (s Statuses) settled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || s.Done(status)
}
