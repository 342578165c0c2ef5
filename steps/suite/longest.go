package suite

import (
	"slices"
	"time"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// sender has the times of the requests of a scenario or a fixture.
type sender struct {
	first, last time.Time // when the first request was sent, and when the last one ended
	requests    int
}

// announceLongest announces the longest chain: a scenario and its fixtures whose consecutive requests determined the
// duration of all scenarios.
func (r *run) announceLongest(scenarios []*features.Scenario) {
	senders := map[string]sender{}
	for _, o := range r.target.Collector.Observations() {
		if !o.Past {
			senders[o.Scenario] = senders[o.Scenario].with(o)
		}
	}
	names := make([]string, len(scenarios))
	for i, s := range scenarios {
		names[i] = s.Attribution()
	}
	chain := longestChain(names, senders, r.maker.UsedBy)
	if len(chain) > 0 {
		r.target.Progress(target.Event{Kind: target.Chained, Chain: chain})
	}
}

// with returns the sender with one more request.
func (s sender) with(o *evidence.Observation) sender {
	if s.requests == 0 || o.Sent.Before(s.first) {
		s.first = o.Sent
	}
	ended := o.Ended
	if o.GivenUp.After(ended) {
		ended = o.GivenUp
	}
	if ended.After(s.last) {
		s.last = ended
	}
	s.requests++
	return s
}

// longestChain returns the scenario that ended last, after the fixtures that it waited for, in the order of time. needs
// returns the fixtures of a scenario or a fixture.
func longestChain(scenarios []string, senders map[string]sender, needs func(name string) []string) (chain []target.Link) {
	isLater := func(name, than string) bool { return than == "" || senders[name].last.After(senders[than].last) }
	current := ""
	for _, name := range scenarios {
		if senders[name].requests > 0 && isLater(name, current) {
			current = name
		}
	}
	for current != "" {
		own, previous := senders[current], ""
		for _, name := range needs(current) {
			if senders[name].requests > 0 && senders[name].last.Before(own.last) && isLater(name, previous) {
				previous = name
			}
		}
		began := own.first
		if ended := senders[previous].last; ended.After(began) {
			began = ended
		}
		chain = append(chain, target.Link{Name: current, Requests: own.requests, Took: own.last.Sub(began)})
		current = previous
	}
	slices.Reverse(chain)
	return chain
}
