package evidence

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Observation is an exchange for rules about all that a run has seen. Bodies have the interface's names, and secrets:
// nothing of it may be reported as it is.
type Observation struct {
	ID int
	attribution
	Op            spec.Operation // its ID is "" where the interface and its known extensions have none
	Side          spec.Side
	Base          string // address that Op.Path is relative to
	Method        string
	Path, Query   string // as they were sent
	Caller        exchange.Caller
	Sent, Ended   time.Time
	Status        int // 0 where no answer came
	Wrong         bool
	RepeatedWrite bool // the client sent this write twice; the server may have carried out both requests
	Trusted       bool // answered, and sent with credentials of the configuration; the answer does not only ask to wait
	// Request and Answer are the bodies; of a large one, or one that comes late in a large run, the beginning.
	Request, Answer string
	Whole           bool // Answer is all of it

	asked       Asked
	passing     bool // the answer only asks to wait, or the target may not serve yet: no failure of the target
	contentType string
	ownToken    *string // where the answer has a credential of the request; nil: nowhere
}

// What is kept of bodies, in bytes: of one, and of all. Of what comes later only the beginning is kept.
const keptBody, keptBodies = 64 << 10, 8 << 20

func observationOf(ctx context.Context, op spec.Operation, r exchange.Request, sent time.Time, a *exchange.Response) (
	o Observation,
) {
	o = Observation{
		attribution: attributed(ctx), Op: op,
		Side: r.Side, Base: r.Base, Method: r.Method, Path: r.Path, Query: r.Query,
		Caller: r.Caller, Wrong: r.Wrong, RepeatedWrite: r.Repeated && r.Writes(),
		Sent: sent, Ended: sent,
	}
	o.Part = cmp.Or(o.Part, reports.SetUp)
	if a != nil {
		o.Status, o.Ended = a.Status, sent.Add(a.Took)
		o.passing = a.Status == http.StatusTooManyRequests || r.Early && a.Status >= 500 ||
			a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
	}
	o.Trusted = r.Trusted && o.Status != 0 && !o.passing
	return o
}

// In is the value of a parameter of the path, "" where there is none.
func (o *Observation) In(parameter string) string { return o.Op.In(o.Path, parameter) }

// HasAnswer tells whether an answer came that is one: it does not only ask to wait.
func (o *Observation) HasAnswer() bool { return o.Status != 0 && !o.passing }

// IsKind reports whether the request is of the kind.
func (o *Observation) IsKind(kind Asked) bool { return o.asked == kind }

// AsAnswer is what is kept of the answer.
func (o *Observation) AsAnswer() *exchange.Response {
	header := http.Header{"Content-Type": {o.contentType}}
	return &exchange.Response{ID: o.ID, Status: o.Status, Header: header, Body: []byte(o.Answer)}
}

// Observation is that of an exchange; without a status where there is none.
func (c *Collector) Observation(id int) Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id < 1 || id > len(c.observations) {
		return Observation{}
	}
	return c.observations[id-1]
}

// which returns the exchanges that are to be kept, in the order of their ids.
func (c *Collector) which(keep func(o *Observation) bool) (all []Observation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.observations {
		if keep(&c.observations[i]) {
			all = append(all, c.observations[i])
		}
	}
	return all
}

// Observations are all exchanges, in the order of their ids.
func (c *Collector) Observations() []Observation {
	return c.which(func(*Observation) bool { return true })
}

// SentBy returns the exchanges of the scenarios and fixtures, in the order in which they were sent. Each name is given once.
func (c *Collector) SentBy(names ...string) []Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Observation
	for _, name := range names {
		for _, i := range c.byScenario[name] {
			all = append(all, c.observations[i])
		}
	}
	slices.SortFunc(all, func(a, b Observation) int { return cmp.Or(a.Sent.Compare(b.Sent), a.ID-b.ID) })
	return all
}

// Exchanges returns the exchanges so far: what is recorded later is in another list.
func (c *Collector) Exchanges() []reports.Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.exchanges)
}

// Order returns the ids of all exchanges in the order in which reports show them: fixtures first, then by scenario,
// then as they were made. It does not depend on how the scenarios were interleaved.
func (c *Collector) Order() []int {
	all := c.Observations()
	slices.SortStableFunc(all, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.Scenario, b.Scenario))
	})
	return IDs(all)
}

// IDs are those of exchanges, in the order of these.
func IDs(all []Observation) []int {
	ids := make([]int, len(all))
	for i, o := range all {
		ids[i] = o.ID
	}
	return ids
}

// attribution says what exchanges are made for.
type attribution struct {
	Scenario string       // or the fixture that it was made for
	Part     reports.Part // of the scenario; set-up for a fixture
	order    int          // of the scenario; fixtures come first
}

type attributionKey struct{}

// WithScenario attributes the exchanges made under the context. The order sorts the evidence: that of the scenario
// in the features, or 0 for what scenarios share.
func WithScenario(ctx context.Context, name string, order int) context.Context {
	return context.WithValue(ctx, attributionKey{}, attribution{Scenario: name, order: order})
}

// WithPart says which part of a scenario the exchanges made under the context are: that of the step that sends them.
func WithPart(ctx context.Context, part reports.Part) context.Context {
	by := attributed(ctx)
	by.Part = part
	return context.WithValue(ctx, attributionKey{}, by)
}

// Scenario returns the name that exchanges under the context are attributed to.
func Scenario(ctx context.Context) string { return attributed(ctx).Scenario }

func attributed(ctx context.Context) attribution {
	by, _ := ctx.Value(attributionKey{}).(attribution)
	return by
}
