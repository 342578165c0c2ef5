package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// closing is a server that carries out each request and then closes some connections without a response.
type closing struct {
	closes func(fresh bool, idle time.Duration) bool // which connections it closes; nil closes none
	begins string                                    // what it writes before it closes a connection

	mu   sync.Mutex
	last map[string]time.Time // time of the last response on each connection
	sent []string             // bodies of the requests
}

func (s *closing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, string(body))
	last, known := s.last[r.RemoteAddr]
	s.last[r.RemoteAddr] = time.Now()
	if s.closes == nil || !s.closes(!known, time.Since(last)) {
		return
	}
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(connection, s.begins)
	_ = connection.Close()
}

// TestARequestIsRepeatedOnlyIfItsConnectionWasIdle checks when a request without a response is sent again, and that the
// recorded exchange shows it.
func TestARequestIsRepeatedOnlyIfItsConnectionWasIdle(t *testing.T) {
	const limit = 50 * time.Millisecond
	idle := func(fresh bool, idle time.Duration) bool { return !fresh && idle >= limit }
	always := func(bool, time.Duration) bool { return true }
	fresh := func(fresh bool, _ time.Duration) bool { return fresh }
	for name, c := range map[string]struct {
		closes   func(fresh bool, idle time.Duration) bool
		begins   string
		pause    time.Duration // before the request
		times    int           // number of times that the server receives the request
		answered bool
	}{
		"idle":                            {idle, "", limit, 2, true},
		"used a moment ago":               {idle, "", limit / 2, 1, true},
		"a byte of the response came":     {idle, "H", limit, 1, false},
		"a status line came":              {idle, "HTTP/1.1 200 OK\r\n", limit, 1, false},
		"new":                             {fresh, "", 3 * time.Second, 1, false},
		"idle, and the new one is closed": {always, "", limit, 2, false},
	} {
		for _, method := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
			t.Run(name+" "+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &closing{last: map[string]time.Time{}}
					cl, r := serveInMemory(t, s.ServeHTTP)
					var wait sync.WaitGroup
					for range 2 { // each of them leaves an idle connection
						wait.Go(func() {
							_, err := cl.Do(t.Context(), r)
							assert.NoError(t, err)
						})
					}
					wait.Wait()
					time.Sleep(c.pause)
					s.mu.Lock()
					s.closes, s.begins = c.closes, c.begins
					s.mu.Unlock()
					var recorded []bool
					cl.Observe = func(_ context.Context, r exchange.Request, _ time.Time, _ *exchange.Response, _ string) int {
						recorded = append(recorded, r.Repeated)
						return 1
					}
					r.Method, r.Body = method, []byte("the request")
					a, err := cl.Do(t.Context(), r)
					if c.answered {
						require.NoError(t, err)
						assert.Equal(t, http.StatusOK, a.Status)
					} else {
						none, is := errors.AsType[*exchange.NoResponse](err)
						require.True(t, is, "%v", err)
						assert.True(t, none.Closed)
					}
					s.mu.Lock()
					defer s.mu.Unlock()
					other := func(body string) bool { return !strings.Contains(body, "the request") }
					assert.Len(t, slices.DeleteFunc(s.sent, other), c.times)
					assert.Equal(t, []bool{c.times > 1}, recorded)
				})
			})
		}
	}
}
