package forecast

import (
	"slices"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/agent/pace"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Pace is how fast a target is, as a run has measured it. A time is 0 where it is not known.
type Pace struct {
	Answer   time.Duration // to one request
	Revision time.Duration // from the request for a revision until it is DEPLOYED
	Failure  time.Duration // the same for one whose source cannot be built, until it has failed
}

// Least is the least time in which a run could end, and of what that is made.
type Least struct {
	Requests time.Duration // all of them, one after another, by how many are in flight; the configured rate bounds them too
	Path     []Part        // what has to be done one after the other, whatever runs beside it
}

// Total is the larger of the two.
func (l Least) Total() time.Duration { return max(l.Requests, l.OfPath()) }

// OfPath is how long the critical path takes.
func (l Least) OfPath() (sum time.Duration) {
	for _, p := range l.Path {
		sum += p.Time
	}
	return sum
}

// Part is a part of the critical path: a fixture, or a scenario.
type Part struct {
	Name      string
	Answers   int // about how many it waits for, one after the other
	Revisions int // that it waits for, one after the other, until they are DEPLOYED
	Failures  int // the same for revisions that are to fail
	Waits     time.Duration
	Time      time.Duration // of all that at the pace of the target
}

// add has the part wait for what another one does, too.
func (p *Part) add(other Part) {
	p.Answers += other.Answers
	p.Revisions += other.Revisions
	p.Failures += other.Failures
	p.Waits += other.Waits
}

// at is the part with its time.
func (p Part) at(target Pace) Part {
	failure := target.Failure
	if failure == 0 {
		failure = target.Revision
	}
	p.Time = time.Duration(p.Answers)*target.Answer + time.Duration(p.Revisions)*target.Revision + time.Duration(p.Failures)*failure + target.slowed(p.Waits)
	return p
}

// slowed is how long runs are told to wait at the pace of the target, where they are told to wait at least so long.
func (p Pace) slowed(waits time.Duration) time.Duration {
	return time.Duration(float64(waits) * float64(pace.HoldAt(p.Answer)) / float64(pace.MinHold))
}

// Least returns the least time that a run of the scenarios takes at a target of the pace, with so many requests in flight.
func (f *Forecast) Least(scenarios []*features.Scenario, target Pace, atOnce int) Least {
	plan := f.Plan(scenarios)
	requests := plan.Requests + plan.Deployments + plan.Threads // these are removed at the end
	sum := time.Duration(requests)*target.Answer + target.slowed(plan.Waits)
	return Least{
		Requests: max(sum/time.Duration(atOnce), time.Duration(max(requests-1, 0))*f.config.Every()),
		Path:     append(f.path(scenarios, target), Part{Name: "cleaning up", Answers: (plan.Deployments + plan.Threads + atOnce - 1) / atOnce}.at(target)),
	}
}

// path is the critical path: the longest chain of a fixture and what needs it, and the longest scenario of those that come last.
func (f *Forecast) path(scenarios []*features.Scenario, target Pace) []Part {
	var first, last []Part
	queues := map[int]*Part{} // of scenarios that change the same deployment
	for _, s := range scenarios {
		if f.Applies(s) != nil || f.JudgesRecord(s) {
			continue
		}
		own := f.own(s)
		if s.Is(features.TagLast) {
			last = longest(last, []Part{own.at(target)})
			continue
		}
		chain := f.chainOf(s, target)
		if leases, makes := f.leases(s); leases {
			member := f.member[s.Key()]
			queue := queues[member]
			if queue == nil {
				queue = &Part{Name: "the scenarios that change it in turn", Revisions: -1} // nobody waits for the last one
				queues[member] = queue
			}
			if queue.add(own); makes {
				queue.Revisions++
			}
			own = *queue
			own.Revisions = max(own.Revisions, 0)
		}
		first = longest(first, append(chain, own.at(target)))
	}
	return append(first, last...)
}

// longest returns the path that takes longer; the first one where both take equally long.
func longest(a, b []Part) []Part {
	if a == nil || (Least{Path: b}).OfPath() > (Least{Path: a}).OfPath() || (Least{Path: b}).OfPath() == 0 && buildsOf(b) > buildsOf(a) {
		return b
	}
	return a
}

// buildsOf compares paths where nothing is known of the pace of the target.
func buildsOf(path []Part) (n int) {
	for _, p := range path {
		n += p.Revisions*1000 + p.Failures*1000 + p.Answers
	}
	return n
}

// own is what a scenario waits for itself, beside fixtures.
func (f *Forecast) own(s *features.Scenario) Part {
	p := Part{Name: s.Requirement.ID + " " + s.Name}
	p.Answers, p.Waits = f.asks(s)
	f.upToGap(s, func(d *common.Definition) { p.Revisions, p.Failures = p.Revisions+d.Builds, p.Failures+d.FailedBuilds })
	f.costs(s, func(c plane.Cost) {
		if f.plane.Fixtures.Named(c.Fixture) == nil {
			p.Answers += c.Deployments*ofDeployment + c.Revisions*ofRevision + c.Threads*ofThread + c.Runs*ofRun
		}
	})
	return p
}

// chainOf is the chain of fixtures that the scenario waits for longest.
func (f *Forecast) chainOf(s *features.Scenario, target Pace) (chain []Part) {
	for _, name := range f.Needs(s) {
		if fixture := f.plane.Fixtures.Named(name); fixture != nil {
			chain = longest(chain, []Part{f.making(fixture).at(target)})
		}
	}
	return slices.Clip(chain)
}

// making is what the making of a fixture waits for, with that of the one below it.
func (f *Forecast) making(fixture *plane.Fixture) Part {
	p := Part{Name: fixture.Name, Revisions: fixture.Builds.Revisions, Failures: fixture.Builds.Failures}
	for _, c := range fixture.Needed() {
		p.Answers += c.Deployments*ofDeployment + c.Revisions*ofRevision
	}
	return p
}
