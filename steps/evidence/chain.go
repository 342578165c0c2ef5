package evidence

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

type partKey struct{}

// WithPart says which part of a scenario the exchanges made under the context are: that of the step that sends them.
func WithPart(ctx context.Context, part reports.Part) context.Context {
	return context.WithValue(ctx, partKey{}, part)
}

func partOf(ctx context.Context) reports.Part {
	part, _ := ctx.Value(partKey{}).(reports.Part)
	return part
}

// Sent is one exchange of a scenario or a fixture.
type Sent struct {
	ID   int
	By   string // the scenario or fixture
	At   time.Time
	Part reports.Part // of its scenario; set-up for a fixture
}

// SentBy returns the exchanges of the scenarios and fixtures, in the order in which they were sent.
func (c *Collector) SentBy(names ...string) []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Sent
	for i, p := range c.places {
		if slices.Contains(names, p.scenario) {
			all = append(all, Sent{i + 1, p.scenario, p.sent, cmp.Or(p.part, reports.SetUp)})
		}
	}
	slices.SortStableFunc(all, func(a, b Sent) int { return a.At.Compare(b.At) })
	return all
}

// SentAs returns the exchange with this id as a precondition, which it is for whoever comes later.
func (c *Collector) SentAs(id int) Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.places[id-1]
	return Sent{id, p.scenario, p.sent, reports.SetUp}
}

// Sender returns the scenario or fixture that an exchange was made for, "" if there is no such exchange.
func (c *Collector) Sender(id int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id < 1 || id > len(c.places) {
		return ""
	}
	return c.places[id-1].scenario
}
