// Package client sends HTTP requests to the target and records every exchange.
//
// It is the only way from the suite to the target. Each request has a time limit, each answer a size limit, redirects
// are followed on the target only, requests to wait (429, and 503 with Retry-After) are obeyed within limits, and
// secrets are redacted before anything is recorded. It passes each exchange to an observer and does not judge it.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Observer gets every exchange, with the time at which it was sent, and returns the id under which it was recorded.
// The answer is nil if there was none; cause then says why.
type Observer func(ctx context.Context, r exchange.Request, sent time.Time, a *exchange.Response, cause string) int

// Client sends requests to the target. It may be used by many goroutines.
type Client struct {
	Transport http.RoundTripper
	Names     *Naming // of the addresses that the control plane names
	Words     spec.Words
	Observe   Observer
	Throttled func(asked time.Duration, granted bool) // called for each answer that asked the client to wait
	Down      *Breaker
	InFlight  *Semaphore                     // for requests that are sent
	Limit     *rate.Limiter                  // of requests to the target; nil: none
	ReadOnly  bool                           // requests that would write are not sent
	MayWrite  func(r exchange.Request) error // asked before a request that would write is sent; nil: all may
	large     chan struct{}                  // the place of a large body
	gates     sync.Map                       // by host

	granted, refused, waited atomic.Int64 // see Waited
}

// New returns a client that has so many requests in flight, with a route to the target.
func New(concurrency int, route Route) *Client {
	return &Client{
		Names:     route.Names,
		Transport: route.transports(concurrency),
		Observe:   func(context.Context, exchange.Request, time.Time, *exchange.Response, string) int { return 0 },
		Throttled: func(time.Duration, bool) {},
		Down:      &Breaker{Limit: max(3*concurrency, 12), seen: map[string]*life{}},
		InFlight:  NewSemaphore(concurrency),
		large:     make(chan struct{}, 1),
	}
}

// Close closes the idle connections.
func (c *Client) Close() { (&http.Client{Transport: c.Transport}).CloseIdleConnections() }

// Waited is how often the client waited because a target had asked for it, how often it did not, and for how long it
// agreed to wait in all.
func (c *Client) Waited() (granted, refused int, long time.Duration) {
	return int(c.granted.Load()), int(c.refused.Load()), time.Duration(c.waited.Load())
}

// Do sends the request and returns the answer. If the target asks to wait, the request is sent again, within limits;
// after a 429 all requests to the host wait. The error is a *NoAnswer, or that of the context.
func (c *Client) Do(ctx context.Context, r exchange.Request) (*exchange.Response, error) {
	if c.ReadOnly && r.Writes() {
		return nil, fmt.Errorf("%s %s would write to the target, and the run only reads: give the scenario the tag @writes",
			r.Method, r.Path) // a mistake of the suite
	}
	if c.MayWrite != nil && r.Writes() {
		if err := c.MayWrite(r); err != nil {
			return nil, err
		}
	}
	if why := unusable(r); why != "" {
		r.Base = safe.Cut(r.Base, maxAddress/8)
		r.Path = safe.Cut(r.Path, maxAddress/8)
		return nil, &exchange.NoResponse{Request: r, Cause: why, Closed: true}
	}
	g := c.gateOf(r.Base)
	for attempt := 0; ; attempt++ {
		queued, leave, err := c.enter(ctx, g, r)
		if err != nil {
			return nil, err
		}
		a, err := c.withCredentials(ctx, r)
		if err != nil {
			leave()
			return nil, err
		}
		a.Queued = queued
		wait, asked := askedToWait(a, attempt)
		if !asked {
			g.answered()
			leave()
			return a, nil
		}
		granted := attempt < maxAttempts && wait <= maxWait
		all := a.Status == http.StatusTooManyRequests
		if granted && all {
			granted = c.hold(g, a.Sent, wait)
		} else if granted {
			granted = c.mayWait(wait)
		}
		leave()
		c.Throttled(wait, granted)
		if !granted {
			c.refused.Add(1)
			return nil, &exchange.NoResponse{Request: r, Busy: a.Status, Remedy: "lift its rate limit for the tests",
				Cause: fmt.Sprintf("status %d: the target asks to wait longer or more often than the suite does", a.Status)}
		}
		c.granted.Add(1)
		if !all {
			if err := Sleep(ctx, wait); err != nil {
				return nil, err
			}
		}
		Hurry(ctx, AwaitedByOther) // what is sent again goes first
	}
}

// enter waits until the request may be sent, and tells for how long that counts. Leave gives back what it took.
func (c *Client) enter(ctx context.Context, g *gate, r exchange.Request) (queued time.Duration, leave func(), err error) {
	leave = func() {}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	if !r.Waits && ctx.Value(togetherKey{}) == nil {
		came := time.Now()
		races := urgencyOf(ctx).Load() == int32(RunInProgress)
		if leave, err = c.InFlight.Enter(ctx, 1); err != nil {
			return 0, leave, err
		}
		if races {
			queued = time.Since(came)
		}
	}
	if err = g.awaitOpen(ctx); err != nil {
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
	delay := turn.Delay() // it shrinks while time passes
	if err := Sleep(ctx, delay); err != nil {
		turn.Cancel()
		return 0, err
	}
	return delay, nil
}

// withCredentials sends the request with the credentials as they are now, and once more where they have changed after
// an answer that may have refused them: at the same place, since they may not last until there is another one.
func (c *Client) withCredentials(ctx context.Context, r exchange.Request) (*exchange.Response, error) {
	if r.Renew == nil {
		return c.once(ctx, r)
	}
	if header, changed := r.Renew(nil); changed {
		r.Header = header
	}
	a, err := c.once(ctx, r)
	if err != nil {
		return nil, err
	}
	header, changed := r.Renew(a)
	if !changed {
		return a, nil
	}
	r.Header, r.Renew = header, nil
	if _, err := c.awaitTurn(ctx); err != nil {
		return nil, err
	}
	return c.once(ctx, r)
}

// Try sends a request once, and records nothing. The error says that no answer came: a *NoAnswer, or the cause of the
// context.
func (c *Client) Try(ctx context.Context, r exchange.Request) error {
	a, err := c.send(ctx, r)
	if err == nil {
		c.leavePlace(a)
	}
	return err
}

func (c *Client) once(ctx context.Context, r exchange.Request) (*exchange.Response, error) {
	if cause := c.Down.Cause(r.Base); cause != "" {
		return nil, &exchange.NoResponse{Request: r, Cause: cause}
	}
	sent := time.Now()
	a, err := c.send(ctx, r)
	if failure, is := errors.AsType[*exchange.NoResponse](err); is && !errors.As(err, new(*exchange.RefusedAddress)) { // else nothing was sent
		c.Down.Failed(r, failure)
		failure.ID = c.Observe(ctx, failure.Request, sent, nil, failure.Cause)
	}
	if err != nil {
		return nil, err
	}
	c.Down.Answered(r)
	c.translate(a.Response)
	a.ID = c.Observe(ctx, a.Request, a.Sent, a.Response, "")
	shorten(a.Response)
	c.leavePlace(a)
	return a.Response, nil
}

// translate spells the body of an answer as the interface does, and keeps what was received.
func (c *Client) translate(a *exchange.Response) {
	isJSON := a.CheckJSON()
	if len(c.Words) > 0 && isJSON {
		a.Received = a.Body
		a.Body = c.Words.FromTarget(a.Request.Side, a.Body)
	}
}

func (c *Client) newRequest(ctx context.Context, r exchange.Request) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(c.Words.ToTarget(r.Side, r.Body))
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, r.Header)
	return request, nil
}

// send sends a request. If the connection was idle before and was closed without a byte of a response, send repeats the
// request once on a new connection and marks it as repeated, because the server may have carried out both. net/http itself
// repeats GET requests, and requests of which it wrote nothing.
func (c *Client) send(ctx context.Context, r exchange.Request) (*received, error) {
	seen := &progress{}
	a, err := c.sendOnce(ctx, r, seen)
	if none, is := errors.AsType[*exchange.NoResponse](err); is && seen.closedIdle(none) {
		c.Close()
		r.Repeated = true
		return c.sendOnce(ctx, r, &progress{})
	}
	return a, err
}

func (c *Client) sendOnce(ofRun context.Context, r exchange.Request, seen *progress) (*received, error) {
	ctx, cancel := context.WithCancel(ofRun)
	defer cancel()
	timer := time.AfterFunc(r.Timeout, cancel)
	defer timer.Stop()
	request, err := c.newRequest(seen.watch(ctx), r)
	if err != nil {
		return nil, seen.noAnswer(r, err)
	}
	a := &received{Response: &exchange.Response{Request: r, Sent: time.Now()}}
	response, err := follow(c.Transport, request)
	if err == nil {
		a.Status = response.StatusCode
		a.Header = headersOf(response.Header)
		a.TLS = response.TLS
		if response.Request != request {
			a.Forwarded = response.Request.URL.String()
		}
		// The context does not govern the body of an answer that switches protocols.
		stop := context.AfterFunc(ctx, func() { _ = response.Body.Close() })
		if a.Status != http.StatusSwitchingProtocols {
			err = c.readInto(ctx, a, response.Body, timer)
		}
		_ = response.Body.Close()
		stop()
	}
	a.Took = time.Since(a.Sent) - a.waited
	switch {
	case err == nil:
		return a, nil
	case ofRun.Err() != nil:
		return nil, context.Cause(ofRun)
	case ctx.Err() != nil:
		err = errSilent
	}
	return nil, seen.noAnswer(r, err)
}
