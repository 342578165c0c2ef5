package evidence

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Observation is an exchange for rules about all that a run has seen: who sent what to which operation, and what came back. Bodies have the
// interface's names, and secrets: nothing of it may be reported as it is.
type Observation struct {
	ID          int
	Op          spec.Operation // its ID is "" where the interface and its known extensions have none
	Side        spec.Side
	Base        string // address that Op.Path is relative to
	Method      string
	Path, Query string // as they were sent
	Caller      client.Caller
	Sent, Ended time.Time
	Status      int // 0 where no answer came
	Wrong       bool
	Trusted     bool // answered, and sent with credentials of the configuration; the answer does not only ask to wait
	// Request and Answer are the bodies; of a large one, or one that comes late in a large run, the beginning.
	Request, Answer string
}

// observation is what is kept of an exchange.
func (c *Collector) observation(id int, o *observed) Observation {
	r := o.request
	kept := Observation{ID: id, Op: o.op, Side: r.Side, Base: r.Base, Method: r.Method, Path: r.Path, Query: r.Query, Caller: r.Caller, Sent: o.Sent,
		Ended: o.Sent, Status: o.Exchange.Status, Wrong: r.Wrong,
		Trusted: r.Trusted && o.answered() && !o.asksToWait() && !o.tooEarly(), Request: c.bounded(r.Body)}
	if o.answer != nil {
		kept.Ended, kept.Answer = o.Sent.Add(o.answer.Took), c.bounded(o.answer.Body)
	}
	return kept
}

// In is the value of a parameter of the path, "" where there is none.
func (o *Observation) In(parameter string) string {
	at := slices.Index(strings.Split(o.Op.Path, "/"), "{"+parameter+"}")
	if segments := strings.Split(o.Path, "/"); at >= 0 && at < len(segments) {
		value, _ := url.PathUnescape(segments[at])
		return value
	}
	return ""
}

// bounded is a body within what is kept of one, and of all.
func (c *Collector) bounded(body []byte) string {
	limit := min(len(body), keptBody)
	if c.observedBytes+limit > keptBodies {
		limit = min(limit, beginning)
	}
	c.observedBytes += limit
	return string(body[:limit])
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

// Observations are all exchanges, in the order of their ids.
func (c *Collector) Observations() []Observation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.observations)
}
