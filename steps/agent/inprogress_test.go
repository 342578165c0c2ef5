package agent

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// accept records an accepted run that takes an hour, and returns a weak pointer to it.
func accept(t *testing.T, p *inProgress, thread string) weak.Pointer[GraphRun] {
	t.Helper()
	require.NoError(t, p.enter(t.Context(), thread))
	g := &GraphRun{Thread: &Thread{ID: thread}, Order: Order{Hold: time.Hour}, Response: &exchange.Response{Sent: time.Now()}}
	p.accepted(g, 0)
	return weak.Make(g)
}

// TestTimersOfEndedRunsAreStopped checks that timers do not keep a run in memory after it has ended, after a later run on
// its thread, and at the end of a test run.
func TestTimersOfEndedRunsAreStopped(t *testing.T) {
	p := newInProgress(2)
	seen := accept(t, &p, "a")
	p.over(seen.Value())
	replaced := accept(t, &p, "b")
	last := accept(t, &p, "b")
	runtime.GC()
	assert.Nil(t, seen.Value())
	assert.Nil(t, replaced.Value())
	require.NotNil(t, last.Value())
	p.close()
	assert.False(t, p.lasts["b"].timer.Stop(), "the timer was stopped")
}

// TestAGroupTakesItsSlotsTogether lets two groups wait. One of them asks for more slots than there are.
func TestAGroupTakesItsSlotsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newInProgress(3)
		require.NoError(t, p.enter(t.Context(), "single"))
		var entered []string
		enterGroup := func(name string, threads int) {
			go func() {
				leave, err := p.enterGroup(t.Context(), threads)
				assert.NoError(t, err)
				entered = append(entered, name)
				leave()
			}()
			synctest.Wait()
		}
		enterGroup("first", 3)
		enterGroup("second", 100)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := p.enterGroup(canceled, 1)
		require.ErrorIs(t, err, context.Canceled)
		assert.Empty(t, entered)
		p.abandon("single")
		synctest.Wait()
		assert.Equal(t, []string{"first", "second"}, entered)
		require.NoError(t, p.enter(t.Context(), "another"), "all slots were released")
	})
}

// TestAGroupThatGivesUpReleasesItsSlots cancels a group that holds one of its two slots.
func TestAGroupThatGivesUpReleasesItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newInProgress(2)
		require.NoError(t, p.enter(t.Context(), "a"))
		within, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.enterGroup(within, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, p.enter(t.Context(), "b"))
	})
}
