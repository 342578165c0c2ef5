package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
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
	r := judgeAlone(t, c)
	assert.GreaterOrEqual(t, judgedIn(r), 8)
	took := arrived[len(arrived)-1].Sub(arrived[0])
	assert.Greater(t, len(arrived), 20)
	// The first may arrive late, by what one connection takes.
	assert.GreaterOrEqual(t, took, time.Duration(len(arrived)-3)*every, "%d requests", len(arrived))
}

// TestTheTimeOfARunEndsWhileRequestsWaitForTheirTurn: nothing was learned about the target, and nothing is wrong with the suite.
func TestTheTimeOfARunEndsWhileRequestsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	c := addresses(t, v.ControlPlaneURL(), "", v.key)
	c.Rate = "1/h"
	o := optionsAlone(t, c)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, &steps.Stopped{By: "--timeout 300ms"})
	defer cancel()
	r, err := steps.Run(ctx, o)
	require.NoError(t, err)
	assert.Equal(t, reports.Incomplete, r.Verdict)
	assert.Contains(t, r.Run.Stopped, "--timeout 300ms")
	for _, each := range r.Requirements {
		for _, s := range each.Scenarios {
			assert.NotContains(t, s.Reason, "limit of requests", s.Name)
			assert.NotContains(t, s.Reason, "the suite itself failed", s.Name)
		}
	}
}
