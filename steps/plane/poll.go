package plane

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// History is what one poll saw of a revision.
type History struct {
	deployment string
	revision   string
	Final      string // the status at the end of the poll
	Answer     *exchange.Response
	Ending     Ending
	later      string // the revision that superseded it
	begun      time.Time
	changed    time.Time // when the status was first seen to be what it is
	over       time.Time
	owner      string // the requirement that fails where such a poll ends in vain
}

// Ending says how a poll ended.
type Ending int

// How a poll ends. Only one that ran out of its whole time shows a violation.
const (
	Reached    Ending = iota // the status is one that was waited for
	TimedOut                 // timeouts.poll was over
	CutShort                 // it was not waited for as long: an earlier revision of the kind was not DEPLOYED in time
	Stuck                    // the status is not one of the thirteen in any way of writing, and did not change for a while
	Superseded               // the status is SKIPPED or INTERRUPTED, and the deployment names another one as its latest
)

// isLate tells whether the revision may still change.
func (h *History) isLate() bool { return h.Ending != Reached && h.Ending != Stuck }

// Poll reads the status of a revision until that of the interface which is meant satisfies the condition, less and less
// often, for at most the configured time. Running out of time is no error: the history says so. A revision for which
// the time ran out before is not waited for again, only looked at.
func (p *Plane) Poll(ctx context.Context, deployment, revision string, until func(status string) bool) (
	*History, error,
) {
	h := &History{deployment: deployment, revision: revision, begun: time.Now()}
	random := rand.New(rand.NewPCG(uint64(p.target.Seed), p.polls.begun.Add(1)))
	a, err := p.AwaitFound(ctx, RevisionPath(deployment, revision)) // it may just have been created
	for wait := p.target.Config.Polling.Interval; ; wait = min(wait*3/2, p.target.Config.Polling.MaxInterval) {
		if err != nil {
			return nil, err
		}
		status := a.Get("status")
		if !a.OK() || !status.Exists() {
			return nil, outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: "GET of the revision shows no status",
				Expected: "the revision with a status"})
		}
		if h.Answer == nil || h.Final != status.String() {
			h.changed = time.Now()
		}
		h.Answer, h.Final = a, status.String()
		p.polls.note(deployment, revision, a)
		over := until(Meant(h.Final))
		if !over {
			if err := p.supersedes(ctx, deployment, h); err != nil {
				return nil, err
			}
			over = h.Ending == Superseded || p.polls.endsInVain(h, wait)
		}
		limit, _ := p.polls.limit(h)
		p.target.Progress(target.Event{
			Kind: target.Polled, Name: revision, Text: h.Final,
			Elapsed: time.Since(h.begun), Left: limit - time.Since(h.begun), Over: over,
		})
		if over {
			p.polls.end(h)
			return h, nil
		}
		jitter := time.Duration(random.Int64N(int64(wait)/4 + 1))
		if err := client.Sleep(ctx, wait-wait/8+jitter); err != nil {
			return nil, err
		}
		a, err = p.GetRevision(ctx, deployment, revision)
	}
}

// supersedes notes in the history whether a later revision keeps this one from being DEPLOYED.
func (p *Plane) supersedes(ctx context.Context, deployment string, h *History) error {
	if status := Meant(h.Final); status != statusSkipped && status != statusInterrupted {
		return nil
	}
	a, err := p.GetDeployment(ctx, deployment)
	if err != nil {
		return err
	}
	latest := a.Get("latest_revision_id").String()
	if a.OK() && latest != "" && !strings.EqualFold(latest, h.revision) {
		h.Ending, h.later = Superseded, latest
	}
	return nil
}

// Seen returns all statuses of the revision of a poll that were seen, each once.
func (p *Plane) Seen(h *History) []string { return p.ReadOf(h.revision).Statuses }

// Settled is [Plane.Deployed] for those who only need a deployment that does not change any more: one that stays in a
// status outside the interface will do. Whether that is up is not known.
func (p *Plane) Settled(h *History) error {
	if h.Ending == Stuck {
		return nil
	}
	return p.Deployed(h)
}

// Deployed says what is wrong with a poll that was to end in DEPLOYED, in whatever way of writing.
func (p *Plane) Deployed(h *History) error {
	if IsDeployed(h.Final) {
		return nil
	}
	o := p.Unjudged(h)
	if o == nil {
		expected := StatusDeployed
		if h.Ending == TimedOut {
			expected += " within " + p.target.Config.Timeouts.Poll.String()
		}
		seen := strings.Join(p.Seen(h), ", ")
		o = outcome.Fails(h.Answer, outcome.Violation{Kind: outcome.NotFinished, Pointer: "/status",
			Summary: "The revision does not reach DEPLOYED", Expected: expected,
			Actual: fmt.Sprintf("%s (seen: %s)", h.Final, seen)})
		if h.Ending == TimedOut && IsKnown(h.Final) {
			o.Hinting("raise timeouts.poll if the target needs longer")
		}
	}
	return p.target.BlamingFixtures(o)
}

// Unjudged says why a poll that did not reach its end shows nothing: it has not lasted as long as the target may take.
// It is nil where the poll reached its end or ran out of its whole time.
func (p *Plane) Unjudged(h *History) *outcome.Outcome {
	switch h.Ending {
	case CutShort:
		return outcome.Blocked("revision %s is %s; it was polled for less than timeouts.poll (%s), because an earlier "+
			"revision never reached DEPLOYED (%s)", h.revision, h.Final, p.target.Config.Timeouts.Poll, h.owner).
			ByRequirement(h.owner)
	case Superseded:
		return outcome.Blocked("revision %s is %s, and the deployment has the later revision %s",
			h.revision, h.Final, h.later)
	case Stuck:
		return outcome.Blocked("revision %s stays %q, which is not one of the thirteen statuses (CP-POLL-1)",
			h.revision, h.Final).ByRequirement(string(needCreation))
	}
	return nil
}

// AwaitSettled waits until no revision of the deployment changes, and returns the first poll that timed out, or nil. A
// status outside the interface counts as settled if it stays. Superseded revisions may keep any status: the wait ends at
// [Plane.supersededUntil], and for UNKNOWN after timeouts.request.
func (p *Plane) AwaitSettled(ctx context.Context, d *Deployment) (late *History, err error) {
	h, err := p.Poll(ctx, d.ID, d.Latest(), IsSettled)
	if err != nil || h.isLate() {
		return h, err
	}
	until := p.supersededUntil(d)
	isOver := func() bool { return !until.IsZero() && !time.Now().Before(until) }
	var start time.Time // of the wait for UNKNOWN: all revisions wait at once
	enough := min(p.target.Config.Timeouts.Request, p.target.Config.Timeouts.Poll)
	waiting := d.Revisions[:len(d.Revisions)-1]
	for range 2 {
		var unknown []string
		for _, revision := range waiting {
			h, err := p.Poll(ctx, d.ID, revision, func(status string) bool {
				isUnknown := status == statusUnknown && (start.IsZero() || time.Since(start) >= enough)
				return IsSettled(status) || isUnknown || isOver()
			})
			if err != nil || h.isLate() {
				return h, err
			}
			if h.Final == statusUnknown {
				unknown = append(unknown, revision)
			}
		}
		waiting, start = unknown, time.Now()
	}
	return nil, nil
}

// supersededUntil returns the deadline for superseded revisions: the time at which the latest one was DEPLOYED plus the
// time that its deployment took. It returns the zero time if the latest one was not DEPLOYED.
func (p *Plane) supersededUntil(d *Deployment) time.Time {
	latest := p.ReadOf(d.Latest())
	if latest.Deployed.IsZero() {
		return time.Time{}
	}
	begun := latest.First.Sent
	if d.Naming != nil && d.Naming.Sent.Before(begun) {
		begun = d.Naming.Sent
	}
	return latest.Deployed.Add(latest.Deployed.Sub(begun))
}

// The statuses of a revision that decide something (section 3).
const (
	StatusDeployed    = "DEPLOYED"
	statusSkipped     = "SKIPPED"
	statusInterrupted = "INTERRUPTED"
	statusUnknown     = "UNKNOWN"
)

// IsKnown tells whether a status is one of the interface.
func IsKnown(status string) bool { return slices.Contains(spec.RevisionStatuses(), status) }

// Meant returns the status of the interface that a status of the target is, whatever its case and separators:
// "deployed", "Awaiting build". One that is none of these in any way of writing is returned as it is. That a status is
// not written as the interface has it is for CP-POLL-1 to judge; what depends on the status is judged all the same.
func Meant(status string) string {
	for _, known := range spec.RevisionStatuses() {
		if letters(known) == letters(status) {
			return known
		}
	}
	return status
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// letters is a status without its case and separators.
func letters(status string) string { return strings.ToUpper(separators.Replace(status)) }

// IsDeployed tells whether a status is DEPLOYED in some way of writing.
func IsDeployed(status string) bool { return letters(status) == StatusDeployed }

// IsFailed tells whether a status says that a revision has failed for good.
func IsFailed(status string) bool { return slices.Contains(spec.FailedStatuses(), status) }

// IsDone tells whether a revision is DEPLOYED or has failed for good.
func IsDone(status string) bool { return status == StatusDeployed || IsFailed(status) }

// IsSettled tells whether a revision does not change by itself any more.
func IsSettled(status string) bool {
	return status == statusSkipped || status == statusInterrupted || IsDone(status)
}
