package forecast

import (
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/plane"
)

// Plan is what scenarios create and send. Deployments and revisions are what they create at most; threads, runs and requests are
// about as many as at a target whose deployments are DEPLOYED at once.
type Plan struct {
	Deployments, Revisions int
	Threads, Runs          int
	Requests               int
	Longest, Waits         time.Duration // that a scenario, and that all together take at least, however fast the target is
}

// About how many requests belong to what a sentence creates: the request, and those that look whether it is there or has ended.
const (
	ofDeployment = 5
	ofRevision   = 4
	ofThread     = 1
	ofRun        = 3
)

// Plan says what the scenarios create and send, whatever the budget, by what the definitions of their sentences say. For a
// scenario that ends early by the configuration only the sentences before are counted; what depends on answers is not
// known yet.
func (f *Forecast) Plan(scenarios []*features.Scenario) Plan {
	var p Plan
	paid := map[string]bool{}
	for _, s := range scenarios {
		if f.Applies(s) != nil {
			continue
		}
		c := f.cost(s, paid)
		p.Deployments += c.Deployments
		p.Revisions += c.Deployments + c.Revisions
		p.Threads += c.Threads
		p.Runs += c.Runs
		asks, takes := f.asks(s)
		p.Requests += asks
		p.Longest, p.Waits = max(p.Longest, takes), p.Waits+takes
	}
	p.Requests += p.Deployments*ofDeployment + (p.Revisions-p.Deployments)*ofRevision + p.Threads*ofThread + p.Runs*ofRun
	return p
}

// cost is what a scenario creates at most, beside the fixtures that are paid already. It notes those that it pays.
func (f *Forecast) cost(s *features.Scenario, paid map[string]bool) (sum plane.Cost) {
	f.costs(s, func(c plane.Cost) {
		if c.Fixture != "" && paid[c.Fixture] {
			return
		}
		paid[c.Fixture] = c.Fixture != ""
		sum.Deployments += c.Deployments
		sum.Revisions += c.Revisions
		sum.Threads += c.Threads
		sum.Runs += c.Runs
	})
	return sum
}

// asks is about how many requests a scenario sends beside those for what it creates, and how long it takes at least.
func (f *Forecast) asks(s *features.Scenario) (requests int, least time.Duration) {
	f.upToGap(s, func(d *common.Definition) {
		requests += d.Asks()
		least += d.Least
	})
	return requests, least
}

// upToGap visits the sentences of a scenario, up to the first for which the configuration lacks something.
func (f *Forecast) upToGap(s *features.Scenario, visit func(*common.Definition)) {
	for _, step := range s.Steps {
		if len(f.lackedBy(step.Text)) > 0 {
			return
		}
		if d := f.Sentences.Find(step.Text); d != nil {
			visit(d)
		}
	}
}
