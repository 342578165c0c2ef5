package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Thread is one that the run created, with who owns it.
type Thread struct {
	ID     string // as a string, whatever its JSON type: the interface shows none
	Owner  target.Caller
	Answer *exchange.Response // of the creation
	again  bool               // its id was given before in this run
	runs   atomic.Int32       // how many were accepted on it
	removals
}

// removals keeps track of the runs of a thread that a rollback may have removed. It is safe for concurrent use.
type removals struct {
	mu        sync.Mutex
	sending   []*GraphRun // sent and not answered yet
	accepted  []*GraphRun
	removable map[*GraphRun]bool
}

// begin notes that a run is sent. A rollback may remove the runs that are not known to have completed, and those that
// are sent at the same time.
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

// holdsBefore returns the sum of the holds of all runs that the thread accepted before g and that are not complete.
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
	ID     string
	Thread *Thread
	Order  Order
	Inputs []string           // the contents of its human messages; the last one is unique in this run of the suite
	Answer *exchange.Response // to its creation
	begun  time.Time          // it had surely not begun to wait before
	Joined bool               // a join of it was answered with 2xx
	Final  *exchange.Response // the state after it; nil while it was not waited for
}

func (g *GraphRun) isRollback() bool { return g.Order.Strategy == RollbackStrategy }

// Complete tells whether the state was seen to hold its answer.
func (g *GraphRun) Complete() bool { return g.Final != nil && g.CompleteIn(g.Final) }

// Order says what a run is asked to do.
type Order struct {
	Words     string        // that steer the graph, besides those of the other fields
	Hold      time.Duration // how long it stays in progress
	Waits     bool          // it stays in progress as long as [Agents.Hold] says, with Hold as what is wanted
	written   bool          // it writes a first message before it waits
	Strategy  string        // multitask_strategy
	Before    []string      // human messages that come before the one that steers
	Text      string        // in place of a unique text
	Assistant string        // in place of the one of the configuration
}

func (o Order) says(word string) bool { return slices.Contains(strings.Fields(o.Words), word) }

// Sent is the id of a thread as the target wrote it: a string or a number.
func (t *Thread) Sent() any {
	if id := t.Answer.Get("thread_id"); id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return t.ID
}

// Usable says what is wrong with a thread that a scenario is to work with alone.
func (t *Thread) Usable() error {
	switch {
	case t.ID == "":
		return outcome.Violated(t.Answer, "a thread with a thread_id", "%s", outcome.Seen(t.Answer))
	case t.again:
		return outcome.Violated(t.Answer, "a new thread_id", "%s, which another thread has (AS-THREAD-1)", t.ID).
			ByRequirement("AS-THREAD-1")
	}
	return nil
}

// Accepted says what is wrong with the answer to the creation of a run.
func (g *GraphRun) Accepted() error {
	return outcome.Want(g.ID != "", g.Answer, "status 2xx with a run_id")
}

// Answered is when the creation was answered.
func (g *GraphRun) Answered() time.Time { return g.Answer.Ended() }

// NotOverBefore is a time before which the run cannot come to its end by itself.
func (g *GraphRun) NotOverBefore() time.Time { return g.begun.Add(g.Order.Hold) }

// Text is its last human message.
func (g *GraphRun) Text() string { return g.Inputs[len(g.Inputs)-1] }

// Wrote are the messages that a state holds after the run's input: none where it does not hold that.
func (g *GraphRun) Wrote(state *exchange.Response) []messages.Message {
	all := messages.Of(state)
	at := g.inputIn(all)
	if at < 0 {
		return nil
	}
	return all[at+1:]
}

// inputIn returns the index of the run's last human message in a state, or -1.
func (g *GraphRun) inputIn(state []messages.Message) int {
	return slices.IndexFunc(state, func(m messages.Message) bool { return m.Text == g.Text() })
}

// Writers returns for each message of a state the run that wrote it, or nil for inputs and for messages that no run can
// have written. A run can have written the messages between its input and the next input, at most as many as its order
// writes. Messages that repeat the input of the run count first. Messages that repeat the input of another run do not count.
func Writers(state []messages.Message, runs []*GraphRun) []*GraphRun {
	writers := make([]*GraphRun, len(state))
	for _, g := range runs {
		start, end := g.span(state, runs)
		free := g.outputs()
		claim := func(matches func(m messages.Message) bool) {
			for i := start; i < end && free > 0; i++ {
				if writers[i] == nil && matches(state[i]) {
					writers[i] = g
					free--
				}
			}
		}
		claim(g.isRepeatedBy)
		claim(func(m messages.Message) bool {
			return !slices.ContainsFunc(runs, func(other *GraphRun) bool { return other.isRepeatedBy(m) })
		})
	}
	return writers
}

// isRepeatedBy reports whether a message contains the input of the run.
func (g *GraphRun) isRepeatedBy(m messages.Message) bool { return strings.Contains(m.Text, g.Text()) }

// span returns where the messages of the run may be in a state: from start on, before end. It is empty if the state lacks
// the input of the run.
func (g *GraphRun) span(state []messages.Message, runs []*GraphRun) (start, end int) {
	at := g.inputIn(state)
	if at < 0 {
		return 0, 0
	}
	end = len(state)
	for _, other := range runs {
		if next := other.inputIn(state); next > at {
			end = min(end, next)
		}
	}
	return at + 1, end
}

// Said is the last message that it left, "" where that is its input.
func (g *GraphRun) Said() string {
	wrote := g.Wrote(g.Final)
	if len(wrote) == 0 {
		return ""
	}
	return wrote[len(wrote)-1].Text
}

// outputs is how many messages the run adds to its input.
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

// CompleteIn tells whether a state holds all that the run was to write.
func (g *GraphRun) CompleteIn(state *exchange.Response) bool {
	return len(g.Wrote(state)) >= g.outputs()
}

const concurrentRuns = 5

// Concurrent are runs with rollback that were started on one thread.
type Concurrent struct {
	Runs       []*GraphRun
	InProgress bool // each was surely in progress until the next one, or all others, had been accepted
	Prompt     bool // the last was complete while the first would still have been in progress
}

// StartInTurn starts runs with rollback one after the other and waits for the last, which alone is not told to wait.
// Each has started before the next is sent: runs that are rolled back as soon as they were accepted are another
// requirement's concern. Where one ends too early the later ones are not sent.
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
		if next.ended != nil || last != nil && !next.Answered().Before(last.Until()) {
			return all, nil
		}
		last = next
	}
	rb, err := s.Replace(ctx, last)
	if err == nil {
		err = rb.Next.Accepted()
	}
	if err != nil {
		return nil, err
	}
	all.Runs, all.InProgress = append(all.Runs, rb.Next), rb.won()
	all.Prompt = time.Now().Before(all.Runs[0].NotOverBefore())
	return all, nil
}

// StartAtOnce starts runs with rollback at the same time and waits until all have had theirs and one has completed:
// nobody can say which. It leaves out runs that were refused: a target may refuse some of many at the same time.
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
	last := slices.MaxFunc(all.Runs, func(a, b *GraphRun) int { return a.Answered().Compare(b.Answered()) }).Answered()
	all.InProgress = !slices.ContainsFunc(all.Runs, func(g *GraphRun) bool { return !last.Before(g.NotOverBefore()) })
	if !all.InProgress {
		return all, nil
	}
	if err := client.Sleep(ctx, time.Until(last.Add(o.Hold))); err != nil {
		return nil, err
	}
	_, done, err := s.ReadState(ctx, t, time.Now().Add(s.target.Config.Timeouts.Run), func(a *exchange.Response) bool {
		return slices.ContainsFunc(all.Runs, func(g *GraphRun) bool { return g.CompleteIn(a) })
	})
	if err != nil {
		return nil, err
	}
	if !done {
		for _, g := range all.Runs {
			if err := s.requireEnded(ctx, g); err != nil {
				return nil, err
			}
		}
	}
	return all, client.Sleep(ctx, s.Slack())
}

// HoldsOnly says what is wrong with a state that is to hold the inputs of the runs, each with its answer, in this
// order, and nothing else. It asks for no kinds: they are another requirement's concern.
func HoldsOnly(state *exchange.Response, runs ...*GraphRun) error {
	all := messages.Of(state)
	if Only(all, runs...) {
		return nil
	}
	expected := "exactly the messages of " + reports.Count(len(runs), "run")
	o := outcome.Violated(state, expected, "%s", beside(all, runs)+messages.Shown(all)).At("/values/messages")
	o.Violations[0].Kind = outcome.ExtraItem
	if len(runs) > 0 && !slices.ContainsFunc(all, func(m messages.Message) bool { return m.Text == runs[0].Inputs[0] }) {
		o.Violations[0].Kind = outcome.MissingItem
	}
	if len(runs) > 0 {
		o = o.Comparing(state, runs[len(runs)-1].Answer)
	}
	return o
}

// beside says what comes before the messages of the runs, or that these are missing.
func beside(all []messages.Message, runs []*GraphRun) string {
	if len(runs) == 0 || len(all) == 0 {
		return ""
	}
	at := slices.IndexFunc(all, func(m messages.Message) bool { return m.Text == runs[0].Inputs[0] })
	switch {
	case at < 0 && len(runs) == 1:
		return "the run's input is missing; "
	case at < 0:
		return "the first run's input is missing; "
	case at > 0:
		return reports.Count(at, "message") + " of another run first; "
	}
	return ""
}

// Only tells whether the messages are the inputs of the runs, each with its answer, in this order, and nothing else.
func Only(all []messages.Message, runs ...*GraphRun) bool {
	at := 0
	for _, g := range runs {
		for _, input := range g.Inputs {
			if at >= len(all) || all[at].Text != input {
				return false
			}
			at++
		}
		at += g.outputs()
	}
	return at == len(all)
}

// HoldsAnswered says what is wrong with a state that is to hold the run's input and its answer, and maybe more.
func HoldsAnswered(state *exchange.Response, g *GraphRun) error {
	if g.CompleteIn(state) {
		return nil
	}
	expected := fmt.Sprintf("the input %q and its answer", g.Text())
	return outcome.Violated(state, expected, "%s", messages.Shown(messages.Of(state))).At("/values/messages").
		Comparing(state, g.Answer)
}
