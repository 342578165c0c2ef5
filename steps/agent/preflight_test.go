package agent

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// queue is an agent server that executes a limited number of runs at a time, in the order of their arrival. It shows the
// messages of a run when the run ends.
type queue struct {
	workers int
	pending chan *queued
	blocks  bool          // it sends no responses while a run waits
	late    time.Duration // delay after which a worker starts each run except the first
	refuses int           // number of runs with a hold of at least lateStart that it still refuses
	answers chan struct{} // a mutex as a channel: in a bubble, time does not pass while a goroutine waits for a sync.Mutex
	runs    sync.Map      // by thread

	executed atomic.Int64
	made     int
}

type queued struct {
	text string
	done chan struct{}
}

func (q *queue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q.answers <- struct{}{}
	q.made++
	id := strconv.Itoa(q.made)
	<-q.answers
	mux := http.NewServeMux()
	mux.HandleFunc("POST /threads", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"thread_id":%q}`, id) })
	mux.HandleFunc("POST /threads/{thread}/runs", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		run := &queued{gjson.GetBytes(body, "input.messages.0.content").String(), make(chan struct{})}
		if q.refuses > 0 && waitOf(run) >= lateStart {
			q.refuses--
			http.Error(w, "{}", http.StatusConflict)
			return
		}
		q.runs.Store(r.PathValue("thread"), run)
		q.pending <- run
		_, _ = io.WriteString(w, `{"run_id":"run"}`)
	})
	mux.HandleFunc("GET /threads/{thread}/state", func(w http.ResponseWriter, r *http.Request) {
		found, _ := q.runs.Load(r.PathValue("thread"))
		run := found.(*queued)
		select {
		case <-run.done:
			_, _ = fmt.Fprintf(w, `{"values":{"messages":[{"type":"human","content":%q},{"type":"ai","content":%q}]}}`, run.text, "said "+run.text)
		default:
			_, _ = io.WriteString(w, `{"values":{"messages":[]}}`)
		}
	})
	mux.HandleFunc("GET /threads/{thread}/runs/run/join", func(_ http.ResponseWriter, r *http.Request) {
		found, _ := q.runs.Load(r.PathValue("thread"))
		<-found.(*queued).done
	})
	mux.ServeHTTP(w, r)
}

func (q *queue) execute(run *queued) {
	wait := waitOf(run)
	if wait > 0 && q.blocks {
		q.answers <- struct{}{}
		defer func() { <-q.answers }()
	}
	if q.executed.Add(1) > 1 {
		wait += q.late
	}
	time.Sleep(wait)
	close(run.done)
}

// waitOf returns the hold of a run.
func waitOf(run *queued) time.Duration {
	ms := 0
	_, err := fmt.Sscanf(run.text, "wait=%d", &ms)
	if err != nil {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

func serverOf(t *testing.T, q *queue, change func(*config.Config)) *Server {
	t.Helper()
	q.pending, q.answers = make(chan *queued, 1000), make(chan struct{}, 1)
	var workers sync.WaitGroup
	for range q.workers {
		workers.Go(func() {
			for run := range q.pending {
				q.execute(run)
			}
		})
	}
	network := memnet.New()
	server := network.Serve(q)
	connection := client.New(8, client.Route{Dial: network.DialContext})
	t.Cleanup(func() {
		connection.Close()
		server.Close()
		close(q.pending)
		workers.Wait()
	})
	ledger, err := evidence.OpenLedger(filepath.Join(t.TempDir(), "ledger"), "run", server.URL)
	require.NoError(t, err)
	c := config.Default()
	change(&c)
	at := &target.Target{Config: &c, Client: connection, Ledger: ledger, Redact: client.NewRedactor(nil)}
	as := New(at, nil, shared.NewMaker(t.Context()), 8, 100)
	return &Server{Base: server.URL, Agents: as, judged: true}
}

// TestNoMoreRunsThanTheServerExecutes starts as many runs as the preflight has measured.
func TestNoMoreRunsThanTheServerExecutes(t *testing.T) {
	t.Parallel()
	for workers, key := range map[int]int{1: 0, 2: 0, 3: 0, 10: 0, 11: 5, 20: 0, 40: 0} {
		t.Run(strconv.Itoa(workers), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serverOf(t, &queue{workers: workers}, func(c *config.Config) { c.Agent.Runs = key })
				_, err := s.preflight(t.Context())
				require.NoError(t, err)
				places := 0
				for entered(t, &s.runs, "new "+strconv.Itoa(places)) {
					places++
				}
				assert.LessOrEqual(t, places, workers)
				assert.GreaterOrEqual(t, places, min(workers, 2))
				assert.True(t, key == 0 || places == key)
			})
		})
	}
}

// TestLateRunsAreNotOneAtATime checks the pace of servers that execute five runs at a time and start every run late
// except the first. If the measurement with more time fails, it is repeated. Without it, the pace is unknown.
func TestLateRunsAreNotOneAtATime(t *testing.T) {
	t.Parallel()
	for failures, isNoted := range map[int]bool{0: true, 1: true, 2: false} {
		t.Run(strconv.Itoa(failures), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := serverOf(t, &queue{workers: 5, late: 400 * time.Millisecond, refuses: 7 * failures}, func(*config.Config) {})
				_, err := s.preflight(t.Context())
				require.NoError(t, err)
				assert.False(t, s.OneAtATime())
				assert.Equal(t, isNoted, len(s.target.Notes()) > 0)
				assert.Equal(t, isNoted, s.learned().atOnce > 1)
			})
		})
	}
}

// TestAGraphThatBlocksItsServer checks that the scenario is blocked, unless agent.words contains the word.
func TestAGraphThatBlocksItsServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(t, &queue{workers: 10, blocks: true}, func(*config.Config) {})
		err := s.Understood(t.Context(), Wait)
		require.True(t, outcome.Is(err, reports.Blocked), "%v", err)
		assert.ErrorContains(t, err, "responded to no other request")
		s.target.Config.Agent.Words = []string{Wait}
		assert.NoError(t, s.Understood(t.Context(), Wait))
	})
}

// TestASlotIsGivenBackIfNoRunIsStarted asks for runs that would take too long.
func TestASlotIsGivenBackIfNoRunIsStarted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(t, &queue{workers: 10}, func(c *config.Config) { c.Agent.Runs = 2 })
		thread, err := s.NewThread(t.Context(), target.Caller{})
		require.NoError(t, err)
		for range 3 {
			_, err = s.Post(t.Context(), thread, Order{Hold: 24 * time.Hour})
			require.True(t, outcome.Is(err, reports.Inconclusive), "%v", err)
			_, err = s.StartAtOnce(t.Context(), thread, 24*time.Hour)
			require.True(t, outcome.Is(err, reports.Inconclusive), "%v", err)
		}
		for i := range 2 {
			assert.True(t, entered(t, &s.runs, "new "+strconv.Itoa(i)), "slot %d", i)
		}
	})
}

// TestThePreflightTriesWhatTheScenariosNeed counts the requests of the preflight. There are five for a completed run and
// the list of threads, then two for each run that it tries (a thread and a run), and one read of the state of the plain
// run. If the server executes enough runs at a time, the preflight tries more.
func TestThePreflightTriesWhatTheScenariosNeed(t *testing.T) {
	t.Parallel()
	for scenarios, requests := range map[int]int{1: 5 + 2*2 + 1, 3: 5 + 3*2 + 1, 8: 5 + 8*2 + 1, 100: 5 + 8*2 + 1 + 16*2 + 1} {
		t.Run(strconv.Itoa(scenarios), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := &queue{workers: 30}
				s := serverOf(t, q, func(*config.Config) {})
				s.Agents = New(s.target, nil, s.maker, 8, scenarios)
				t.Cleanup(s.Close)
				p, err := s.preflight(t.Context())
				require.NoError(t, err)
				assert.Equal(t, max(leastAtOnce, min(scenarios, mostAtOnce)), p.atOnce)
				assert.LessOrEqual(t, q.made, requests+1, "the state of the plain run may be read twice")
			})
		})
	}
}

func entered(t *testing.T, p *inProgress, thread string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	return p.enter(ctx, thread) == nil
}

func TestLostRacesEnd(t *testing.T) {
	c := config.Default()
	as := &Agents{target: &target.Target{Config: &c}}
	assert.NoError(t, as.tooLong(4*maxHold+c.Timeouts.Run))
	assert.True(t, outcome.Is(as.tooLong(time.Hour), reports.Inconclusive))
}
