package shared

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/slots"
)

// TestBegin makes a value ahead, once, in a slot of its own, and does not take who begins for a user of it.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := slots.New(1)
		m := NewMaker(t.Context(), places)
		made, goOn := 0, make(chan struct{})
		build := func(ctx context.Context) (int, error) {
			made++
			return made, slots.Away(ctx, func() error { <-goOn; return nil })
		}
		var v Value[int]
		ready := v.Begin(m, "value", build)
		synctest.Wait()
		ctx, leave, err := places.Enter(t.Context(), 0) // the value waits for something
		require.NoError(t, err)
		close(goOn)
		got, err := v.Get(ctx, m, "value", build) // gives its slot to the value
		require.NoError(t, err)
		assert.Equal(t, 1, got)
		<-ready
		assert.Equal(t, 1, made)
		assert.Equal(t, []string{"value"}, m.Uses(""), "of who has asked for it")
		leave()
	})
}

// TestNothingIsMadeAfterTheEnd has a run end while a value waits for a slot: what nobody needs any more is not begun.
func TestNothingIsMadeAfterTheEnd(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	places := slots.New(1)
	_, leave, err := places.Enter(t.Context(), 0)
	require.NoError(t, err)
	defer leave()
	m := NewMaker(ctx, places)
	var v Value[int]
	ready := v.Begin(m, "value", func(context.Context) (int, error) {
		t.Error("it was made")
		return 0, nil
	})
	stopped := errors.New("stopped")
	stop(stopped)
	<-ready
	_, err = v.Get(t.Context(), m, "value", nil)
	assert.ErrorIs(t, err, stopped)
}
