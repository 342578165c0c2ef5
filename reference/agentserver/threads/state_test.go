package threads

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func add(messages ...string) func(State) ([]Message, error) {
	return func(State) ([]Message, error) {
		var out []Message
		for _, m := range messages {
			out = append(out, text(m))
		}
		return out, nil
	}
}

func TestTheHistoryFollowsFromTheRunsThatAreLeft(t *testing.T) {
	s, _ := openStore(t)
	ctx, thread := t.Context(), newThread(t, s)
	first, err := s.UpdateState(ctx, thread, add("a", "b"))
	require.NoError(t, err)
	interrupted := start(t, s, thread, "c")
	require.NoError(t, s.AppendMessages(ctx, thread, interrupted, []Message{text("d"), text("e")}))
	begin(t, s, thread, interruptAll)
	deleted := start(t, s, thread, "f")
	begin(t, s, thread, deleteAll)

	history, err := s.History(ctx, thread)
	require.NoError(t, err)
	require.Len(t, history, 3)
	assert.Len(t, history[0].Messages, 5)
	assert.Len(t, history[1].Messages, 3)
	assert.Equal(t, first, history[2])
	assert.Equal(t, []string{history[1].Checkpoint, history[2].Checkpoint, ""}, []string{history[0].Parent, history[1].Parent, history[2].Parent})
	assert.Contains(t, history[0].Error, "interrupted")
	assert.Empty(t, history[1].Error)
	for _, st := range history {
		assert.NotEqual(t, deleted, st.RunID)
	}
	newest, err := s.State(ctx, thread)
	require.NoError(t, err)
	assert.Equal(t, history[0], newest)
}

func TestWhatCannotBeUpdatedOrCopiedStaysAsItIs(t *testing.T) {
	s, _ := openStore(t)
	ctx, thread := t.Context(), newThread(t, s)
	_, err := s.UpdateState(ctx, NewID(), add("a"))
	require.ErrorIs(t, err, ErrNotFound)
	refused := errors.New("refused")
	_, err = s.UpdateState(ctx, thread, func(State) ([]Message, error) { return []Message{text("a")}, refused })
	require.ErrorIs(t, err, refused)
	begin(t, s, thread, leave)
	var busy *RefusedError
	_, err = s.UpdateState(ctx, thread, add("a"))
	require.ErrorAs(t, err, &busy)
	assert.Empty(t, contents(t, s, thread))

	require.ErrorIs(t, s.CopyThread(ctx, NewID(), Thread{ID: NewID()}), ErrNotFound)
	require.ErrorIs(t, s.CopyThread(ctx, thread, Thread{ID: newThread(t, s)}), ErrExists)
	require.ErrorIs(t, s.CopyThread(ctx, thread, Thread{ID: thread}), ErrExists)
	_, err = s.History(ctx, NewID())
	require.ErrorIs(t, err, ErrNotFound)
}
