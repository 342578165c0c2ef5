package main

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reference"
)

// TestTheRateOfRequests compares what arrives with the time in which it arrives.
func TestTheRateOfRequests(t *testing.T) {
	t.Parallel()
	const every = 20 * time.Millisecond
	var mu sync.Mutex
	var arrived []time.Time
	v := startVendor(t, 0, func(o *reference.Options) {
		o.WrapHTTP = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				arrived = append(arrived, time.Now())
				mu.Unlock()
				next.ServeHTTP(w, r)
			})
		}
	})
	c := addresses(t, v.ControlPlaneURL(), "", "")
	c.Rate = "50/s"
	r := judge(t, c)
	assert.GreaterOrEqual(t, judgedIn(r), 8)
	took := arrived[len(arrived)-1].Sub(arrived[0])
	assert.Greater(t, len(arrived), 20)
	// The first may arrive late, by what one connection takes.
	assert.GreaterOrEqual(t, took, time.Duration(len(arrived)-3)*every, "%d requests", len(arrived))
}
