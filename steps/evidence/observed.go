package evidence

import (
	"context"
	"mime"
	"net/http"
	"time"

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

	Found    []spec.Violation `json:"found,omitempty"`    // what the contract says against the answer
	Unjudged bool             `json:"unjudged,omitempty"` // the run was ended before that was known
	Against  []spec.Violation `json:"against,omitempty"`  // and against the request
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

// observe judges an exchange, and reduces it to what a collector takes. Where the context ends first, the answer is not judged.
func (c *Collector) observe(ctx context.Context, r client.Request, wire client.Wire, sent time.Time, a *client.Answer, cause string) *Observed {
	redact, judged := c.recorder.redact, judgedForm(r, a)
	leave, err := c.judge.enter(ctx, a)
	var found []spec.Violation
	if err == nil {
		defer leave()
		found, err = c.judge.answer(ctx, judged, a)
	}
	x := c.recorder.exchange(ctx, r, wire, a, cause, found)
	x.AtMS = sent.Sub(c.start).Milliseconds()
	o := &Observed{
		Exchange: reports.Bounded(x), Order: attributed(ctx).order, Part: partOf(ctx), SentNS: sent.Sub(c.start).Nanoseconds(),
		Side: r.Side, Base: redact.Text(r.Base), Path: redact.Text(r.Path), Query: redact.Text(r.Query),
		Wrong: r.Wrong, Raised: r.Raised, Early: r.Early, Trusted: r.Trusted,
		Found: c.recorder.violations(found), Against: c.recorder.violations(c.judge.oracle.JudgeRequest(judged)), Words: c.Words.of(wire.Traces, a),
		Unjudged: err != nil, answer: a,
	}
	if err == nil {
		o.Enums = c.judge.enumsIn(judged, a)
	}
	if a == nil {
		return o
	}
	o.Given = c.recorder.givenBy(a)
	if r.Trusted {
		o.OwnToken = c.recorder.ownTokenIn(r, a)
	}
	if a.Status >= 400 && a.Received != nil && len(a.Body) <= keptBody {
		body := redact.Record(string(a.Body))
		o.Body = &body
	}
	return o
}

// Take takes an exchange that the run has observed before it was broken off, under the name and order that it has there. What
// was judged of it is not judged again. Its curl line is written anew: people run it. The error is that of the journal.
func (c *Collector) Take(o *Observed) error {
	o.Exchange.Curl = c.recorder.curl(&o.Exchange)
	if whole := &o.Exchange.Response; o.Exchange.Status >= 400 && whole.FullSize() <= keptBody && len(whole.Body) >= whole.Size {
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
	c.places.note(id, o, c.start)
	c.Words.note(id, o.Exchange.Status, o.Words)
	for _, v := range o.Found {
		c.contract.note(id, v, c.judge.vocabulary)
	}
	if op, known := c.judge.oracle.Find(o.Side, o.Exchange.Method, o.Path); known && o.Unjudged {
		c.contract.noteUnjudged(op.ID)
	}
	against := c.ownRequests.note(id, o)
	c.seen.note(id, o, against)
	if o.OwnToken != nil {
		c.ownTokens.note(id, *o.OwnToken)
	}
	if o.Trusted && o.answered() && !o.asksToWait() && !o.tooEarly() {
		c.trust.note(id, o)
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
