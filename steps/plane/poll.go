package plane

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// History has the observations of one poll of a revision.
type History struct {
	deployment string
	revision   string
	owner      string // the requirement that fails if the revision is never DEPLOYED
	start      time.Time

	Response *exchange.Response // the last one
	Final    string             // the status in it
	changed  time.Time          // when the status last changed
	Ending   Ending
	later    string // the revision that superseded this one
	end      time.Time
}

// Ending is the way in which a poll ended.
type Ending int

// The endings of a poll. Only TimedOut shows a violation.
const (
	Reached    Ending = iota // the status satisfies the condition
	TimedOut                 // the poll lasted timeouts.poll
	CutShort                 // the poll had an earlier deadline, because an earlier poll timed out
	Stuck                    // the status is not one of the interface in any spelling, and did not change
	Superseded               // the status is SKIPPED or INTERRUPTED, and the deployment has a later revision
)

// isLate reports whether the revision may still change after the poll.
func (h *History) isLate() bool { return h.Ending != Reached && h.Ending != Stuck }

// Poll reads the status of a revision until its canonical form satisfies the condition. The pause between two reads
// starts at polling.interval and grows by half each time, up to polling.max_interval.
//
// A poll has one deadline: timeouts.poll after its start, or earlier if another poll has timed out (see
// [polls.deadline]). It also ends if further reads would show nothing new: the deployment has a later revision, the
// status is not in the interface and does not change, or an earlier poll of the same revision ended for one of these
// reasons. These are not errors: the history's Ending has the reason.
func (p *Plane) Poll(ctx context.Context, deployment, revision string, until func(status string) bool) (
	*History, error,
) {
	h := &History{deployment: deployment, revision: revision, start: time.Now()}
	random := rand.New(rand.NewPCG(uint64(p.target.Seed), p.polls.started.Add(1)))
	wait := p.target.Config.Polling.Interval
	a, err := p.AwaitFound(ctx, RevisionPath(deployment, revision)) // the revision may just have been created
	if err != nil {
		return nil, err
	}
	end := p.polls.begin(revision)
	defer func() {
		if ctx.Err() == nil { // if the test run was stopped, the poll still waited
			end()
		}
	}()
	for {
		if err := h.add(a); err != nil {
			return nil, err
		}
		p.polls.record(deployment, revision, a)
		isOver, err := p.isOver(ctx, h, until, wait)
		if err != nil {
			return nil, err
		}
		p.target.Progress(target.Event{
			Kind: target.Polled, Name: revision, Text: h.Final,
			Elapsed: time.Since(h.start), Left: p.polls.left(h), Over: isOver,
		})
		if isOver {
			p.polls.finish(h)
			return h, nil
		}
		jitter := time.Duration(random.Int64N(int64(wait)/4 + 1))
		if err := client.Sleep(ctx, wait-wait/8+jitter); err != nil {
			return nil, err
		}
		a, err = p.GetRevision(ctx, deployment, revision)
		if err != nil {
			return nil, err
		}
		wait = min(wait*3/2, p.target.Config.Polling.MaxInterval)
	}
}

// add adds a response to the history. It returns an error if the response has no status.
func (h *History) add(a *exchange.Response) error {
	status := a.Get("status")
	if !a.OK() || !status.Exists() {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: "GET of the revision shows no status",
			Expected: "2xx, with a status"})
	}
	if h.Response == nil || h.Final != status.String() {
		h.changed = time.Now()
	}
	h.Response, h.Final = a, status.String()
	return nil
}

// isOver reports whether the poll ends with the last response, and sets its ending. Otherwise the revision is read again
// after the wait.
func (p *Plane) isOver(ctx context.Context, h *History, until func(status string) bool, wait time.Duration) (
	bool, error,
) {
	if until(CanonicalStatus(h.Final)) {
		return true, nil
	}
	later, err := p.successor(ctx, h)
	if err != nil {
		return false, err
	}
	if later != "" {
		h.Ending, h.later = Superseded, later
		return true, nil
	}
	h.Ending = p.polls.ending(h, time.Now().Add(wait))
	return h.Ending != Reached, nil
}

// successor returns the later revision because of which this one will not be DEPLOYED, or "". Only a SKIPPED or
// INTERRUPTED revision has one.
func (p *Plane) successor(ctx context.Context, h *History) (string, error) {
	status := CanonicalStatus(h.Final)
	if status != statusSkipped && status != statusInterrupted {
		return "", nil
	}
	a, err := p.GetDeployment(ctx, h.deployment)
	if err != nil {
		return "", err
	}
	latest := a.Get("latest_revision_id").String()
	if !a.OK() || exchange.SameID(latest, h.revision) {
		return "", nil
	}
	return latest, nil
}

// Judged returns the values of a poll for a judgement.
func (p *Plane) Judged(h *History) judge.Poll {
	values := judge.Poll{Response: h.Response, Final: h.Final, Canonical: CanonicalStatus(h.Final), Seen: p.SeenStatuses(h)}
	if h.Ending == TimedOut {
		values.Timeout = p.target.Config.Timeouts.Poll
	}
	return values
}

// CheckUsable returns nil if the deployment can be used: the poll saw DEPLOYED in any spelling, or a status outside the
// interface that did not change. Its agent server may still not serve. Otherwise CheckUsable returns an outcome.
func (p *Plane) CheckUsable(h *History) error {
	if h.Ending == Stuck {
		return nil
	}
	return p.checkDeployed(h)
}

// checkDeployed returns nil if the poll saw DEPLOYED in any spelling. Otherwise it returns a violation, or the outcome of
// [Plane.CheckWhole].
func (p *Plane) checkDeployed(h *History) error {
	if IsDeployed(h.Final) {
		return nil
	}
	o := p.CheckWhole(h)
	if o == nil {
		o = p.notDeployed(h)
	}
	return p.target.BlamingFixtures(o)
}

func (p *Plane) notDeployed(h *History) *outcome.Outcome {
	expected := StatusDeployed
	if h.Ending == TimedOut {
		expected += " within " + p.target.Config.Timeouts.Poll.String()
	}
	seen := strings.Join(p.SeenStatuses(h), ", ")
	o := outcome.Fails(h.Response, outcome.Violation{Kind: outcome.NotFinished, Pointer: "/status",
		Summary: "A revision does not reach DEPLOYED", Expected: expected,
		Actual: fmt.Sprintf("%s (seen: %s)", h.Final, seen)})
	if h.Ending == TimedOut && IsKnown(h.Final) {
		o.Hinting("raise timeouts.poll if the target needs longer")
	}
	return o
}

// CheckWhole returns a blocked outcome if the poll ended before both the end of the revision and timeouts.poll, because
// it then shows no violation. Otherwise it returns nil.
func (p *Plane) CheckWhole(h *History) *outcome.Outcome {
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
			h.revision, h.Final).ByRequirement(ownerOfCreation)
	}
	return nil
}

// AwaitSettled waits until no revision of the deployment changes. It returns the first poll that ended too early, or nil.
// A status outside the interface counts as settled if it does not change. Superseded revisions may keep any status: the
// wait for them ends at [Plane.supersededUntil], or after timeouts.request for UNKNOWN.
func (p *Plane) AwaitSettled(ctx context.Context, d *Deployment) (late *History, err error) {
	h, err := p.Poll(ctx, d.ID, d.Latest(), IsSettled)
	if err != nil || h.isLate() {
		return h, err
	}
	older := d.Revisions[:len(d.Revisions)-1]
	deadline := p.supersededUntil(d)
	isOver := func() bool { return !deadline.IsZero() && !time.Now().Before(deadline) }
	var unknown []string
	for _, revision := range older {
		h, err := p.Poll(ctx, d.ID, revision, func(status string) bool {
			return status == statusUnknown || IsSettled(status) || isOver()
		})
		if err != nil || h.isLate() {
			return h, err
		}
		if h.Final == statusUnknown {
			unknown = append(unknown, revision)
		}
	}
	start := time.Now() // all revisions that are UNKNOWN wait at the same time
	enough := min(p.target.Config.Timeouts.Request, p.target.Config.Timeouts.Poll)
	for _, revision := range unknown {
		h, err := p.Poll(ctx, d.ID, revision, func(status string) bool {
			return status == statusUnknown && time.Since(start) >= enough || IsSettled(status) || isOver()
		})
		if err != nil || h.isLate() {
			return h, err
		}
	}
	return nil, nil
}

// supersededUntil returns the deadline for superseded revisions: the time at which the latest revision was DEPLOYED, plus
// the time that its deployment took. It returns the zero time if the latest revision was not DEPLOYED.
func (p *Plane) supersededUntil(d *Deployment) time.Time {
	latest := p.Observed(d.Latest())
	if latest.Deployed.IsZero() {
		return time.Time{}
	}
	start := latest.First.Sent
	if d.Naming != nil && d.Naming.Sent.Before(start) {
		start = d.Naming.Sent
	}
	return latest.Deployed.Add(latest.Deployed.Sub(start))
}
