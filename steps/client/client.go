// Package client sends HTTP requests to the target and records every exchange.
//
// It is the only way from the suite to the target. Each request has a time limit, each answer a size limit,
// redirects are followed on the target only, requests to wait (429, and 503 with Retry-After) are obeyed within
// limits, and secrets are redacted before anything is recorded. It passes each exchange to an observer and does not judge
// it.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
)

// Request is what the suite asks of the target.
type Request struct {
	Side    spec.Side
	Base    string // base URL of Path
	Method  string
	Path    string // escaped, from the base: "/v2/deployments"
	Query   string // escaped, without "?"
	Header  http.Header
	Body    []byte // with the interface's names for neutral words
	Timeout time.Duration
	// Wrong says that the request breaks the contract on purpose. Any other request that does is an error of the suite.
	Wrong bool
	// Caller says who sends it.
	Caller Caller
	// Waits says that the answer may take as long as a run of the graph: the request takes no place of those in flight.
	Waits bool
	// Raised says that the request is about a run whose graph was told to raise an error.
	Raised bool
	// Early says that the target may not serve yet: no answer, or one with 5xx, is no sign of anything else.
	Early bool
	// Trusted says that the request carries credentials of the configuration, which the target is expected to accept.
	Trusted bool
	// Renew, where it is not nil, returns the header with the credentials as they are now, after an answer that may
	// have refused them, and whether they have changed: then the request is sent once more.
	Renew func(a *Answer) (header http.Header, changed bool)
}

// Caller is who sends a request, as far as the configuration knows.
type Caller struct {
	Name string // key of the configuration that holds the credentials, such as users.0; or a name of ours
	Kind CallerKind
}

// CallerKind tells callers apart by what their credentials are.
type CallerKind int

// The kinds of callers.
const (
	SomeCredentials    CallerKind = iota // that may be valid
	NoCredentials                        // the request has no header that could carry any
	UnknownCredentials                   // only the value that no target knows
)

// Answer is what came back. Body is with the interface's names for neutral words; the recorded exchange has it as it
// was received.
type Answer struct {
	Request  Request
	Status   int
	Header   http.Header
	Body     []byte
	Received []byte // the body with the target's names; nil where it is Body
	Sent     time.Time
	Took     time.Duration
	Queued   time.Duration // before it was sent: for the limit of requests, and for a place while a run was in progress
	ID       int           // of the recorded exchange

	TLS       *tls.ConnectionState // of the connection; nil over http
	Forwarded string               // the address that answered, where a redirect on the same host was followed

	kind   kind          // of the body
	alone  bool          // has the place of a large body
	waited time.Duration // for it
}

// Wire is the body as it was received.
func (a *Answer) Wire() []byte {
	if a.Received == nil {
		return a.Body
	}
	return a.Received
}

// OK tells whether the status is 2xx.
func (a *Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Refused tells whether the status is 4xx.
func (a *Answer) Refused() bool { return a.Status >= 400 && a.Status < 500 }

// IsJSON tells whether the body is one JSON text of bounded depth and with a bounded number of values. GJSON's check
// recurses without a limit: a hostile body would crash the process.
func (a *Answer) IsJSON() bool {
	if a.kind == unknown {
		return kindOf(a.Body) == isJSON
	}
	return a.kind == isJSON
}

// IsArray tells whether the body is a JSON array.
func (a *Answer) IsArray() bool {
	return a.IsJSON() && bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte{'['})
}

// Get returns what the body holds at the path (GJSON syntax). In a body that is not JSON nothing exists.
func (a *Answer) Get(path string) gjson.Result {
	if !a.IsJSON() {
		return gjson.Result{}
	}
	return gjson.GetBytes(a.Body, path)
}

// Observer gets every exchange, with the time at which it was sent, and returns the id under which it was recorded.
// The answer is nil if there was none; cause then says why.
type Observer func(ctx context.Context, r Request, sent time.Time, a *Answer, cause string) int

// Client sends requests to the target. It may be used by many goroutines.
type Client struct {
	HTTP      *http.Client
	Names     *Naming // of the addresses that the control plane names
	Words     spec.Words
	Observe   Observer
	Throttled func(asked time.Duration, granted bool) // called for each answer that asked the client to wait
	Down      *Breaker
	InFlight  *Semaphore    // for requests that are sent
	Limit     *rate.Limiter // of requests to the target; nil: none
	ReadOnly  bool          // requests that would write are not sent; the error is a *WriteRefused
	patience  *patience
	large     chan struct{} // the place of a large body
	gates     sync.Map      // by host
	secured   sync.Map      // bool by host and port: it asked for a client certificate and has answered nothing
}

// New returns a client that has so many requests in flight, with a route to the target.
func New(concurrency int, route Route) *Client {
	return &Client{
		Names:     route.Names,
		HTTP:      &http.Client{Transport: route.transports(concurrency), CheckRedirect: stayOnTarget},
		Observe:   func(context.Context, Request, time.Time, *Answer, string) int { return 0 },
		Throttled: func(time.Duration, bool) {},
		Down:      &Breaker{Limit: max(3*concurrency, 12)},
		InFlight:  NewSemaphore(concurrency),
		patience:  &patience{left: maxWaiting},
		large:     make(chan struct{}, 1),
	}
}

// Close closes the idle connections.
func (c *Client) Close() { c.HTTP.CloseIdleConnections() }

// Waited is the wall time during which some request waited because the target had asked for it.
func (c *Client) Waited() time.Duration { return c.patience.waited() }

// Do sends the request and returns the answer. If the target asks to wait, the request is sent again, within
// limits; after a 429 all requests wait. The error is a *NoAnswer, a *Busy, a *WriteRefused, or that of the context.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	if c.ReadOnly && r.writes() {
		return nil, &WriteRefused{Request: r}
	}
	if why := unusable(r); why != "" {
		r.Base, r.Path = safe.Cut(r.Base, maxAddress/8), safe.Cut(r.Path, maxAddress/8)
		return nil, &NoAnswer{Request: r, Cause: why, Closed: true}
	}
	g := c.gateOf(r.Base)
	for attempt := 0; ; attempt++ {
		queued, leave, err := c.enter(ctx, g, r)
		if err != nil {
			return nil, err
		}
		if header, changed := r.renewed(nil); changed {
			r.Header = header
		}
		a, err := c.once(ctx, r)
		if err == nil {
			if header, changed := r.renewed(a); changed { // at the same place: they may not last until there is another one
				r.Header, r.Renew = header, nil
				if _, err = c.awaitTurn(ctx); err == nil {
					a, err = c.once(ctx, r)
				}
			}
		}
		if err != nil {
			leave()
			return nil, err
		}
		a.Queued = queued
		wait, asked := askedToWait(a, attempt)
		if !asked {
			g.answered(c.InFlight)
			leave()
			return a, nil
		}
		granted, all := attempt < maxAttempts && wait <= maxWait, a.Status == http.StatusTooManyRequests
		if granted && all {
			granted = g.hold(a.Sent, wait, c.patience, c.InFlight)
		} else if granted {
			granted = c.patience.take(wait)
		}
		leave()
		c.Throttled(wait, granted)
		if !granted {
			return nil, &Busy{Request: r, Status: a.Status}
		}
		if !all {
			if err := c.patience.wait(ctx, wait); err != nil {
				return nil, err
			}
		}
		Hurry(ctx, AwaitedByOther) // what is sent again goes first
	}
}

// enter waits until the request may be sent, and tells for how long that counts. Leave gives back what it took.
func (c *Client) enter(ctx context.Context, g *gate, r Request) (queued time.Duration, leave func(), err error) {
	leave = func() {}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if !r.Waits && ctx.Value(togetherKey{}) == nil {
		came, races := time.Now(), urgencyOf(ctx).Load() == int32(RunInProgress)
		if leave, err = c.InFlight.Enter(ctx, 1); err != nil {
			return 0, leave, err
		}
		if races {
			queued = time.Since(came)
		}
	}
	if err = g.awaitOpen(ctx, c.patience); err != nil {
		return 0, leave, err
	}
	turn, err := c.awaitTurn(ctx)
	return queued + turn, leave, err
}

// awaitTurn waits until the limit of requests allows the next one, and tells for how long.
func (c *Client) awaitTurn(ctx context.Context) (queued time.Duration, err error) {
	if c.Limit == nil {
		return 0, nil
	}
	turn := c.Limit.Reserve()
	if err := Sleep(ctx, turn.Delay()); err != nil {
		turn.Cancel()
		return 0, err
	}
	return turn.Delay(), nil
}

func (r *Request) renewed(a *Answer) (header http.Header, changed bool) {
	if r.Renew == nil {
		return nil, false
	}
	return r.Renew(a)
}

// Try sends a request once, and records nothing. The error says that no answer came: a *NoAnswer, or the cause of the
// context.
func (c *Client) Try(ctx context.Context, r Request) error {
	a, err := c.send(ctx, r)
	switch {
	case err == nil:
		c.leavePlace(a)
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return noAnswer(r, err)
}

func (c *Client) once(ctx context.Context, r Request) (*Answer, error) {
	if cause := c.Down.Cause(r.Base); cause != "" {
		return nil, &NoAnswer{Request: r, Cause: cause}
	}
	sent := time.Now()
	a, err := c.send(ctx, r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		failure := noAnswer(r, err)
		if errors.As(err, new(*NotNamed)) { // nothing was sent
			return nil, failure
		}
		c.Down.Failed(r, failure)
		failure.ID = c.Observe(ctx, r, sent, nil, failure.Cause)
		return nil, failure
	}
	c.Down.Answered(r)
	c.translate(a)
	a.ID = c.Observe(ctx, r, a.Sent, a, "")
	a.shorten()
	c.leavePlace(a)
	return a, nil
}

// translate spells the body of an answer as the interface does, and keeps what was received.
func (c *Client) translate(a *Answer) {
	a.kind = kindOf(a.Body)
	if len(c.Words) > 0 && a.kind == isJSON {
		a.Received = a.Body
		a.Body = c.Words.FromTarget(a.Request.Side, a.Body)
	}
}

func (c *Client) newRequest(ctx context.Context, r Request) (*http.Request, error) {
	address := r.Base + r.Path
	if r.Query != "" {
		address += "?" + r.Query
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(c.Words.ToTarget(r.Side, r.Body))
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return nil, err
	}
	for name, values := range r.Header {
		request.Header[name] = values
	}
	return request, nil
}

// maxSends bounds how often a request is sent because kept connections turn out to be closed.
const maxSends = 4

// send sends a request once, or again where a kept connection was closed before anything of the answer came:
// a server may close a connection that is idle at the very moment at which a request is sent on it.
func (c *Client) send(ctx context.Context, r Request) (*Answer, error) {
	for attempt := 1; ; attempt++ {
		limited, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(r.Timeout, cancel)
		seen := progress{client: c, host: reports.HostPort(r.Base)}
		request, err := c.newRequest(seen.watch(limited), r)
		if err != nil {
			timer.Stop()
			cancel()
			return nil, err
		}
		a := &Answer{Request: r, Sent: time.Now()}
		response, err := c.HTTP.Do(request)
		if err == nil {
			c.secured.Store(seen.host, false)
			a.Status, a.Header, a.TLS = response.StatusCode, headersOf(response.Header), response.TLS
			if response.Request != request {
				a.Forwarded = response.Request.URL.String()
			}
			// The context does not govern the body of an answer that switches protocols.
			stop := context.AfterFunc(limited, func() { _ = response.Body.Close() })
			if a.Status != http.StatusSwitchingProtocols {
				err = c.readInto(limited, a, response.Body, timer)
			}
			_ = response.Body.Close()
			stop()
		}
		a.Took = time.Since(a.Sent) - a.waited
		timedOut := limited.Err() != nil
		timer.Stop()
		cancel()
		switch {
		case err == nil:
			return a, nil
		case timedOut && ctx.Err() == nil:
			return nil, seen.failed(errSilent)
		case timedOut || !seen.reused.Load() || seen.began.Load() || attempt == maxSends:
			return nil, seen.failed(err)
		}
		c.HTTP.CloseIdleConnections()
		if _, err := c.awaitTurn(ctx); err != nil {
			return nil, err
		}
	}
}
