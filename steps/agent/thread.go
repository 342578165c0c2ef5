package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/target"
)

// Thread is a thread that the test run created.
type Thread struct {
	ID       string // as a string; the interface does not define its JSON type
	Owner    target.Caller
	Response *exchange.Response // the response to its creation
	again    bool               // the server had already returned this ID in the test run
	runs     atomic.Int32       // number of its accepted runs
	removals
}

// removals keeps track of the runs of a thread that a rollback may have removed. It is safe for concurrent use.
type removals struct {
	mu        sync.Mutex
	sending   []*GraphRun // requests for runs without a response so far
	accepted  []*GraphRun
	removable map[*GraphRun]bool
}

// begin notes that a run is sent. Its rollback may remove all runs that are not known to have completed, including those
// sent at the same time.
func (r *removals) begin(g *GraphRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removable == nil {
		r.removable = map[*GraphRun]bool{}
	}
	for _, other := range slices.Concat(r.accepted, r.sending) {
		if g.isRollback() && !other.Complete() {
			r.removable[other] = true
		}
	}
	r.removable[g] = slices.ContainsFunc(r.sending, (*GraphRun).isRollback)
	r.sending = append(r.sending, g)
}

// end notes the response to a run.
func (r *removals) end(g *GraphRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sending = slices.DeleteFunc(r.sending, func(other *GraphRun) bool { return other == g })
	if g.ID != "" {
		r.accepted = append(r.accepted, g)
	}
}

// AllExcept returns the runs that the thread has accepted, except the given ones.
func (r *removals) AllExcept(runs ...*GraphRun) (all []*GraphRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.accepted {
		if !slices.Contains(runs, g) {
			all = append(all, g)
		}
	}
	return all
}

// holdsBefore returns the sum of the holds of the incomplete runs that the thread accepted before g.
func (r *removals) holdsBefore(g *GraphRun) (sum time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, other := range r.accepted {
		if other == g {
			break
		}
		if !other.Complete() {
			sum += other.Order.Hold
		}
	}
	return sum
}

// isRemovable reports whether a rollback may have removed a run.
func (r *removals) isRemovable(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.accepted, func(g *GraphRun) bool { return g.ID == run && r.removable[g] })
}

// GraphRun is a run of the conformance graph.
type GraphRun struct {
	ID       string
	Thread   *Thread
	Order    Order
	Inputs   []string           // the contents of its human messages; the last one is unique in the test run
	Response *exchange.Response // the response to its creation
	begun    time.Time          // earliest time at which its graph can have begun to wait
	Joined   bool               // a join of it returned 2xx
	Final    *exchange.Response // the state after it; nil until the suite has waited for it
}

func (g *GraphRun) isRollback() bool { return g.Order.Strategy == RollbackStrategy }

// Complete reports whether a state has shown the run's answer.
func (g *GraphRun) Complete() bool { return g.Final != nil && g.CompleteIn(g.Final) }

// Order describes a run to start.
type Order struct {
	Words     string          // further words of the graph, in addition to those of the other fields
	Hold      time.Duration   // how long it stays in progress
	Behind    time.Duration   // how long a run that waits behind it stays in progress; 0 means Hold
	Waits     bool            // its hold is at least [Agents.Hold]
	written   bool            // it writes a first message before it waits
	late      bool            // it writes that message only after half of its hold
	trial     bool            // it tests which words the graph understands, so none of them must be tested before
	Strategy  string          // multitask_strategy
	Before    []string        // human messages before the one with the words
	Fresh     func() []string // like Before, but with new messages for each run: lost ones may remain on the thread
	Text      string          // replaces the unique text
	Assistant string          // replaces the assistant of the configuration
	By        *target.Caller  // who starts it; nil means the owner of the thread

	More  map[string]any // further members of the body
	Wrong bool           // More makes the request invalid
	Type  string         // replaces the Content-Type
}

// WritingEarly returns the order of a run that writes a first message before it waits.
func WritingEarly() Order { return Order{Waits: true, written: true} }

func (o Order) says(word string) bool { return slices.Contains(strings.Fields(o.Words), word) }

// Sent returns the id of a thread as the target wrote it: a string or a number.
func (t *Thread) Sent() any {
	if id := t.Response.Get("thread_id"); id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return t.ID
}

// Usable returns an error if the thread was not created or has the id of another thread.
func (t *Thread) Usable() error { return judge.ThreadIsNew(t.Response, t.ID, t.again) }

// Accepted returns an error if the creation of the run failed.
func (g *GraphRun) Accepted() error { return judge.RunIsAccepted(g.Response, g.ID) }

// Responded returns the time of the response to its creation.
func (g *GraphRun) Responded() time.Time { return g.Response.Ended() }

// NotOverBefore returns the earliest time at which the run can end naturally.
func (g *GraphRun) NotOverBefore() time.Time { return g.begun.Add(g.Order.Hold) }

// Text returns its last human message.
func (g *GraphRun) Text() string { return g.Inputs[len(g.Inputs)-1] }

// Value returns the run as judgements see it.
func (g *GraphRun) Value() judge.Run {
	return judge.Run{ID: g.ID, Inputs: g.Inputs, Outputs: g.outputs(), Hold: g.Order.Hold, Created: g.Response}
}

// Values returns the runs as judgements see them.
func Values(runs []*GraphRun) []judge.Run {
	var all []judge.Run
	for _, g := range runs {
		all = append(all, g.Value())
	}
	return all
}

// Wrote returns the messages after the input of the run in a state. It returns nil if the state does not contain the
// input.
func (g *GraphRun) Wrote(state *exchange.Response) []messages.Message { return g.Value().Wrote(state) }

// Writers returns the run that wrote each message of a state, or nil for an unknown writer: see [judge.Writers].
func Writers(state []messages.Message, runs []*GraphRun) []*GraphRun {
	writers := make([]*GraphRun, len(state))
	for at, writer := range judge.Writers(state, Values(runs)) {
		if writer != judge.NoWriter {
			writers[at] = runs[writer]
		}
	}
	return writers
}

// Said returns the last message that the run wrote, or "".
func (g *GraphRun) Said() string {
	wrote := g.Wrote(g.Final)
	if len(wrote) == 0 {
		return ""
	}
	return wrote[len(wrote)-1].Text
}

// outputs returns the number of messages that the run adds to its input.
func (g *GraphRun) outputs() int {
	n := 1
	if g.Order.written {
		n++
	}
	if g.Order.says(ToolCall) {
		n++
	}
	return n
}

// CompleteIn reports whether a state contains the input of the run and all messages that the run writes.
func (g *GraphRun) CompleteIn(state *exchange.Response) bool { return g.Value().CompleteIn(state) }

const concurrentRuns = 5

// Concurrent has runs with rollback that were started on one thread.
type Concurrent struct {
	Runs       []*GraphRun
	InProgress bool // each was certainly in progress until the next one was accepted, or all others were
	Prompt     bool // the last completed before the natural end of the first
	Serial     bool // the last took so long that all others can have completed one after the other
}

// StartInTurn starts runs with rollback one after the other and waits for the last. All others have a hold. Each has
// started before the next is sent, because another requirement judges rollbacks of runs that have not started. If one
// ends too early, the later ones are not sent.
func (s *Server) StartInTurn(ctx context.Context, t *Thread, wanted time.Duration) (*Concurrent, error) {
	o := Order{Strategy: RollbackStrategy, Waits: true, Hold: max(wanted, 2*s.Hold(0)), written: true}
	all := &Concurrent{}
	var last *Progress
	for range concurrentRuns - 1 {
		next, err := s.begin(ctx, t, HasStarted, o)
		if err != nil {
			return nil, err
		}
		all.Runs = append(all.Runs, next.GraphRun)
		if next.ended != nil || last != nil && !next.Responded().Before(last.Until()) {
			return all, nil
		}
		last = next
	}
	rb, err := s.Replace(ctx, last, Order{})
	if err == nil {
		err = rb.Next.Accepted()
	}
	if err != nil {
		return nil, err
	}
	all.Runs, all.InProgress = append(all.Runs, rb.Next), rb.Won()
	first, now := all.Runs[0], time.Now()
	all.Prompt = now.Before(first.NotOverBefore())
	var others time.Duration
	for _, g := range all.Runs[:len(all.Runs)-1] {
		others += g.Order.Hold
	}
	all.Serial = now.Sub(first.Response.Sent) >= others
	return all, nil
}

// StartAtOnce starts runs with rollback at the same time and waits until all are over and one has completed, which may
// be any of them. It omits runs that were refused: a target may refuse some of several simultaneous runs.
func (s *Server) StartAtOnce(ctx context.Context, t *Thread, wanted time.Duration) (*Concurrent, error) {
	if err := s.Understood(ctx, Wait); err != nil {
		return nil, err
	}
	if err := s.runs.enter(ctx, t.ID); err != nil {
		return nil, err
	}
	defer s.runs.abandon(t.ID)
	o := Order{Hold: s.Hold(wanted), Strategy: RollbackStrategy}
	started, err := s.race(ctx, slices.Repeat([]*Thread{t}, concurrentRuns), o)
	if err != nil {
		return nil, err
	}
	all := &Concurrent{Runs: accepted(started), Prompt: true}
	if len(all.Runs) == 0 {
		return nil, started[0].Accepted()
	}
	last := slices.MaxFunc(all.Runs, func(a, b *GraphRun) int { return a.Responded().Compare(b.Responded()) }).Responded()
	all.InProgress = !slices.ContainsFunc(all.Runs, func(g *GraphRun) bool { return !last.Before(g.NotOverBefore()) })
	if !all.InProgress {
		return all, nil
	}
	if err := client.Sleep(ctx, time.Until(last.Add(o.Hold))); err != nil {
		return nil, err
	}
	_, done, err := s.ReadState(ctx, t, time.Now().Add(s.RunTimeout()), func(a *exchange.Response) bool {
		return slices.ContainsFunc(all.Runs, func(g *GraphRun) bool { return g.CompleteIn(a) })
	})
	if err != nil {
		return nil, err
	}
	if !done {
		for _, g := range all.Runs {
			if err := s.RequireEnded(ctx, g); err != nil {
				return nil, err
			}
		}
	}
	return all, client.Sleep(ctx, s.Slack())
}

// HoldsOnly judges that a state contains only the messages of the runs: see [judge.HoldsOnly].
func HoldsOnly(state *exchange.Response, runs ...*GraphRun) error {
	return judge.HoldsOnly(state, Values(runs)...)
}

// Only reports whether messages are those of the runs: see [judge.AreOnly].
func Only(all []messages.Message, runs ...*GraphRun) bool { return judge.AreOnly(all, Values(runs)...) }

// HoldsAnswered judges that a state contains the input of the run and its answer: see [judge.HoldsAnswered].
func HoldsAnswered(state *exchange.Response, g *GraphRun) error {
	return judge.HoldsAnswered(state, g.Value())
}
