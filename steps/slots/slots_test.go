package slots

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// free tells whether a slot is free.
func free(t *testing.T, s *Slots) bool {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ticket := s.Reserve(1 << 19) // after all others
	select {
	case <-ticket.granted:
		ticket.Cancel()
		return true
	default:
		_, _, err := ticket.Enter(ctx)
		require.Error(t, err)
		return false
	}
}

// TestOrder serves by rank whatever the order in which places were taken: fixtures with the longest chain first, then what had
// started, then the rest.
func TestOrder(t *testing.T) {
	s := New(1)
	_, leave, err := s.Enter(t.Context(), 0)
	require.NoError(t, err)
	tickets := map[string]*Ticket{"second": s.Reserve(2), "first": s.Reserve(1), "short chain": s.Reserve(OfFixture(3)), "started": s.Reserve(started + 9), "long chain": s.Reserve(OfFixture(30))}
	var order []string
	for len(tickets) > 0 {
		leave()
		for name, ticket := range tickets {
			select {
			case <-ticket.granted:
				order = append(order, name)
				delete(tickets, name)
				_, leave, err = ticket.Enter(t.Context())
				require.NoError(t, err)
			default:
			}
		}
	}
	assert.Equal(t, []string{"long chain", "short chain", "started", "first", "second"}, order)
}

// TestAway gives the slot to another while something is awaited, and returns with a slot.
func TestAway(t *testing.T) {
	s := New(1)
	ctx, leave, err := s.Enter(t.Context(), 5)
	require.NoError(t, err)
	assert.False(t, free(t, s))
	failed := errors.New("failed")
	err = Away(ctx, func() error {
		assert.True(t, free(t, s))
		_, other, err := s.Enter(t.Context(), 6)
		require.NoError(t, err)
		other()
		return failed
	})
	assert.ErrorIs(t, err, failed)
	assert.False(t, free(t, s), "it has its slot again")
	leave()
	leave()
	assert.True(t, free(t, s))
	_, other, err := s.Enter(t.Context(), 6)
	require.NoError(t, err)
	assert.False(t, free(t, s), "leaving twice frees one slot")
	other()
}

// TestAwayReturnsWhenThereIsASlot makes who has waited wait for its slot, before those that have not started.
func TestAwayReturnsWhenThereIsASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1)
		var order []string
		ctx, leave, err := s.Enter(t.Context(), 5)
		require.NoError(t, err)
		ready := make(chan struct{})
		go func() {
			assert.NoError(t, Away(ctx, func() error { <-ready; return nil }))
			order = append(order, "waited")
			leave()
		}()
		synctest.Wait()
		_, second, err := s.Enter(t.Context(), 0)
		require.NoError(t, err)
		go func() {
			_, third, err := s.Enter(t.Context(), 1)
			assert.NoError(t, err)
			order = append(order, "new")
			third()
		}()
		close(ready)
		synctest.Wait()
		assert.Empty(t, order, "there is no slot")
		second()
		synctest.Wait()
		assert.Equal(t, []string{"waited", "new"}, order)
	})
}

// TestAwayOfSeveral has two goroutines of one scenario wait: it has one slot, not two.
func TestAwayOfSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(1)
		ctx, leave, err := s.Enter(t.Context(), 0)
		require.NoError(t, err)
		for i := range 3 {
			go func() { assert.NoError(t, Sleep(ctx, time.Duration(i+1)*time.Second)) }()
		}
		time.Sleep(time.Minute)
		assert.False(t, free(t, s))
		leave()
		assert.True(t, free(t, s))
	})
}

// TestCancelled gives back what was reserved, whether it was granted already or not.
func TestCancelled(t *testing.T) {
	s := New(1)
	ended, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	ctx, leave, err := s.Enter(ended, 0)
	require.NoError(t, err)
	cancel(stopped)
	_, _, err = s.Enter(ended, 1)
	assert.ErrorIs(t, err, stopped)
	granted := slices.Clone([]*Ticket{s.Reserve(2), s.Reserve(3)})
	for _, ticket := range granted {
		ticket.Cancel()
	}
	leave()
	assert.True(t, free(t, s))
	granted[0] = s.Reserve(0)
	granted[0].Cancel()
	assert.True(t, free(t, s), "it was granted")
	assert.NoError(t, Away(context.WithoutCancel(ctx), func() error { return nil }))
}

// TestNone bounds nothing without slots.
func TestNone(t *testing.T) {
	var none *Slots
	for range 3 {
		ctx, leave, err := none.Enter(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, Sleep(ctx, time.Nanosecond))
		defer leave()
	}
}
