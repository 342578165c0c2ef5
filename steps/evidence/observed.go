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

// observed is one exchange as a collector takes it: its Exchange without secrets, and with what was judged of it when it came. Exchange.Scenario
// says whose it is.
type observed struct {
	Exchange reports.Exchange // within the bounds of evidence; without an id
	Order    int
	Part     reports.Part
	Sent     time.Time
	Side     spec.Side
	Path     string
	Query    string

	Wrong, Raised, Early, Trusted bool // as in client.Request

	Found    []spec.Violation // what the contract says against the answer
	Against  []spec.Violation // and against the request
	OwnToken *string
	Words    *observedWords // nil where no word is renamed

	Given []string            // ids that are no UUIDs, from the answer
	Enums map[string][]string // values of enumerations of the interface, by field

	request client.Request
	op      spec.Operation
	known   bool           // there is an operation for it
	answer  *client.Answer // nil where none came
}

// keptBody bounds the body of an answer that is kept.
const keptBody = 64 << 10

// observe judges an exchange, and reduces it to what a collector takes.
func (c *Collector) observe(ctx context.Context, r client.Request, sent time.Time, a *client.Answer, cause string) *observed {
	redact, judged := c.recorder.redact, judgedForm(r, a)
	found := c.judge.answer(judged, a)
	op, known := c.judge.oracle.Find(r.Side, r.Method, r.Path)
	x := c.recorder.exchange(ctx, r, a, cause, found)
	if known && !op.Field {
		x.Operation = op.ID
	}
	x.AtMS = sent.Sub(c.start).Milliseconds()
	o := &observed{
		Exchange: reports.Bounded(x), Order: attributed(ctx).order, Part: partOf(ctx), Sent: sent,
		Side: r.Side, Path: redact.Text(r.Path), Query: redact.Text(r.Query),
		Wrong: r.Wrong, Raised: r.Raised, Early: r.Early, Trusted: r.Trusted,
		Found: c.recorder.violations(found), Against: c.recorder.violations(c.judge.oracle.JudgeRequest(judged)), Words: c.Words.of(r, a),
		Enums: c.judge.enumsIn(op, judged, a), request: r, op: op, known: known, answer: a,
	}
	if a == nil {
		return o
	}
	o.Given = c.recorder.givenBy(a)
	if r.Trusted {
		o.OwnToken = c.recorder.ownTokenIn(r, a)
	}
	return o
}

// take notes an exchange under its id. The caller holds the lock.
func (c *Collector) take(id int, o *observed) {
	c.notePlace(id, o)
	c.observations = append(c.observations, c.observation(id, o)) // ids are counted from one
	c.Words.note(id, o.Words)
	for _, v := range o.Found {
		c.noteViolation(id, v)
	}
	against := c.noteOwnRequest(id, o)
	c.noteTouched(id, o, against)
	if o.OwnToken != nil {
		c.noteOwnToken(id, *o.OwnToken)
	}
}

// answered tells whether an answer came.
func (o *observed) answered() bool { return o.Exchange.Status != 0 }

// asksToWait tells whether an answer only asks the client to wait.
func (o *observed) asksToWait() bool {
	status := o.Exchange.Status
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && o.header("Retry-After") != ""
}

// tooEarly tells whether the target may have failed because it did not serve yet.
func (o *observed) tooEarly() bool { return o.Early && o.Exchange.Status >= 500 }

func (o *observed) header(name string) string {
	return http.Header(o.Exchange.Response.Headers).Get(name)
}

func (o *observed) contentType() string {
	kind, _, _ := mime.ParseMediaType(o.header("Content-Type"))
	return kind
}
