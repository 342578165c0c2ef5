package evidence

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
)

// Observed is one exchange as a collector takes it: without secrets, and with what was judged of it when it came. It can be written
// as JSON, and taken by the collector of a run that goes on where this one ended. Exchange.Scenario says whose it is.
type Observed struct {
	Exchange reports.Exchange `json:"exchange"` // within the bounds of evidence; without an id
	Order    int              `json:"order,omitempty"`
	Part     reports.Part     `json:"part,omitempty"`
	SentNS   int64            `json:"sent_ns"` // from the start of the run
	Side     spec.Side        `json:"side"`
	Base     string           `json:"base"` // base URL of Path
	Path     string           `json:"path"`
	Query    string           `json:"query,omitempty"` // with the interface's names
	Body     *string          `json:"body,omitempty"`  // of an error answer, with the interface's names; nil where it is as received

	Wrong   bool `json:"wrong,omitempty"` // as in client.Request
	Raised  bool `json:"raised,omitempty"`
	Early   bool `json:"early,omitempty"`
	Trusted bool `json:"trusted,omitempty"`

	Found    []spec.Violation `json:"found,omitempty"`   // what the contract says against the answer
	Against  []spec.Violation `json:"against,omitempty"` // and against the request
	OwnToken *string          `json:"own_token,omitempty"`
	Words    *ObservedWords   `json:"words,omitempty"`

	Given []string            `json:"given,omitempty"` // ids that are no UUIDs, from the answer
	Enums map[string][]string `json:"enums,omitempty"` // values of enumerations of the interface, by field

	answer *client.Answer // nil where none came, or where it is not kept
}

// ObservedWords are the words of a vocabulary in an exchange.
type ObservedWords struct {
	Request    spec.Traces `json:"request"`
	Answer     spec.Traces `json:"answer"`
	Understood []string    `json:"understood,omitempty"` // that have no place in answers, and that the target has understood
}

// keptBody bounds the body of an answer that is kept.
const keptBody = 64 << 10

// maxGiven and maxGivenID bound what is kept of ids that are no UUIDs.
const maxGiven, maxGivenID = 1000, 8 << 10

// observe judges an exchange, and reduces it to what a collector takes.
func (c *Collector) observe(ctx context.Context, r client.Request, wire client.Wire, sent time.Time, a *client.Answer, cause string) *Observed {
	judged := c.judgedForm(r, a)
	var found []spec.Violation
	if a != nil {
		received := judged
		received.Body = a.Wire()
		found = c.wire.JudgeResponse(received)
	}
	x := c.recordedForm(ctx, r, wire, a, cause, found)
	x.AtMS = sent.Sub(c.start).Milliseconds()
	o := &Observed{
		Exchange: reports.Bounded(x), Order: attributed(ctx).order, Part: partOf(ctx), SentNS: sent.Sub(c.start).Nanoseconds(),
		Side: r.Side, Base: c.redact.Text(r.Base), Path: c.redact.Text(r.Path), Query: c.redact.Text(r.Query),
		Wrong: r.Wrong, Raised: r.Raised, Early: r.Early, Trusted: r.Trusted,
		Found: c.redacted(found), Against: c.redacted(c.oracle.JudgeRequest(judged)), Words: c.Words.of(wire.Traces, a),
		Enums: c.enumsIn(judged, a), answer: a,
	}
	if a == nil {
		return o
	}
	o.Given = c.givenBy(a)
	if r.Trusted {
		o.OwnToken = c.ownTokenIn(r, a)
	}
	if a.Status >= 400 && a.Received != nil && len(a.Body) <= keptBody {
		body := c.redact.Record(string(a.Body))
		o.Body = &body
	}
	return o
}

// redacted are violations without secrets in what they quote.
func (c *Collector) redacted(found []spec.Violation) []spec.Violation {
	for i := range found {
		v := &found[i]
		v.Actual, v.Pointer, v.Expected = c.redact.Excerpt(v.Actual), c.redact.Text(v.Pointer), c.redact.Text(v.Expected)
		v.Operation = c.redact.Text(v.Operation)
	}
	return found
}

// Take takes an exchange that the run has observed before it was broken off, under the name and order that it has there. What
// was judged of it is not judged again. Its curl line is written anew: people run it. The error is that of the journal.
func (c *Collector) Take(o *Observed) error {
	o.Exchange.Curl = c.redact.Curl(o.Exchange.Method, o.Exchange.URL, o.Exchange.Request, c.Via)
	if o.Exchange.Status >= 400 && o.Exchange.Response.FullSize() <= keptBody {
		o.answer = o.rebuilt()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	id, err := c.journal.Append(o.Exchange)
	if err != nil {
		return err
	}
	c.take(id, o)
	return nil
}

// rebuilt is the answer, as far as it was recorded.
func (o *Observed) rebuilt() *client.Answer {
	x := &o.Exchange
	a := &client.Answer{Status: x.Status, Header: x.Response.Headers, Body: []byte(x.Response.Body),
		Request: client.Request{Side: o.Side, Base: o.Base, Method: x.Method, Path: o.Path, Query: o.Query, Wrong: o.Wrong, Raised: o.Raised, Early: o.Early, Trusted: o.Trusted}}
	if o.Body != nil {
		a.Body, a.Received = []byte(*o.Body), a.Body
	}
	return a
}

// take notes an exchange under its id. The caller holds the lock.
func (c *Collector) take(id int, o *Observed) {
	c.place(id, o)
	c.Words.note(id, o.Exchange.Status, o.Words)
	for _, v := range o.Found {
		c.collect(v, id)
	}
	for _, given := range o.Given {
		c.given[given] = true
	}
	against := c.given.without(slices.Clone(o.Against), o.Path)
	c.noteMistakes(id, o, against)
	c.cover(id, o, against)
	if o.OwnToken != nil {
		if c.ownToken.Answers++; c.ownToken.Answers == 1 {
			c.ownToken.Exchange, c.ownToken.Pointer = id, *o.OwnToken
		}
	}
	if o.Trusted && o.answered() && !o.asksToWait() && !o.tooEarly() {
		c.noteTrust(id, o)
	}
}

// answered tells whether an answer came.
func (o *Observed) answered() bool { return o.Exchange.Status != 0 }

// asksToWait tells whether an answer only asks the client to wait.
func (o *Observed) asksToWait() bool {
	status := o.Exchange.Status
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && o.header("Retry-After") != ""
}

// tooEarly tells whether the target may have failed because it did not serve yet.
func (o *Observed) tooEarly() bool { return o.Early && o.Exchange.Status >= 500 }

func (o *Observed) header(name string) string {
	return http.Header(o.Exchange.Response.Headers).Get(name)
}

func (o *Observed) contentType() string {
	kind, _, _ := mime.ParseMediaType(o.header("Content-Type"))
	return kind
}

// enumsIn are the values of enumerations of the interface in a request and in its answer. A request body that is not JSON was
// sent on purpose; the answer of an error has no such values.
func (c *Collector) enumsIn(x spec.Exchange, a *client.Answer) map[string][]string {
	op, known := c.oracle.Find(x.Side, x.Method, x.Path)
	if !known {
		return nil
	}
	var seen map[string][]string
	note := func(field string, v gjson.Result) {
		if v.Type != gjson.String || !slices.Contains(c.enumerated[field], v.Str) || slices.Contains(seen[field], v.Str) {
			return
		}
		if seen == nil {
			seen = map[string][]string{}
		}
		seen[field] = append(seen[field], v.Str)
	}
	if json.Valid(x.RequestBody) {
		for field, path := range sentEnums[op.ID] {
			note(field, gjson.GetBytes(x.RequestBody, path))
		}
	}
	if a == nil || a.Status >= 400 || !json.Valid(x.Body) {
		return seen
	}
	body := gjson.ParseBytes(x.Body)
	for field, paths := range enumPaths {
		if (field == "Message.type") != (x.Side == spec.AgentServer) {
			continue
		}
		for _, path := range paths {
			for _, v := range body.Get(path).Array() {
				note(field, v)
			}
		}
	}
	return seen
}
