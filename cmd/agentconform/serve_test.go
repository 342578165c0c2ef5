package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// untilReady ends a server when it has said that it is ready.
type untilReady struct{ stop context.CancelFunc }

func (w untilReady) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("ready ")) {
		w.stop()
	}
	return len(b), nil
}

// TestServeWarnsBeyondLoopback: whoever lets other machines reach the reference is told.
func TestServeWarnsBeyondLoopback(t *testing.T) {
	t.Parallel()
	for listen, warned := range map[string]bool{
		"127.0.0.1:0": false, "localhost:0": false, "[::1]:0": false, "127.1.2.3:0": false, "[::ffff:127.0.0.1]:0": false,
		":0": true, "0.0.0.0:0": true, "[::]:0": true, "192.0.2.1:0": true, "host.example:0": true,
	} {
		assert.Equal(t, warned, beyondLoopback(listen), listen)
	}
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0"} {
		ctx, stop := context.WithCancel(t.Context())
		var said bytes.Buffer
		c := newServe(streams{in: strings.NewReader(""), out: io.Writer(untilReady{stop}), err: &said})
		c.SetArgs([]string{"--listen", listen})
		require.NoError(t, c.ExecuteContext(ctx))
		assert.Equal(t, listen != "127.0.0.1:0", strings.Contains(said.String(), "warning: the reference listens on "+listen), said.String())
		stop()
	}
}
