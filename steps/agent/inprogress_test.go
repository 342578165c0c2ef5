package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAGroupTakesItsSlotsTogether lets two groups wait, of which one asks for more slots than there are.
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
