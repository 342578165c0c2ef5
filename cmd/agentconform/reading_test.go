package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps"
)

// TestASignalEndsWhatNeverComes waits for something that blocks for ever, as the opening of a FIFO does.
func TestASignalEndsWhatNeverComes(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	begun, never := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(never) })
	go func() { <-begun; stop(&steps.Stopped{By: "SIGTERM"}) }()
	_, err := reading(ctx, "the baseline", func() (int, error) { close(begun); <-never; return 1, nil })
	var ended *exit
	require.ErrorAs(t, err, &ended)
	assert.Equal(t, exitIncomplete, ended.code)
	assert.EqualError(t, err, "reading the baseline: stopped by SIGTERM")

	value, err := reading(t.Context(), "x", func() (int, error) { return 7, io.EOF })
	assert.Equal(t, 7, value)
	assert.ErrorIs(t, err, io.EOF)
}

// TestOutputOfAClosedPipeIsDropped closes the reading end: no write fails. A file that cannot be written to is another matter.
func TestOutputOfAClosedPipeIsDropped(t *testing.T) {
	t.Parallel()
	survivePipes()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	out := newOutput(writer)
	_, err = io.WriteString(out, "read\n")
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	for range 2 {
		n, err := io.WriteString(out, "nobody reads this")
		require.NoError(t, err)
		assert.Equal(t, 17, n)
	}
	require.NoError(t, writer.Close())
	var printed bytes.Buffer
	assert.Zero(t, execute(t.Context(), []string{"version"}, streams{out: out, err: &printed}), printed.String())

	closed := newOutput(writer)
	_, err = io.WriteString(closed, "x")
	assert.True(t, errors.Is(err, os.ErrClosed))
}
