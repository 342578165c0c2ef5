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

// Observation is an exchange in the form that the rules about all exchanges read. Bodies use the interface's names and
// contain secrets, so they must not be reported.
type Observation struct {
	ID int
	attribution
	Op            *spec.Operation // the ID is "" if the interface and its known extensions have no such operation
	Side          spec.Side
	Base          string // address that Op.Path is relative to
	Method        string
	Path, Query   string // as they were sent
	Caller        exchange.Caller
	Sent, Ended   time.Time
	GivenUp       time.Time // time at which a request ended without a response; zero if there is one
	Status        int       // 0 without a response
	Wrong         bool
	RepeatedWrite bool // the client sent this write twice; the server may have carried out both requests
	Trusted       bool // the caller has credentials of the configuration, and the response is not only a request to wait
	// Request and Response are the bodies. For a large body, or late in a large test run, they have only the beginning.
	Request, Response string
	Whole             bool // Response is the whole body
	Past              bool // the exchange is from an earlier repetition; it explains later exchanges and is not judged again

	asked       RequestKind
	passing     bool // the response only asks to wait, or the target may not serve yet
	contentType string
	found       []spec.Violation // contract violations in the response
	ownToken    *string          // pointer to a credential of the request in the response; nil if there is none
}

// Limits of recorded bodies in bytes: for each body, and for all together. Beyond the latter, only the beginning of each
// body is recorded.
const keptBody, keptBodies = 64 << 10, 8 << 20

func observationOf(ctx context.Context, op *spec.Operation, r exchange.Request, sent time.Time, a *exchange.Response) (
	o Observation,
) {
	o = Observation{
		attribution: attributed(ctx), Op: op,
		Side: r.Side, Base: r.Base, Method: r.Method, Path: r.Path, Query: r.Query,
		Caller: r.Caller, Wrong: r.Wrong, RepeatedWrite: r.Repeated && r.Writes(),
		Sent: sent, Ended: sent,
	}
	o.Part = cmp.Or(o.Part, reports.SetUp)
	if a == nil {
		o.GivenUp = time.Now()
	} else {
		o.Status, o.Ended = a.Status, sent.Add(a.Took)
		o.passing = a.Status == http.StatusTooManyRequests || r.Early && a.Status >= 500 ||
			a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
	}
	o.Trusted = r.Trusted && o.Status != 0 && !o.passing
	return o
}

// In returns the value of a path parameter, or "".
func (o *Observation) In(parameter string) string { return o.Op.In(o.Path, parameter) }

// HasAnswer reports whether there is a response that does not only ask to wait.
func (o *Observation) HasAnswer() bool { return o.Status != 0 && !o.passing }

// IsAt reports whether the request was sent to a side at the address. An empty address stands for all.
func (o *Observation) IsAt(side spec.Side, address string) bool {
	return o.Side == side && (address == "" || o.Base == address)
}

// IsKind reports whether the request is of the kind.
func (o *Observation) IsKind(kind RequestKind) bool { return o.asked == kind }

// AsAnswer returns the recorded part of the response as an exchange.Response.
func (o *Observation) AsAnswer() *exchange.Response {
	header := http.Header{"Content-Type": {o.contentType}}
	return &exchange.Response{ID: o.ID, Status: o.Status, Header: header, Body: []byte(o.Response)}
}

// Observation returns the observation of an exchange, or one without a status if the ID is unknown.
func (c *Collector) Observation(id int) *Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, all := range [][]*Observation{c.observations, c.past} {
		if at, isFound := slices.BinarySearchFunc(all, id, byID); isFound {
			return all[at]
		}
	}
	return &Observation{Op: &spec.Operation{}}
}

func byID(o *Observation, id int) int { return o.ID - id }

// which returns the exchanges that are judged and for which keep returns true, in the order of their IDs.
func (c *Collector) which(keep func(o *Observation) bool) (all []*Observation) {
	for _, o := range c.Observations() {
		if !o.Past && keep(o) {
			all = append(all, o)
		}
	}
	return all
}

// Observations returns all exchanges so far in the order of their IDs. Later exchanges do not change the result.
func (c *Collector) Observations() []*Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.observations)
}

// SentBy returns the exchanges of the scenarios and fixtures, in the order in which they were sent. Each name is given
// once.
func (c *Collector) SentBy(names ...string) []*Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*Observation
	for _, name := range names {
		all = append(all, c.byScenario[name]...)
	}
	slices.SortFunc(all, func(a, b *Observation) int { return cmp.Or(a.Sent.Compare(b.Sent), a.ID-b.ID) })
	return all
}

// Exchanges returns the exchanges so far. Later exchanges do not change the result.
func (c *Collector) Exchanges() []reports.Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clip(c.exchanges)
}

// Exchange returns an exchange in the form of reports. It is empty if the exchange is from an earlier repetition and was
// not kept.
func (c *Collector) Exchange(id int) reports.Exchange {
	if c.Reread != nil {
		return c.Reread(id)
	}
	all := c.Exchanges()
	at, isFound := slices.BinarySearchFunc(all, id, func(x reports.Exchange, id int) int { return x.ID - id })
	if !isFound {
		return reports.Exchange{}
	}
	return all[at]
}

// Order returns the IDs of the exchanges in the order in which reports show them: fixtures first, then by scenario,
// then by time. It does not depend on how the scenarios were interleaved.
func (c *Collector) Order() []int {
	all := slices.Concat(c.past, c.Observations())
	slices.SortFunc(all, func(a, b *Observation) int {
		return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.Scenario, b.Scenario), a.ID-b.ID)
	})
	return IDs(all)
}

// IDs returns the IDs of exchanges in their order.
func IDs(all []*Observation) []int {
	ids := make([]int, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	return ids
}

// attribution is the scenario or fixture that caused an exchange.
type attribution struct {
	Scenario string       // name of the scenario or fixture
	Part     reports.Part // part of the scenario; Setup for a fixture
	order    int          // order of the scenario; 0 for fixtures
}

type attributionKey struct{}

// WithScenario attributes the exchanges of the context. order is the position of the scenario in the features, or 0 for
// shared fixtures. The evidence is sorted by it.
func WithScenario(ctx context.Context, name string, order int) context.Context {
	return context.WithValue(ctx, attributionKey{}, attribution{Scenario: name, order: order})
}

// WithPart sets the part of the scenario for the exchanges of the context. It depends on the step that sends them.
func WithPart(ctx context.Context, part reports.Part) context.Context {
	by := attributed(ctx)
	by.Part = part
	return context.WithValue(ctx, attributionKey{}, by)
}

// Scenario returns the name to which the exchanges of the context are attributed.
func Scenario(ctx context.Context) string { return attributed(ctx).Scenario }

func attributed(ctx context.Context) attribution {
	by, _ := ctx.Value(attributionKey{}).(attribution)
	return by
}
