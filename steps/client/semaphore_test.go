package client_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/steps/client"
)

// TestAJoinThatWaitsTakesNoSlot sends a join that returns only after another request, which takes the only slot.
func TestAJoinThatWaitsTakesNoSlot(t *testing.T) {
	release, joined := make(chan struct{}), make(chan struct{})
	c, r := serve(t, func(_ http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/join" {
			close(joined)
			<-release
		}
	})
	c.InFlight = client.NewSemaphore(1)
	var wait sync.WaitGroup
	wait.Go(func() {
		join := r
		join.Path, join.Waits = "/join", true
		_, err := c.Do(t.Context(), join)
		assert.NoError(t, err)
	})
	<-joined
	_, err := c.Do(t.Context(), r)
	require.NoError(t, err)
	close(release)
	wait.Wait()
}

// TestTheTimeOfARequestBeginsWhenItIsSent sends requests that wait longer for a slot than their timeouts.
func TestTheTimeOfARequestBeginsWhenItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := serveInMemory(t, func(http.ResponseWriter, *http.Request) { time.Sleep(time.Minute) })
		c.InFlight, r.Timeout = client.NewSemaphore(1), 90*time.Second
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				_, err := c.Do(t.Context(), r)
				assert.NoError(t, err)
			})
		}
		wait.Wait()
	})
}

// TestTheWaitForTheRateIsReported sends two requests at a rate of one per second, and checks the reported wait.
func TestTheWaitForTheRateIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, r := serveInMemory(t, func(http.ResponseWriter, *http.Request) {})
		c.Limit = rate.NewLimiter(rate.Every(time.Second), 1)
		first, err := c.Do(t.Context(), r)
		require.NoError(t, err)
		assert.Zero(t, first.Queued)
		start := time.Now()
		second, err := c.Do(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, time.Second-first.Took, second.Queued)
		assert.Equal(t, time.Since(start), second.Queued+second.Took)
	})
}

// TestSlotsAreGrantedInOrder has one slot. A request that gives up waiting takes nothing.
func TestSlotsAreGrantedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := client.NewSemaphore(1)
		leave, err := s.Enter(t.Context())
		require.NoError(t, err)
		var order []string
		enter := func(ctx context.Context, name string) {
			go func() {
				leave, err := s.Enter(ctx)
				if err != nil {
					assert.ErrorIs(t, err, context.Canceled)
					return
				}
				order = append(order, name)
				leave()
				leave()
			}()
			synctest.Wait()
		}
		canceled, cancel := context.WithCancel(client.ForFixture(t.Context()))
		one, other, holdsRun := client.ForScenario(t.Context()), client.ForScenario(t.Context()), client.ForScenario(t.Context())
		client.Prioritize(holdsRun)
		client.Prioritize(t.Context()) // without effect
		enter(t.Context(), "no scenario")
		enter(one, "a scenario")
		enter(other, "another scenario")
		enter(one, "the same scenario")
		enter(canceled, "canceled")
		enter(client.ForFixture(t.Context()), "a fixture")
		enter(holdsRun, "a run in progress")
		enter(holdsRun, "the same run in progress")
		cancel()
		synctest.Wait()
		leave()
		synctest.Wait()
		assert.Equal(t, []string{"a run in progress", "the same run in progress", "a fixture", "no scenario", "a scenario",
			"the same scenario", "another scenario"}, order)
		enter(t.Context(), "the next one")
		assert.Len(t, order, 8, "the slot is free")
	})
}

func TestNumberOfSlots(t *testing.T) {
	s := client.NewSemaphore(20)
	for _, want := range []int{10, 5, 4, 4} {
		s.Halve(4)
		assert.Equal(t, want, s.Slots())
	}
	assert.False(t, s.Double())
	assert.False(t, s.Double())
	assert.True(t, s.Double())
	assert.Equal(t, 20, s.Slots(), "not more than before")
	s.SetSlots(2)
	s.Halve(4)
	assert.Equal(t, 2, s.Slots(), "halving adds no slots")
}

// TestRacingRequestsWaitForNoSlot takes the only slot. Five requests that race are nevertheless in flight together. The
// others wait for that slot only, and not for the five.
func TestRacingRequestsWaitForNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var racing atomic.Int32
		c, r := serveInMemory(t, func(_ http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/race" {
				racing.Add(1)
			}
			time.Sleep(10 * time.Second) // all are in flight together
		})
		c.InFlight = client.NewSemaphore(1)
		start := time.Now()
		var wait sync.WaitGroup
		send := func(ctx context.Context, path string) {
			wait.Go(func() {
				r := r
				r.Path = path
				_, err := c.Do(ctx, r)
				assert.NoError(t, err)
			})
			time.Sleep(time.Second) // the request has arrived
		}
		send(t.Context(), "/one")
		for range 5 {
			send(client.Racing(t.Context()), "/race")
		}
		assert.EqualValues(t, 5, racing.Load())
		send(t.Context(), "/two")
		wait.Wait()
		assert.Less(t, time.Since(start), 21*time.Second)
	})
}
