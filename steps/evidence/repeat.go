package evidence

import "github.com/agentconform/agentconform/reports"

// Repeat begins another repetition of the scenarios. It keeps three kinds of exchanges: those of permanent fixtures,
// which are judged again, updates of deployments, which explain later reads, and exchanges that reports show. The limit
// of recorded bodies applies to each repetition separately.
func (c *Collector) Repeat(stays func(fixture string) bool, shown map[int]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var remaining []*Observation
	isKept := map[int]bool{}
	c.byScenario = map[string][]*Observation{}
	c.violations = map[string]*Violation{}
	c.known = map[string]int{}
	c.keptBytes = 0
	c.bodies = map[string]string{}
	c.recorder.recorded.Store(0)
	for _, o := range c.observations {
		isOfFixture := o.order == 0 && stays(o.Scenario)
		switch {
		case isOfFixture:
			for _, v := range o.found {
				c.noteViolation(o.ID, v)
			}
			c.byScenario[o.Scenario] = append(c.byScenario[o.Scenario], o)
		case o.Op.ID == "update-deployment":
			past := *o
			past.Past = true
			o = &past
		case shown[o.ID]:
			c.past = append(c.past, o)
			isKept[o.ID] = true
			continue
		default:
			continue
		}
		remaining = append(remaining, o)
		isKept[o.ID] = true
		c.keptBytes += len(o.Request) + len(o.Response)
	}
	for _, o := range c.past {
		isKept[o.ID] = true
	}
	c.observations = remaining
	var kept []reports.Exchange
	for _, x := range c.exchanges {
		if isKept[x.ID] {
			kept = append(kept, x)
		}
	}
	c.exchanges = kept
}

// Count returns the number of exchanges of the test run.
func (c *Collector) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}
