package evidence

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

type scenarioKey struct{}

type attribution struct {
	name  string
	order int
}

// WithScenario attributes the exchanges made under the context. The order sorts the evidence: that of the scenario
// in the features, or 0 for what scenarios share.
func WithScenario(ctx context.Context, name string, order int) context.Context {
	return context.WithValue(ctx, scenarioKey{}, attribution{name, order})
}

func attributed(ctx context.Context) attribution {
	a, _ := ctx.Value(scenarioKey{}).(attribution)
	return a
}

// Scenario returns the name that exchanges under the context are attributed to.
func Scenario(ctx context.Context) string { return attributed(ctx).name }

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
	// Wrong says that the request breaks the contract on purpose.
	Wrong bool
}

// SentBy returns the exchanges of the scenarios and fixtures, in the order in which they were sent.
func (c *Collector) SentBy(names ...string) []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Sent
	for i, at := range c.all {
		if slices.Contains(names, at.scenario) {
			all = append(all, Sent{i + 1, at.scenario, at.sent, cmp.Or(at.part, reports.SetUp), at.wrong})
		}
	}
	slices.SortStableFunc(all, func(a, b Sent) int { return a.At.Compare(b.At) })
	return all
}

// SentAs returns the exchange with this id as a precondition, which it is for whoever comes later.
func (c *Collector) SentAs(id int) Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.all[id-1]
	return Sent{id, at.scenario, at.sent, reports.SetUp, at.wrong}
}

// Sender returns the scenario or fixture that an exchange was made for, "" if there is no such exchange.
func (c *Collector) Sender(id int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id < 1 || id > len(c.all) {
		return ""
	}
	return c.all[id-1].scenario
}
