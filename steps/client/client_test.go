package client_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestMain ignores connections that a server closes after an invalid request: it keeps them for longer than goleak waits.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func serve(t *testing.T, h http.HandlerFunc) (*client.Client, exchange.Request) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c := client.New(2, client.Route{})
	t.Cleanup(c.Close)
	return c, exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Header: http.Header{}, Timeout: time.Minute}
}

// serveInMemory is like serve, for a test in a bubble.
func serveInMemory(t *testing.T, h http.HandlerFunc) (*client.Client, exchange.Request) {
	t.Helper()
	network := memnet.New()
	server := network.Serve(h)
	t.Cleanup(server.Close)
	c := client.New(2, client.Route{Dial: network.DialContext})
	t.Cleanup(c.Close)
	return c, exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Header: http.Header{}, Timeout: time.Minute}
}

func TestWaitsWhenAsked(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header string
		waits  bool
	}{
		"429 with seconds":     {429, "0", true},
		"429 with a date":      {429, "Sun, 01 Jun 1997 00:00:00 GMT", true},
		"429 without a time":   {429, "", true},
		"503 with a time":      {503, "0", true},
		"503 without a time":   {503, "", false},
		"429 with an eternity": {429, "100000000000000000", false},
		"500":                  {500, "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls, waited atomic.Int32
				cl, r := serveInMemory(t, func(w http.ResponseWriter, _ *http.Request) {
					if calls.Add(1) == 1 {
						if c.header != "" {
							w.Header().Set("Retry-After", c.header)
						}
						w.WriteHeader(c.status)
					}
				})
				cl.Throttled = func(asked time.Duration, granted bool) {
					waited.Add(1)
					assert.Equal(t, c.waits, granted)
					assert.Equal(t, !c.waits, asked > time.Minute)
				}
				a, err := cl.Do(t.Context(), r)
				if eternal := (*exchange.NoResponse)(nil); errors.As(err, &eternal) {
					a, err = &exchange.Response{Status: eternal.Busy}, nil
				}
				require.NoError(t, err)
				_, _, long := cl.Waited()
				if c.waits {
					assert.Equal(t, 200, a.Status)
					assert.EqualValues(t, 1, waited.Load())
					assert.Positive(t, long)
				} else {
					assert.Zero(t, long)
					assert.Equal(t, c.status, a.Status)
					assert.EqualValues(t, 1, calls.Load())
				}
			})
		})
	}
}

// TestALowRateLimitIsKept sends many requests at the same time to a target that serves ten per second and sends no
// Retry-After. The client reduces the requests in flight, so that none of them runs out of attempts.
func TestALowRateLimitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := rate.NewLimiter(10, 10)
		c, r := serveInMemory(t, func(w http.ResponseWriter, _ *http.Request) {
			if !limit.Allow() {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		c.InFlight = client.NewSemaphore(64)
		var wait sync.WaitGroup
		for range 300 {
			wait.Go(func() {
				_, err := c.Do(t.Context(), r)
				assert.NoError(t, err)
			})
		}
		wait.Wait()
		assert.Equal(t, 4, c.InFlight.Slots())
		granted, refused, _ := c.Waited()
		assert.Zero(t, refused)
		assert.Less(t, granted, 600)
	})
}

func TestBodiesAreBounded(t *testing.T) {
	for name, write := range map[string]func(w http.ResponseWriter){
		"plain": func(w http.ResponseWriter) { _, _ = io.Copy(w, io.LimitReader(zeros{}, client.MaxBody+1)) },
		"a bomb": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.Copy(z, io.LimitReader(zeros{}, client.MaxBody+1))
			_ = z.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := serve(t, func(w http.ResponseWriter, _ *http.Request) { write(w) })
			_, err := c.Do(t.Context(), r)
			var none *exchange.NoResponse
			require.ErrorAs(t, err, &none)
			assert.Contains(t, none.Cause, "larger than 8 MiB")
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestNoAnswer(t *testing.T) {
	t.Run("a dead port", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		c := client.New(1, client.Route{})
		t.Cleanup(c.Close)
		r := exchange.Request{Base: "http://" + l.Addr().String(), Method: "GET", Path: "/", Timeout: time.Minute}
		for range c.Down.Limit {
			_, err = c.Do(t.Context(), r)
			require.ErrorContains(t, err, "connection refused")
		}
		_, err = c.Do(t.Context(), r)
		require.ErrorContains(t, err, "has stopped responding")
		r.Base = "http://127.0.0.1:2"
		_, err = c.Do(t.Context(), r)
		require.ErrorContains(t, err, "connection refused", "another address is not given up")
	})
	t.Run("a death in the middle", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/poison" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, "here")
		}))
		c := client.New(1, client.Route{})
		t.Cleanup(c.Close)
		r := exchange.Request{Base: server.URL, Method: "GET", Path: "/before", Timeout: time.Minute}
		_, err := c.Do(t.Context(), r)
		require.NoError(t, err)
		r.Path = "/poison"
		_, err = c.Do(t.Context(), r)
		require.Error(t, err)
		server.Close()
		r.Path = "/after"
		for range c.Down.Limit + 1 {
			_, err = c.Do(t.Context(), r)
		}
		assert.ErrorContains(t, err, "in flight then: GET /poison")
	})
}
