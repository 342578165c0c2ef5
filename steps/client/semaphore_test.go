package client_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"github.com/agentconform/agentconform/steps/client"
)

// TestAJoinThatWaitsHoldsNoPlace has one request in flight beside a join, which is not answered before that request.
func TestAJoinThatWaitsHoldsNoPlace(t *testing.T) {
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

// TestTheTimeOfARequestBeginsWhenItIsSent has requests wait for their place for longer than each may take.
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

// TestTheWaitForTheRateIsReported has two requests at a rate of one a second.
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

// TestWhoIsServedFirst has one place: what time runs for comes first, then what others wait for, then a scenario that
// has begun. Who gives up waiting takes nothing.
func TestWhoIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := client.NewSemaphore(1)
		leave, err := s.Enter(t.Context(), 1)
		require.NoError(t, err)
		begun := client.WithUrgency(t.Context())
		var order []string
		enter := func(ctx context.Context, name string, places int) {
			go func() {
				leave, err := s.Enter(ctx, places)
				if err == nil {
					order = append(order, name)
				}
				leave()
			}()
			synctest.Wait()
		}
		given, giveUp := context.WithCancel(client.WithUrgency(t.Context()))
		client.Hurry(given, client.RunInProgress)
		enter(given, "given up", 1)
		enter(client.WithUrgency(t.Context()), "first", 1)
		enter(client.WithUrgency(t.Context()), "second", 1)
		for name, u := range map[string]client.Urgency{"a run": client.RunInProgress, "shared": client.AwaitedByOther} {
			ctx := client.WithUrgency(t.Context())
			enter(ctx, name, 3)
			client.Hurry(ctx, u)
		}
		giveUp()
		synctest.Wait()
		leave()
		synctest.Wait()
		enter(begun, "begun", 1)
		assert.Equal(t, []string{"a run", "shared", "first", "second", "begun"}, order)
		leave, err = s.Enter(t.Context(), 1)
		require.NoError(t, err)
		enter(client.WithUrgency(t.Context()), "third", 1)
		enter(begun, "again", 1)
		leave()
		synctest.Wait()
		assert.Equal(t, []string{"again", "third"}, order[5:])
	})
}
