// Package evidence records the observations of a test run: every exchange, its contract violations, the covered parts of
// the interface, and everything that was created at the target. Start with [Collector].
//
// It gives no verdicts. Contract violations are grouped by operation, status, pointer and keyword, so that one fault of
// the target is reported once, no matter how many scenarios have seen it.
package evidence

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Collector records every exchange of a test run. Its methods may be called concurrently.
type Collector struct {
	oracle   *spec.Oracle
	recorder *recorder
	start    time.Time

	// Reread returns an exchange of a recording. It is nil in a test run, which keeps all exchanges in memory.
	Reread func(id int) reports.Exchange

	mu           sync.Mutex         // guards the fields below; held while an exchange gets its ID and is recorded
	exchanges    []reports.Exchange // sorted by ID
	observations []*Observation     // sorted by ID; they do not change
	past         []*Observation     // exchanges of earlier repetitions that reports show; see Repeat
	last         int                // ID of the last exchange
	byScenario   map[string][]*Observation
	keptBytes    int                   // size of the recorded bodies
	bodies       map[string]string     // the recorded bodies: equal ones, such as those of polls, are stored once
	violations   map[string]*Violation // contract violations of responses, by key
	known        map[string]int        // number of violations by operation
	covered      covered
	mistakes     []string // unintended contract violations of the suite's own requests
}

// New returns a collector. It records exchanges with the words of the target, as they were sent and received.
func New(oracle *spec.Oracle, redact *client.Redactor, start time.Time, words spec.Words, reached Reach) *Collector {
	return &Collector{
		oracle:     oracle,
		recorder:   &recorder{redact: redact, words: words, Reach: reached},
		start:      start,
		byScenario: map[string][]*Observation{},
		bodies:     map[string]string{},
		violations: map[string]*Violation{},
		known:      map[string]int{},
		covered:    newCovered(),
	}
}

// StartAt sets the time at which the record begins. Call it before anything is recorded.
func (c *Collector) StartAt(start time.Time) { c.start = start }

// Grow makes room for a number of exchanges.
func (c *Collector) Grow(n int) { c.observations = slices.Grow(c.observations, n) }

// Observe records one exchange and judges it. It is a client.Observer.
func (c *Collector) Observe(ctx context.Context, r exchange.Request, sent time.Time, a *exchange.Response, cause string) int {
	judged := spec.Exchange{
		Side: r.Side, Method: r.Method, Path: r.Path, Query: r.Query,
		RequestHeader: r.Header, RequestBody: r.Body,
	}
	if a != nil {
		judged.Status = a.Status
		judged.Header = a.Header
		judged.Body = a.Body
	}
	var found []spec.Violation
	if a == nil || !a.Cut {
		found = c.oracle.JudgeResponse(judged)
	}
	against := c.oracle.JudgeRequest(judged)
	if r.Recorded {
		r.Wrong = r.Wrong || len(against) > 0
	}
	if !r.Wrong { // IDs are sent in the same form as the target returned them
		against = slices.DeleteFunc(against, func(v spec.Violation) bool {
			return v.Keyword == "format" && strings.HasPrefix(v.Pointer, "/path/")
		})
	}
	op, _ := c.oracle.Find(r.Side, r.Method, r.Path)
	var x reports.Exchange
	if !r.Recorded {
		x = c.recorder.exchange(ctx, r, a, cause, found)
		c.place(&x, op, sent)
	}
	found = c.recorder.violations(found)
	against = c.recorder.violations(against)
	o := observationOf(ctx, op, r, sent, a)
	if a != nil {
		o.ownToken = c.recorder.ownTokenIn(r, x.Request, a)
		o.contentType, _, _ = mime.ParseMediaType(c.recorder.redact.Record(a.Header.Get("Content-Type")))
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++ // the first ID is 1
	o.ID = c.last
	if !r.Recorded {
		c.exchanges = reports.Record(c.exchanges, x)
		c.exchanges[len(c.exchanges)-1].ID = o.ID
	}
	o.Request, _ = c.bounded(r.Body)
	if a != nil {
		o.Response, o.Whole = c.bounded(a.Body)
		o.Whole = o.Whole && !a.Cut
	}
	for _, v := range against {
		if !r.Wrong {
			c.mistakes = append(c.mistakes, fmt.Sprintf("exchange %d: our request for %s breaks the contract at %q: "+
				"expected %s, sent %s", o.ID, v.Operation, v.Pointer, v.Expected, v.Actual))
		}
	}
	raised := r.Raised && o.Status == http.StatusInternalServerError
	removable := r.Removable != nil && r.Removable()
	o.asked = kindOfRequest(op, raised, removable, against)
	o.found = found
	for _, v := range found {
		c.noteViolation(o.ID, v)
	}
	c.byScenario[o.Scenario] = append(c.byScenario[o.Scenario], &o)
	c.observations = append(c.observations, &o)
	c.covered.note(&o)
	return o.ID
}

// place adds to an exchange its operation and its time in the test run.
func (c *Collector) place(x *reports.Exchange, op *spec.Operation, sent time.Time) {
	if !op.Field {
		x.Operation = op.ID
	}
	x.AtMS = sent.Sub(c.start).Milliseconds()
}

// Describe returns an exchange of a recording in the form of reports.
func (c *Collector) Describe(ctx context.Context, r exchange.Request, sent time.Time, a *exchange.Response, cause string,
) reports.Exchange {
	var found []spec.Violation
	if a != nil && !a.Cut {
		found = c.oracle.JudgeResponse(spec.Exchange{Side: r.Side, Method: r.Method, Path: r.Path, Query: r.Query,
			Status: a.Status, Header: a.Header, Body: a.Body})
	}
	x := c.recorder.exchange(ctx, r, a, cause, found)
	c.place(&x, c.Find(r.Side, r.Method, r.Path), sent)
	return reports.Record(nil, x)[0]
}

// Find returns the operation of a request. The operation has no ID if it is not in the contract.
func (c *Collector) Find(side spec.Side, method, path string) *spec.Operation {
	op, _ := c.oracle.Find(side, method, path)
	return op
}

// bounded returns the recorded part of a body, and whether it is the whole body.
func (c *Collector) bounded(body []byte) (text string, whole bool) {
	text, isStored := c.bodies[string(body)]
	if isStored {
		return text, true
	}
	limit := min(len(body), keptBody)
	if c.keptBytes+limit > keptBodies {
		limit = min(limit, beginning)
	}
	c.keptBytes += limit
	text = string(body[:limit])
	c.bodies[text] = text
	return text, limit == len(body)
}

// Violation is a contract violation in the responses of an operation. It has the first response and the number of
// responses.
type Violation struct {
	spec.Violation
	Count    int
	Exchange int
}

// maxViolations limits the number of distinct violations of one operation, because the target may choose the names of
// fields.
const maxViolations = 256

func (c *Collector) noteViolation(id int, v spec.Violation) {
	key := v.Key()
	if known := c.violations[key]; known != nil {
		known.Count++
		return
	}
	c.known[v.Operation]++
	if c.known[v.Operation] <= maxViolations {
		c.violations[key] = &Violation{Violation: v, Count: 1, Exchange: id}
	}
}

// Violations returns the contract violations of an operation's responses in a stable order.
func (c *Collector) Violations(operation string) (found []Violation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.violations {
		if v.Operation == operation {
			found = append(found, *v)
		}
	}
	slices.SortFunc(found, func(a, b Violation) int { return strings.Compare(a.Key(), b.Key()) })
	return found
}
