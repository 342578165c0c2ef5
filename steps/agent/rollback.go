package agent

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// Rollback has a run in progress and the new run that must roll it back.
type Rollback struct {
	Prior  *Progress
	Next   *GraphRun
	After  *Remains           // reads after the new run had completed; nil if it has not completed
	atOnce *exchange.Response // GET of the prior run right after the join of the new run; nil if that join failed or was late
}

// Remains has the responses to reads after a rollback. They must not show the removed run.
type Remains struct {
	Runs  []*exchange.Response // GET of the prior run, and of the runs ahead of it
	State *exchange.Response
}

func (s *Server) ReadRemains(ctx context.Context, p *Progress) (*Remains, error) {
	found := &Remains{}
	for _, g := range append([]*GraphRun{p.GraphRun}, p.ahead...) {
		a, err := s.GetRun(ctx, p.Thread.Owner, g)
		if err != nil {
			return nil, err
		}
		found.Runs = append(found.Runs, a)
	}
	state, err := s.State(ctx, p.Thread.Owner, p.Thread)
	found.State = state
	return found, err
}

// NoneRetrievable judges that the runs can no longer be retrieved.
func (r *Remains) NoneRetrievable() error { return judge.NoneRetrievable(r.Runs...) }

// left returns an error if the responses still show the prior run.
func (rb *Rollback) left() error {
	if err := rb.After.NoneRetrievable(); err != nil {
		return err
	}
	return judge.HoldsNewRunOnly(rb.After.State, rb.Prior.Value(), rb.Next.Value())
}

// Replace starts a run with rollback on the thread of a run in progress, and waits until the new run has completed.
func (s *Server) Replace(ctx context.Context, p *Progress, o Order) (*Rollback, error) {
	o.Strategy = RollbackStrategy
	next, err := s.Post(ctx, p.Thread, o)
	if err != nil {
		return nil, err
	}
	rb := &Rollback{Prior: p, Next: next}
	if next.ID != "" {
		_, err = s.awaitThen(ctx, next, func(ctx context.Context) (err error) {
			rb.atOnce, err = s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
			return err
		})
	}
	return rb, err
}

// awaitNext reads the state again if it lacks messages of the new run and contains none of the prior run: a read within
// patience may show the state from before the end of the new run.
func (s *Server) awaitNext(ctx context.Context, rb *Rollback) error {
	state := rb.After.State
	if rb.Next.CompleteIn(state) || rb.Prior.LeftIn(state) != nil {
		return nil
	}
	state, _, err := s.ReadState(ctx, rb.Next.Thread, rb.Next.Final.Ended().Add(s.target.Config.Patience), rb.Next.CompleteIn)
	rb.After.State = state
	return err
}

// Won reports whether the prior run was certainly in progress until the new one had been accepted.
func (rb *Rollback) Won() bool {
	return rb.Next.ID != "" && rb.Next.Responded().Before(rb.Prior.Until())
}

// Prompt reports whether the new run completed before the natural end of the prior run, which shows that it did not wait.
func (rb *Rollback) Prompt() bool {
	return rb.Next.Complete() && rb.Next.Final.Ended().Before(rb.Prior.Until())
}

// Plan describes how a run is rolled back.
type Plan struct {
	Moment string                                       // moment at which the new run is sent
	Thread *Thread                                      // thread of both runs; nil for a new thread
	Before func(ctx context.Context, p *Progress) error // is called before the new run is sent; nil does nothing
	Prior  Order                                        // order of the run that is rolled back, without its hold
	Next   Order                                        // order of the new run, without its strategy
}

// RollBack rolls a run back at the moment: see [Server.RollBackAs]. At the moment JustStarted the run has written no
// message yet. It writes its first message after half of its hold, because some servers notice a rollback only after they
// have stored the next message. If the graph does not understand that word, the run only waits.
func (s *Server) RollBack(ctx context.Context, moment string) (*Rollback, error) {
	plan := Plan{Moment: moment}
	plan.Prior.late = moment == JustStarted && s.Understood(ctx, EarlyWrite) == nil
	return s.RollBackAs(ctx, plan)
}

// RollBackAs starts a run and rolls it back with another one. If the target was so slow that the prior run may have ended
// naturally, it tries again.
func (s *Server) RollBackAs(ctx context.Context, plan Plan) (*Rollback, error) {
	var rb *Rollback
	var unclear error
	for range Attempts {
		var err error
		rb, err = s.rollBackOnce(ctx, plan)
		if err != nil {
			return nil, err
		}
		if rb.After == nil {
			break
		}
		leaves := rb.left() != nil
		inTime := rb.Usable() == nil && time.Now().Before(rb.Prior.Until())
		if inTime && leaves && plan.Moment == JustStarted && s.leavesStarted(ctx) { // the next one may still be pending
			unclear = outcome.Inconclusive("the server still shows a run that was rolled back as soon as it was accepted, "+
				"and one that had started (AS-ROLLBACK-2, AS-ROLLBACK-3): the first may have started too, in %d attempts",
				Attempts).ByRequirement("AS-ROLLBACK-2", "AS-ROLLBACK-3")
			continue
		}
		waited := rb.Won() && !rb.Prompt()
		if inTime || waited && leaves && plan.Moment != HasStarted {
			return rb, nil
		}
		plan.Prior.Hold, unclear = rb.Prior.AfterLoss(), nil
	}
	if unclear != nil {
		return nil, unclear
	}
	return rb, rb.Usable()
}

// rollBackOnce starts a run, rolls it back with another run, and reads the state and the run after the new run has
// completed.
func (s *Server) rollBackOnce(ctx context.Context, plan Plan) (*Rollback, error) {
	p, err := s.InProgressOn(ctx, plan.Thread, plan.Moment, plan.Prior)
	if err != nil {
		return nil, outcome.AsPrecondition(err)
	}
	if plan.Before != nil {
		if err := plan.Before(ctx, p); err != nil {
			return nil, outcome.AsPrecondition(err)
		}
	}
	rb, err := s.Replace(ctx, p, plan.Next)
	if err != nil || !rb.Next.Complete() {
		return rb, err
	}
	rb.After, err = s.ReadRemains(ctx, p)
	if err != nil {
		return nil, err
	}
	// A run that was still served right after the join counts as not deleted, even if a later GET returns 404.
	if rb.atOnce != nil && rb.atOnce.Status < 400 {
		rb.After.Runs[0] = rb.atOnce
	}
	return rb, s.awaitNext(ctx, rb)
}

func (s *Server) leavesStarted(ctx context.Context) bool {
	rb, err := s.SharedRollback(ctx)
	return err == nil && rb.left() != nil
}

// Usable returns an error if a rollback shows nothing: the new run was refused, did not complete, or waited for the prior
// run. The error is a blocked outcome if another attempt with more time may show more.
func (rb *Rollback) Usable() error {
	if err := judge.RollbackIsAccepted(rb.Next.Response, rb.Next.ID); err != nil {
		return err
	}
	if err := judge.NewRunCompletes(rb.Next.Final, rb.Next.Value()); err != nil {
		return err
	}
	if rb.Won() && rb.Prompt() {
		return nil
	}
	const late = "the new run did not complete before the natural end of the prior run (AS-ROLLBACK-1), in %d attempts"
	return outcome.Blocked(late, Attempts).ByRequirement("AS-ROLLBACK-1")
}

// The moments at which a run is rolled back, as the steps name them.
const (
	HasStarted    = "after it had started"
	JustStarted   = "as soon as it was accepted"
	PendingBehind = "while it was pending behind another run"
	PendingThird  = "while it was pending behind two other runs"
)

// waitsFor is the number of runs ahead of a run that is pending.
var waitsFor = map[string]int{PendingBehind: 1, PendingThird: 2}

// Progress is a run in progress, with the time of its end.
type Progress struct {
	*GraphRun
	ahead []*GraphRun        // the runs ahead of it, the one in progress first; a rollback removes all of them
	ended *exchange.Response // the response that showed that it has ended, or nil

	Over  time.Time          // its latest natural end
	Shown *exchange.Response // a state with its first message; nil if the target shows no message before a run ends
}

// Ahead returns the run that is executed while this one is pending.
func (p *Progress) Ahead() *GraphRun { return p.ahead[0] }

// Until returns a time until which the run is certainly in progress or pending.
func (p *Progress) Until() time.Time {
	if len(p.ahead) > 0 {
		return p.ahead[0].NotOverBefore()
	}
	return p.NotOverBefore()
}

// InProgress starts a run on a new thread and returns at the moment, while it is certainly in progress. It tries
// several times, each time with a run that takes longer.
func (s *Server) InProgress(ctx context.Context, moment string, wanted time.Duration) (*Progress, error) {
	return s.InProgressOn(ctx, nil, moment, Order{Hold: wanted})
}

// InProgressOn is like InProgress on the given thread. If the thread is nil, each attempt gets a new one.
func (s *Server) InProgressOn(ctx context.Context, on *Thread, moment string, o Order) (*Progress, error) {
	o.Waits, o.written = true, moment == HasStarted || o.late
	if waitsFor[moment] > 0 {
		if err := s.queuesRuns(ctx); err != nil {
			return nil, err
		}
	}
	last := "no time was left"
	for range Attempts {
		p, err := s.begin(ctx, on, moment, o)
		if err != nil {
			return nil, err
		}
		if p.ended != nil {
			last = outcome.Seen(p.ended)
		} else if time.Now().Before(p.Until()) {
			return p, nil
		}
		o.Hold = p.AfterLoss()
	}
	return nil, outcome.Blocked("the run was over before the next request could be sent, in %d attempts: %s",
		Attempts, last)
}

// AfterLoss returns the hold of the next run after this one ended too early. It depends on the elapsed time and not on
// the time of other responses, because a target may respond only after it has interrupted the prior run.
func (p *Progress) AfterLoss() time.Duration { return Longer(p.Order.Hold, time.Since(p.begun)) }

// Longer returns the hold for the next attempt. In the last attempt, a run with the given hold ended before the suite had
// finished its requests, which took the given time.
func Longer(hold, took time.Duration) time.Duration { return 2 * max(hold, took) }

// begin starts a run on the thread, or on a new one if it is nil. It returns when the run was accepted or has started,
// according to the moment. For a pending run, begin returns the last of the runs that wait.
func (s *Server) begin(ctx context.Context, t *Thread, moment string, o Order) (*Progress, error) {
	if t == nil {
		var err error
		t, err = s.NewThread(ctx, s.Owner())
		if err != nil {
			return nil, err
		}
	}
	g, err := s.Start(ctx, t, o)
	if err != nil {
		return nil, err
	}
	p := &Progress{GraphRun: g, Over: g.Responded().Add(g.Order.Hold + s.Slack())}
	if moment != JustStarted {
		err = s.awaitStart(ctx, p)
	}
	for range waitsFor[moment] {
		if err == nil && p.ended == nil {
			p, err = s.behind(ctx, p)
		}
	}
	return p, err
}

// SharedRollback returns a rollback of a run that had started. Scenarios share it and must not change its thread.
func (s *Server) SharedRollback(ctx context.Context) (*Rollback, error) {
	return shared.Get(ctx, s.maker, "a rollback", func(ctx context.Context) (*Rollback, error) {
		if err := s.PlainRunsWork(ctx); err != nil {
			return nil, err
		}
		return s.RollBack(ctx, HasStarted)
	})
}

// RollbackActs returns an error if no run stays in progress, or if a new run with rollback is refused or waits for a run
// that had started (AS-ROLLBACK-1). Such a server fails other requirements about several runs on a thread for the same
// reason.
func (s *Server) RollbackActs(ctx context.Context) error {
	_, err := s.SharedRollback(ctx)
	return outcome.AsPrecondition(err)
}

// queuesRuns returns a skip if the server does not queue runs with the strategy enqueue, which is a vendor extension. A
// server queues runs if a second run completes, but not before the first can have completed.
func (s *Server) queuesRuns(ctx context.Context) error {
	_, err := shared.Get(ctx, s.maker, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := s.InProgress(ctx, JustStarted, 0)
		if err != nil {
			return false, err
		}
		second, err := s.behind(ctx, first)
		if err != nil {
			return false, err
		}
		earliest := first.NotOverBefore().Add(second.Order.Hold)
		limit := second.Responded().Add(first.Order.Hold + second.Order.Hold + 2*s.target.Config.Timeouts.Run)
		// A server without a queue completes the second run when its own hold is over, or refuses it.
		if err := client.Sleep(ctx, time.Until(earliest.Add(-s.Slack()))); err != nil {
			return false, err
		}
		before, err := s.State(ctx, first.Thread.Owner, first.Thread)
		if err != nil {
			return false, err
		}
		if second.CompleteIn(before) && before.Ended().Before(earliest) {
			return false, noQueue()
		}
		if err := client.Sleep(ctx, time.Until(earliest.Add(s.Slack()))); err != nil {
			return false, err
		}
		state, complete, err := s.ReadState(ctx, first.Thread, limit, second.CompleteIn)
		if err != nil {
			return false, err
		}
		if !complete || HoldsOnly(state, first.GraphRun, second.GraphRun) != nil {
			return false, noQueue()
		}
		return true, nil
	})
	return err
}

func noQueue() error {
	return outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another one by "+
		"multitask_strategy enqueue, a vendor extension that is not part of the interface")
}

// behind starts a run that waits behind the given run.
func (s *Server) behind(ctx context.Context, other *Progress) (*Progress, error) {
	hold := cmp.Or(other.Order.Behind, other.Order.Hold)
	g, err := s.Post(ctx, other.Thread, Order{Hold: hold, Strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.ID == "" {
		return nil, noQueue()
	}
	ahead := append(slices.Clone(other.ahead), other.GraphRun)
	return &Progress{GraphRun: g, ahead: ahead, Over: other.Over.Add(g.Order.Hold)}, nil
}
