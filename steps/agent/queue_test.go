package agent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// oneAtATime is a server that accepts runs, of which it is known that it executes one at a time: something is in
// progress there. What it is sent can be received.
func oneAtATime(t *testing.T) (s *Server, sent <-chan string) {
	t.Helper()
	bodies := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
		_, _ = io.WriteString(w, `{"run_id":"r"}`)
	}))
	t.Cleanup(server.Close)
	ledger, err := evidence.OpenLedger(filepath.Join(t.TempDir(), "ledger"), "run", server.URL)
	require.NoError(t, err)
	c := config.Default()
	as := New(&target.Target{Config: &c, Client: client.New(2), Ledger: ledger}, nil, shared.NewMaker(t.Context()), 1)
	as.turns.SetPlaces(1)
	_, err = as.learned.parallel.Get(t.Context(), as.maker, "", func(context.Context) (int, error) { return 1, nil })
	require.NoError(t, err)
	require.NoError(t, as.turns.Begin(t.Context(), "in progress", 1))
	return judged(as.agentAt(server.URL, "")), bodies
}

// TestHowLongARunWaitsIsSaidWhenItMayStart has a run wait for its turn: the pace at the start of a suite's run is not
// that of its end.
func TestHowLongARunWaitsIsSaidWhenItMayStart(t *testing.T) {
	s, sent := oneAtATime(t)
	var mayStart atomic.Bool
	o := Order{Hold: time.Minute, paced: func() time.Duration {
		if mayStart.Load() {
			return time.Second
		}
		return time.Hour
	}}
	done := make(chan error)
	go func() {
		_, err := load{s}.postInTurn(t.Context(), target.Caller{}, &Thread{ID: "t", Answer: &client.Answer{}}, o)
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	mayStart.Store(true)
	s.agents.turns.Refused("in progress")
	require.NoError(t, <-done)
	assert.Contains(t, <-sent, "wait=1000 ")
}

// TestARunThatIsPendingBehindAnotherHasItsPlaceNext has a run started that the server executes after the one in
// progress: a third one waits for both.
func TestARunThatIsPendingBehindAnotherHasItsPlaceNext(t *testing.T) {
	s, sent := oneAtATime(t)
	ctx := client.WithUrgency(t.Context())
	behind, err := s.StartBehind(ctx, &Thread{ID: "behind", Answer: &client.Answer{}}, Order{Hold: time.Hour})
	require.NoError(t, err)
	assert.Contains(t, <-sent, "wait=", "it does not wait for its turn")
	var over atomic.Bool
	done := make(chan bool, 1)
	go func() {
		assert.NoError(t, load{s}.takeTurns(client.WithUrgency(t.Context()), "third", 1))
		done <- over.Load()
	}()
	time.Sleep(100 * time.Millisecond)
	s.agents.turns.Refused("in progress")
	time.Sleep(20 * time.Millisecond)
	over.Store(true)
	require.Eventually(t, func() bool {
		s.agents.turns.Over(behind)
		return len(done) > 0
	}, 10*time.Second, time.Millisecond)
	assert.True(t, <-done)
}
