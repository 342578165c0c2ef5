package agent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// TestHowLongARunWaitsIsSaidWhenItMayStart has one run in progress while another one waits for its turn: the pace at
// the start of a suite's run is not that of its end.
func TestHowLongARunWaitsIsSaidWhenItMayStart(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- string(body)
		w.WriteHeader(http.StatusUnprocessableEntity)
	}))
	defer server.Close()
	c := config.Default()
	to := &target.Target{Config: &c, Client: client.New(2)}
	as := New(to, nil, shared.NewMaker(t.Context()), 1)
	as.turns.SetPlaces(1)
	s := judged(as.agentAt(server.URL, ""))
	_, err := as.learned.parallel.Get(t.Context(), as.maker, "", func(context.Context) (int, error) { return 1, nil })
	require.NoError(t, err)
	require.NoError(t, as.turns.Begin(t.Context(), "in progress", 1))

	var mayStart atomic.Bool
	o := Order{Hold: time.Minute, paced: func() time.Duration {
		if mayStart.Load() {
			return time.Second
		}
		return time.Hour
	}}
	done := make(chan error)
	go func() {
		_, err := load{s}.postInTurn(t.Context(), target.Caller{}, &Thread{ID: "t"}, o)
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	mayStart.Store(true)
	as.turns.Refused("in progress")
	require.NoError(t, <-done)
	assert.Contains(t, <-sent, "wait=1000 ")
}
