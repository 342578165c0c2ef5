package client_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// TestAllObeyALimit has many senders at a server that takes a few requests in each window of time: all are answered,
// and few are sent back.
func TestAllObeyALimit(t *testing.T) {
	const window, few, senders, each = 300 * time.Millisecond, 10, 16, 6
	var mu sync.Mutex
	var began time.Time
	var taken int
	var refused atomic.Int32
	c, r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(began) > window {
			began, taken = now, 0
		}
		if taken++; taken > few {
			refused.Add(1)
			w.Header().Set("Retry-After", "0.3")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
	c.InFlight = client.NewSemaphore(senders)
	var wait sync.WaitGroup
	for range senders {
		wait.Go(func() {
			for range each {
				a, err := c.Do(t.Context(), r)
				if assert.NoError(t, err) {
					assert.Equal(t, http.StatusOK, a.Status)
				}
			}
		})
	}
	wait.Wait()
	assert.Less(t, int(refused.Load()), senders*each)
}

// TestNobodyWaitsForWhoNeverAnswers gives a host up that only ever asks to come back later: for all requests.
func TestNobodyWaitsForWhoNeverAnswers(t *testing.T) {
	var asked atomic.Int32
	c, r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "0.02")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	var busy *client.Busy
	for range 20 {
		_, err := c.Do(t.Context(), r)
		require.ErrorAs(t, err, &busy)
		assert.Contains(t, busy.Error(), "GET /x: status 429: the target asks to wait")
	}
	assert.Less(t, int(asked.Load()), 40)
}
