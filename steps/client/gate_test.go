package client_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// TestNobodyWaitsForWhoNeverAnswers gives a host up that only ever asks to come back later: for all requests.
func TestNobodyWaitsForWhoNeverAnswers(t *testing.T) {
	var asked atomic.Int32
	c, r := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "0.02")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	var busy *client.NoAnswer
	for range 20 {
		_, err := c.Do(t.Context(), r)
		require.ErrorAs(t, err, &busy)
		assert.Contains(t, busy.Error(), "GET /x: status 429: the target asks to wait")
	}
	assert.Less(t, int(asked.Load()), 40)
}
