package client_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
)

// TestTheTurnOfARequestEndsWithTheRun: a request that waits for the limit of requests is ended by what ends the run, and leaves its turn
// to the next.
func TestTheTurnOfARequestEndsWithTheRun(t *testing.T) {
	var arrived atomic.Int32
	c, r := serve(t, func(http.ResponseWriter, *http.Request) { arrived.Add(1) })
	c.Limit = rate.NewLimiter(rate.Every(time.Hour), 1)
	_, err := c.Do(t.Context(), r)
	require.NoError(t, err)
	over := errors.New("the time of the run is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, over)
	defer cancel()
	_, err = c.Do(ctx, r)
	assert.Equal(t, over, err)
	require.Error(t, ctx.Err(), "it waited until the end of the run")
	assert.EqualValues(t, 1, arrived.Load())
	assert.Greater(t, c.Limit.Tokens(), -0.5, "the turn is free again")
}
