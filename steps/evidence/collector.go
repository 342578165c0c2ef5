package evidence

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Journal is where exchanges are written.
type Journal interface {
	Append(reports.Exchange) (int, error)
}

// keptAnswers bounds how many error answers of one operation and status are kept for rules that judge them all.
const keptAnswers = 256

// Collector observes every exchange of a run. It may be used by many goroutines.
type Collector struct {
	TenantHeader string              // whose value names an owner, and is no token
	Gateway      []string            // headers of which the same is true, since a gateway wants them, in canonical form
	Via          *reports.Connection // how the target is reached, for the curl lines; nil where its addresses say it

	// Record, where it is not nil, is given each exchange before it is taken, and returns what writes it down. The functions are called in
	// the order of the ids.
	Record func(*Observed) (write func() error)

	enumerated map[string][]string // values of the interface, by field

	oracle  *spec.Oracle
	wire    *spec.Oracle     // in the target's words
	words   *spec.Vocabulary // nil where these are the interface's
	Words   *Words
	redact  *client.Redactor
	journal Journal
	start   time.Time

	mu         sync.Mutex
	places     []place // by exchange, in the order of their ids
	sequence   map[string]int
	own        []string // mistakes in requests of ours
	given      givenIDs
	throttled  int
	impatient  int
	journalErr error
	ownToken   OwnToken
	contract
	seen
	trust
}

// contract is what the contract says against answers.
type contract struct {
	violations map[string]*Violation
	order      []string // keys of violations, first seen first
}

// seen is what was answered to what.
type seen struct {
	errorAnswers map[string][]*client.Answer
	answers      map[answerKind]int
	busy         map[answerKind]int // of these, how many asked to come back later
	parameters   map[parameter]map[string]bool
	enums        map[string]map[string]bool
	asked        map[askedKind]int
	failures     map[failureKind]*Failure
}

// trust is how credentials of the configuration were answered.
type trust struct {
	bySide     map[spec.Side]map[int]int // by status; not those to what is wrong on purpose
	byExchange map[int]int               // statuses
}

type place struct {
	scenario string
	order    int // of the scenario; fixtures come first
	sequence int // within the scenario
	sent     time.Time
	part     reports.Part // "" where no step of a scenario sent it
}

// Violation is what the contract says against the answers of one operation: the first one seen, and how often.
type Violation struct {
	spec.Violation
	Count    int
	Exchange int
	Words    []string // of the vocabulary, that it may be about
}

// New returns a collector that writes to journal.
func New(oracle *spec.Oracle, redact *client.Redactor, journal Journal, start time.Time) *Collector {
	var enumerated map[string][]string
	if oracle != nil {
		enumerated = oracle.Enums()
	}
	return &Collector{
		enumerated: enumerated,
		oracle:     oracle, wire: oracle, Words: NewWords(nil), redact: redact, journal: journal, start: start,
		sequence: map[string]int{}, given: givenIDs{}, contract: contract{violations: map[string]*Violation{}},
		trust: trust{map[spec.Side]map[int]int{}, map[int]int{}},
		seen:  seen{map[string][]*client.Answer{}, map[answerKind]int{}, map[answerKind]int{}, map[parameter]map[string]bool{}, map[string]map[string]bool{}, map[askedKind]int{}, map[failureKind]*Failure{}},
	}
}

// Translate has answers judged in the target's words, as they were received.
func (c *Collector) Translate(v *spec.Vocabulary) error {
	if v.Empty() {
		return nil
	}
	wire, err := spec.NewIn(v)
	if err != nil {
		return fmt.Errorf("compiling the contract with the words of vocabulary: %w", err)
	}
	c.wire, c.words, c.Words = wire, v, NewWords(v)
	return nil
}

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

// Observe records one exchange and judges it. It is a client.Observer.
func (c *Collector) Observe(ctx context.Context, r client.Request, wire client.Wire, sent time.Time, a *client.Answer, cause string) int {
	o := c.observe(ctx, r, wire, sent, a, cause)
	write := func() error { return nil }
	if c.Record != nil {
		write = c.Record(o)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := c.journal.Append(o.Exchange)
	if err == nil {
		err = write()
	}
	if err != nil && c.journalErr == nil {
		c.journalErr = fmt.Errorf("recording an exchange: %w", err)
	}
	c.take(id, o)
	return id
}

// noteMistakes notes what is wrong with a request of the suite: what is wrong on purpose is no mistake.
func (c *Collector) noteMistakes(id int, o *Observed, against []spec.Violation) {
	if o.Wrong {
		return
	}
	for _, v := range against {
		c.own = append(c.own, fmt.Sprintf("exchange %d: our request for %s breaks the contract at %q: expected %s, sent %s", id, v.Operation, v.Pointer, v.Expected, v.Actual))
	}
}

// noteTrust notes an answer to credentials of the configuration. What is wrong with a request on purpose may be refused
// before the credentials are looked at: it does not count.
func (c *Collector) noteTrust(id int, o *Observed) {
	status := o.Exchange.Status
	c.byExchange[id] = status
	if o.Wrong {
		return
	}
	if c.bySide[o.Side] == nil {
		c.bySide[o.Side] = map[int]int{}
	}
	c.bySide[o.Side][status]++
}

// judgedForm is the exchange with the interface's names.
func (c *Collector) judgedForm(r client.Request, a *client.Answer) spec.Exchange {
	x := spec.Exchange{Side: r.Side, Method: r.Method, Path: r.Path, Query: r.Query, RequestHeader: r.Header, RequestBody: r.Body}
	if a != nil {
		x.Status, x.Header, x.Body = a.Status, a.Header, a.Body
	}
	return x
}

// recordedForm is the exchange as it went over the wire, without secrets.
func (c *Collector) recordedForm(ctx context.Context, r client.Request, wire client.Wire, a *client.Answer, cause string, found []spec.Violation) reports.Exchange {
	address := r.Base + r.Path
	if wire.Query != "" {
		address += "?" + wire.Query
	}
	x := reports.Exchange{
		Method:  r.Method,
		URL:     c.redact.Record(address),
		Request: reports.Message{Headers: c.redact.Header(r.Header), Body: c.redact.Record(string(wire.Body)), Secrets: c.redact.Places(r.Header, wire.Body)},
		Error:   c.redact.Record(cause),
	}
	x.Scenario = attributed(ctx).name
	if a != nil {
		x.Status = a.Status
		x.MS = float64(a.Took.Microseconds()) / 1000
		x.Response = reports.Message{Headers: c.redact.Header(a.Header), Body: c.redact.Record(string(a.Wire()))}
	}
	x.Curl = c.redact.Curl(r.Method, x.URL, x.Request, c.Via)
	for _, v := range found {
		x.Problems = append(x.Problems, c.redact.Excerpt(fmt.Sprintf("%s: %s: expected %s, got %s", v.Pointer, v.Keyword, v.Expected, v.Actual)))
	}
	return x
}

func attributed(ctx context.Context) attribution {
	a, _ := ctx.Value(scenarioKey{}).(attribution)
	return a
}

// place remembers where the exchange belongs. The journal numbers from one, in the order of its calls.
func (c *Collector) place(id int, o *Observed) {
	name := o.Exchange.Scenario
	c.sequence[name]++
	for len(c.places) < id {
		c.places = append(c.places, place{})
	}
	if id > 0 {
		c.places[id-1] = place{scenario: name, order: o.Order, sequence: c.sequence[name], sent: c.start.Add(time.Duration(o.SentNS)), part: o.Part}
	}
}

func (c *Collector) collect(v spec.Violation, id int) {
	key := v.Key()
	if known := c.violations[key]; known != nil {
		known.Count++
		return
	}
	c.violations[key] = &Violation{Violation: v, Count: 1, Exchange: id, Words: c.words.Concerned(v)}
	c.order = append(c.order, key)
}

// Violations returns what the contract says against an operation's answers, in a stable order.
func (c *Collector) Violations(operation string) []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Violation
	for _, key := range c.order {
		if v := c.violations[key]; v.Operation == operation {
			found = append(found, *v)
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return compareText(a.Key(), b.Key()) })
	return found
}

// OwnMistakes returns what is wrong with our own requests.
func (c *Collector) OwnMistakes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.own)
}

// Waited notes an answer that asked the client to wait, and whether it did.
func (c *Collector) Waited(granted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if granted {
		c.throttled++
	} else {
		c.impatient++
	}
}

// Throttled is how often the client waited because it was asked to, and how often it did not.
func (c *Collector) Throttled() (waited, refused int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.throttled, c.impatient
}

// Err is the first failure to record an exchange.
func (c *Collector) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.journalErr
}

// Scenario returns the name that exchanges under the context are attributed to.
func Scenario(ctx context.Context) string { return attributed(ctx).name }
