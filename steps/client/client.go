// Package client sends HTTP requests to the target and records every exchange.
//
// The suite sends requests to the target only with this package. A request has a time limit, and the body of a response
// a size limit. Redirects are followed within the target only. The client waits if the target asks for it (429, or 503
// with Retry-After), within limits. Secrets are redacted before anything is recorded. The client passes each exchange to
// an observer and does not judge it.
//
// Credentials go only to allowed addresses. The agent server URL that a control plane returns is checked, and so is
// each connection to it ([Naming]). Headers of a gateway, the client certificate and tls.server_name go only to
// hosts of the configuration ([Route]).
//
// A [Semaphore] limits the requests in flight. A scenario that waits holds no slot, and the time limit of a request
// begins when it is sent. Joins, and requests that race, are sent outside of this limit, so that no scenario waits
// for several slots.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
)

// Observer receives every exchange with the time at which it was sent, and returns the ID under which it was recorded.
// The response is nil if there was none; cause is the reason.
type Observer func(ctx context.Context, r exchange.Request, sent time.Time, a *exchange.Response, cause string) int

// Client sends requests to the target. Its methods may be called concurrently.
type Client struct {
	Transport http.RoundTripper
	Names     *Naming // rules for the addresses that the control plane returns
	Words     spec.Words
	Observe   Observer
	Throttled func(asked time.Duration, granted bool) // called for each response that asks the client to wait; granted reports whether it does
	Down      *Breaker
	InFlight  *Semaphore                     // limits the requests in flight
	Limit     *rate.Limiter                  // limits the rate of requests; nil means no limit
	ReadOnly  bool                           // writes are not sent
	MayWrite  func(r exchange.Request) error // called before each write; an error prevents it. nil allows all

	route *Route
	large chan struct{} // semaphore with one slot, for large bodies
	gates sync.Map      // *gate by host

	separate atomic.Bool  // see SeparateCallers
	pools    atomic.Int64 // the number of contexts of OneConnection

	granted, refused, waited atomic.Int64 // see Waited
}

// New returns a client that has at most concurrency requests in flight.
func New(concurrency int, route Route) *Client {
	return &Client{
		Names:     route.Names,
		route:     &route,
		Transport: route.transports(concurrency),
		Observe:   func(context.Context, exchange.Request, time.Time, *exchange.Response, string) int { return 0 },
		Throttled: func(time.Duration, bool) {},
		Down:      &Breaker{Limit: max(3*concurrency, 12), hosts: map[string]*failures{}},
		InFlight:  NewSemaphore(concurrency),
		large:     make(chan struct{}, 1),
	}
}

// Close closes the idle connections.
func (c *Client) Close() { (&http.Client{Transport: c.Transport}).CloseIdleConnections() }

// OneConnection returns a context whose requests are sent on one connection that no other request uses, if they are sent one
// after the other and the server keeps the connection open.
func (c *Client) OneConnection(ctx context.Context) context.Context {
	return inPool(ctx, &pool{name: "connection " + strconv.FormatInt(c.pools.Add(1), 10)})
}

// SeparateCallers makes each caller use connections that no other caller uses from now on. If a server takes the caller from
// the connection and not from the request, this keeps the failure from showing in all other requirements.
func (c *Client) SeparateCallers() { c.separate.Store(true) }

// Waited returns how often the client waited at the request of the target, how often it refused to wait, and the total
// time that it agreed to wait.
func (c *Client) Waited() (granted, refused int, total time.Duration) {
	return int(c.granted.Load()), int(c.refused.Load()), time.Duration(c.waited.Load())
}

// Do sends the request and returns the response. If the target asks the client to wait, Do sends the request again,
// within limits. If 429 responses are frequent, all requests to the host wait. The error is an [exchange.NoResponse], or
// the cause of the context.
func (c *Client) Do(ctx context.Context, r exchange.Request) (*exchange.Response, error) {
	if err := c.check(r); err != nil {
		return nil, err
	}
	r.AfterOther = poolOf(ctx).isAfterOther(r.Caller.Name)
	g := c.gateOf(r.Base)
	for attempt := 0; ; attempt++ {
		a, pause, err := c.attempt(ctx, g, r, attempt)
		if err != nil || pause == nil {
			return a, err
		}
		c.Throttled(pause.asked, pause.granted)
		if !pause.granted {
			c.refused.Add(1)
			return nil, &exchange.NoResponse{Request: r, Busy: a.Status, Remedy: "lift its rate limit for the tests",
				Cause: fmt.Sprintf("status %d: the target asks to wait longer or more often than the suite does", a.Status)}
		}
		c.granted.Add(1)
		if pause.gated {
			continue
		}
		if err := Sleep(ctx, pause.asked); err != nil {
			return nil, err
		}
	}
}

// check returns an error if the client must not send the request.
func (c *Client) check(r exchange.Request) error {
	if c.ReadOnly && r.Writes() { // an error of the suite
		return fmt.Errorf("%s %s would write to the target, and the test run only reads: give the scenario the tag @writes",
			r.Method, r.Path)
	}
	if c.MayWrite != nil && r.Writes() {
		if err := c.MayWrite(r); err != nil {
			return err
		}
	}
	if cause := invalidAddress(r); cause != "" {
		r.Base = safe.Cut(r.Base, maxAddress/8)
		r.Path = safe.Cut(r.Path, maxAddress/8)
		return &exchange.NoResponse{Request: r, Cause: cause, Closed: true}
	}
	return nil
}

// attempt waits until the request may be sent, and sends it. The pause is nil unless the response asks the client to wait.
func (c *Client) attempt(ctx context.Context, g *gate, r exchange.Request, number int) (*exchange.Response, *pause, error) {
	queued, leave, err := c.enter(ctx, g, r, number > 0)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	a, err := c.withCredentials(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	a.Queued = queued
	wait, asked := askedToWait(a, number)
	if !asked {
		c.responded(g)
		return a, nil, nil
	}
	switch {
	case number >= maxAttempts || wait > maxWait:
		return a, &pause{asked: wait}, nil
	case a.Status == http.StatusTooManyRequests:
		return a, c.limited(g, a.Sent, wait), nil
	}
	return a, &pause{asked: wait, granted: c.mayWait(wait)}, nil
}

// enter waits until the request may be sent: for a slot, for the gate of the host, and for the rate limit. A request that
// is sent again gets the next free slot. Queued is the wait for the rate limit, plus the wait for a slot if the scenario
// is prioritized.
func (c *Client) enter(ctx context.Context, g *gate, r exchange.Request, again bool) (
	queued time.Duration, leave func(), err error,
) {
	leave = func() {}
	if !r.Waits && !isRacing(ctx) {
		arrived, rank := time.Now(), rankOf(ctx)
		isPrioritized := rank.Load() == prioritized
		if again {
			rank = &atomic.Int32{} // prioritized
		}
		leave, err = c.InFlight.enter(ctx, rank)
		if err != nil {
			return 0, nil, err
		}
		if isPrioritized {
			queued = time.Since(arrived)
		}
	}
	if err := g.awaitOpen(ctx); err != nil {
		leave()
		return 0, nil, err
	}
	turn, err := c.awaitTurn(ctx)
	if err != nil {
		leave()
		return 0, nil, err
	}
	return queued + turn, leave, nil
}

// awaitTurn waits until the rate limit allows the next request, and returns the time of the wait.
func (c *Client) awaitTurn(ctx context.Context) (queued time.Duration, err error) {
	if c.Limit == nil {
		return 0, nil
	}
	turn := c.Limit.Reserve()
	delay := turn.Delay() // decreases as time passes
	if err := Sleep(ctx, delay); err != nil {
		turn.Cancel()
		return 0, err
	}
	return delay, nil
}

// withCredentials sends the request with the current credentials. If a response may have refused them and they have
// changed since, it sends the request once more. It keeps the slot meanwhile, because credentials may expire before the
// next free slot.
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

// Try sends a request once and does not record it. The error is an [exchange.NoResponse], or the cause of the context.
func (c *Client) Try(ctx context.Context, r exchange.Request) error {
	a, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	c.releaseLarge(a)
	return nil
}

func (c *Client) once(ctx context.Context, r exchange.Request) (*exchange.Response, error) {
	if cause := c.Down.Cause(r.Base); cause != "" {
		return nil, &exchange.NoResponse{Request: r, Cause: cause}
	}
	sent := time.Now()
	a, err := c.send(ctx, r)
	none, is := errors.AsType[*exchange.NoResponse](err)
	if is && !errors.As(err, new(*exchange.RefusedAddress)) { // to a refused address nothing is sent
		c.Down.Failed(r, none)
		none.ID = c.Observe(ctx, none.Request, sent, nil, none.Cause)
	}
	if err != nil {
		return nil, err
	}
	c.Down.Responded(r)
	c.translate(a.Response)
	a.ID = c.Observe(ctx, a.Request, a.Sent, a.Response, "")
	shorten(a.Response)
	c.releaseLarge(a)
	return a.Response, nil
}

// translate replaces the target's words in the body of a response with those of the interface, and keeps the original.
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

// send sends a request. If the connection was reused and closed before the first byte of a response, send repeats the
// request once on a new connection and marks it as repeated, because the server may have carried out both. net/http
// itself repeats GET requests, and requests of which it wrote nothing.
func (c *Client) send(ctx context.Context, r exchange.Request) (*received, error) {
	seen := &progress{route: c.route}
	a, err := c.sendOnce(ctx, r, seen)
	if none, is := errors.AsType[*exchange.NoResponse](err); is && seen.closedIdle(none) {
		r.Repeated = true
		a, err = c.sendOnce(onNewConnection(ctx), r, &progress{route: c.route})
		c.Close() // other idle connections may be closed as well
	}
	return a, err
}

func (c *Client) sendOnce(parent context.Context, r exchange.Request, seen *progress) (*received, error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	if c.separate.Load() && poolOf(ctx) == nil {
		ctx = inPool(ctx, &pool{name: r.Caller.Name})
	}
	timer := time.AfterFunc(r.Timeout, cancel)
	defer timer.Stop()
	request, err := c.newRequest(seen.watch(ctx), r)
	if err != nil {
		return nil, seen.noResponse(r, err)
	}
	a := &received{Response: &exchange.Response{Request: r, Sent: time.Now()}}
	err = c.receive(ctx, a, request, timer)
	a.Took = time.Since(a.Sent) - a.waited
	switch {
	case err == nil:
		return a, nil
	case parent.Err() != nil:
		return nil, context.Cause(parent)
	case ctx.Err() != nil:
		err = errTimeout
	}
	return nil, seen.noResponse(r, err)
}

// receive sends the request and fills in the response.
func (c *Client) receive(ctx context.Context, a *received, request *http.Request, timer *time.Timer) error {
	response, err := follow(c.Transport, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	a.Status = response.StatusCode
	a.Header = headersOf(response.Header)
	a.TLS = response.TLS
	if response.Request != request {
		a.Forwarded = response.Request.URL.String()
	}
	if a.Status == http.StatusSwitchingProtocols { // the context would not end reads of this body
		return nil
	}
	return c.readBody(ctx, a, response.Body, timer)
}
