package agent

import (
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// The moments at which a run is rolled back, as the sentences name them.
const (
	HasStarted    = "after it had started"
	JustStarted   = "as soon as it was accepted"
	pendingBehind = "while it was pending behind another run"
)

// Progress is a run in progress, and how long it is going to be that.
type Progress struct {
	*GraphRun
	ahead  *GraphRun      // the run that it waits for, nil where it waits for none; a rollback removes both
	wanted time.Duration  // how long it should take, so that it is surely in progress for long enough; 0: any time will do
	ended  *client.Answer // has shown that it is over already; nil where nothing has

	Until time.Time      // it cannot come to its end by itself before then
	Over  time.Time      // it would surely be over by then, if nobody touched it
	Shown *client.Answer // a state with its first message; nil where the target shows none before the end of a run
}

// races starts runs that are to be rolled back in time.
type races struct{ *Server }

// InProgress starts a run on a new thread and returns at the moment, while it is surely in progress. It tries several times.
// Later attempts give more time, and at least what is wanted after a lost race.
func (s *Server) InProgress(ctx context.Context, moment string, attempt int, wanted time.Duration) (*Progress, error) {
	if moment == pendingBehind {
		if waits, err := (races{s}).queuesRuns(ctx); err != nil {
			return nil, err
		} else if !waits {
			return nil, outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another run: it does not follow multitask_strategy enqueue, a vendor extension that is not part of the interface")
		}
	}
	last := "no time was left"
	for again := range Attempts {
		p, err := races{s}.begin(ctx, moment, s.agents.Holding(attempt+again, wanted))
		if err != nil {
			return nil, err
		}
		p.wanted = wanted
		switch {
		case p.ended != nil:
			last = outcome.Seen(p.ended)
		case time.Now().Before(p.Until):
			return p, nil
		}
	}
	return nil, outcome.Blocked("the run was over before the next request could be sent, in %d attempts: %s", Attempts, last)
}

// Line are the run and the one that it waits for.
func (p *Progress) Line() []*GraphRun {
	if p.ahead == nil {
		return []*GraphRun{p.GraphRun}
	}
	return []*GraphRun{p.GraphRun, p.ahead}
}

// LeftIn says which of the messages that were shown of the run is in a state.
func (p *Progress) LeftIn(state *client.Answer) error {
	texts := slices.Clone(p.Inputs)
	shown, _ := p.After(messages.Of(p.Shown))
	for _, m := range shown {
		texts = append(texts, m.Text)
	}
	for _, m := range messages.Of(state) {
		if slices.Contains(texts, m.Text) {
			return outcome.Violated(state, "no message of the prior run", "%s", messages.Shown([]messages.Message{m})).At("/values/messages").Comparing(state, p.Shown)
		}
	}
	return nil
}

// HoldFor is how long a run is told to wait in the attempt, from 0, where a lost race has shown what is wanted.
func (as *Agents) HoldFor(attempt int, wanted time.Duration) time.Duration {
	return max(as.Pace.Hold(attempt), min(wanted, as.LongestHold())).Round(time.Millisecond)
}

// Holding is the order of a run that waits as long as HoldFor says when it may start.
func (as *Agents) Holding(attempt int, wanted time.Duration) Order {
	hold := func() time.Duration { return as.HoldFor(attempt, wanted) }
	return Order{Hold: hold(), paced: hold}
}

// LongestHold is the longest time that a run is told to wait.
func (as *Agents) LongestHold() time.Duration {
	return max(MaxHold, as.target.Config.Timeouts.Run/2)
}

// AfterLoss is how long the next run in progress should take, where a race against this one was just lost. What has
// happened tells more than the pace of other answers: a target may answer only once it has interrupted the prior run.
func (p *Progress) AfterLoss() time.Duration { return Longer(p.Order.Hold, time.Since(p.begun)) }

// Longer is the time for a run after one of the hold, where what was to be done before its end took so long.
func Longer(hold, took time.Duration) time.Duration { return max(2*hold, 3*took) }

// TooShort tells whether the run was given so much less time than what the race before it took that its end is no
// measure. A new run that waits for the prior one takes longer the longer that is, so a run long enough unmasks it.
func (p *Progress) TooShort() bool { return p.wanted > p.Order.Hold*3/2 }

func (s races) begin(ctx context.Context, moment string, o Order) (*Progress, error) {
	o.written = moment == HasStarted
	p, err := s.beginAlone(ctx, o)
	if err != nil {
		return nil, err
	}
	switch moment {
	case HasStarted:
		known := s.agents.learned.showsAtEnd.Load()
		err = s.awaitStart(ctx, p)
		if err == nil && p.ended != nil && !known && s.agents.learned.showsAtEnd.Load() {
			if p, err = s.beginAlone(ctx, o); err == nil {
				err = s.awaitStart(ctx, p)
			}
		}
	case pendingBehind:
		if err = s.awaitStatus(ctx, p); err == nil && p.ended == nil {
			return s.behind(ctx, p)
		}
	}
	return p, err
}

func (s races) beginAlone(ctx context.Context, o Order) (*Progress, error) {
	g, err := startAlone(ctx, s.Server, o)
	if err != nil {
		return nil, err
	}
	return s.progressOf(g), nil
}

// progressOf is a run that was just accepted.
func (s races) progressOf(g *GraphRun) *Progress {
	return &Progress{GraphRun: g, Until: g.NotOverBefore(), Over: g.Answered().Add(g.Order.Hold + s.agents.Pace.Slack())}
}

// awaitStart waits until a run that writes at once has started. The state shows that, or, where the target writes the state
// only when a run ends, the run's own status or the time.
func (s races) awaitStart(ctx context.Context, p *Progress) error {
	if s.agents.learned.showsAtEnd.Load() {
		return s.awaitStatus(ctx, p)
	}
	return s.awaitWritten(ctx, p)
}

// awaitWritten reads the state until the run has written. A state that does not show it tells that the run had not
// begun to wait when it was asked for. A run that shows all at once has ended; where that came at its time, and the state
// was read shortly before, the target writes the state only when a run ends.
func (s races) awaitWritten(ctx context.Context, p *Progress) error {
	limit := p.Answered().Add(p.Order.Hold + s.target.Config.Timeouts.Run)
	state, written, err := s.ReadState(ctx, p.Thread, limit, func(a *client.Answer) bool {
		if p.begunIn(a) {
			return true
		}
		p.begun = a.Sent
		return false
	})
	switch {
	case err != nil:
		return err
	case !written:
		if err := s.StillQueued(ctx, p.GraphRun); err != nil {
			return err
		}
		return outcome.Violated(state, "a message of the run in progress", "%s", messages.Shown(messages.Of(state)))
	}
	seen := state.Sent.Add(state.Took)
	if p.CompleteIn(state) {
		p.ended = state
		if !seen.Before(p.Answer.Sent.Add(p.Order.Hold)) && seen.Before(p.NotOverBefore()) {
			s.agents.learned.showsAtEnd.Store(true)
		}
		return nil
	}
	p.Shown, p.Until = state, p.NotOverBefore()
	p.Over = seen.Add(p.Order.Hold + s.agents.Pace.Slack())
	a, err := s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
	if err == nil && statusOf(a) == statusEnded {
		p.ended = a
	}
	return err
}

// awaitStatus waits until the run is no longer pending by its own status, and a moment longer, in which it writes what the
// state does not show yet. A run that tells no such status has started in that moment.
func (s races) awaitStatus(ctx context.Context, p *Progress) error {
	limit := p.Answered().Add(s.target.Config.Timeouts.Run)
	for wait := 5 * time.Millisecond; ; wait = min(wait*3/2, 250*time.Millisecond) {
		a, err := s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
		if err != nil {
			return err
		}
		switch statusOf(a) {
		case statusEnded:
			p.ended = a
			return nil
		case statusPending:
			if p.begun = a.Sent; time.Now().Add(wait).After(limit) {
				if err := s.StillQueued(ctx, p.GraphRun); err != nil {
					return err
				}
				return outcome.Violated(a, "the run to start", "%s", outcome.Seen(a))
			}
			if err := client.Sleep(ctx, wait); err != nil {
				return err
			}
			continue
		}
		p.Until = p.NotOverBefore()
		p.Over = a.Sent.Add(a.Took + p.Order.Hold + s.agents.Pace.Slack())
		return client.Sleep(ctx, min(s.agents.Pace.Slack(), p.Order.Hold/8))
	}
}

// What the status of a run tells, where there is one. The interface shows no statuses of runs: words that are not known from
// agent servers tell nothing.
const (
	statusPending = "pending"
	statusRunning = "running"
	statusEnded   = "ended"
)

func statusOf(a *client.Answer) string {
	if !a.OK() {
		return ""
	}
	switch status := a.Get("status").String(); status {
	case "success", "error", "timeout", "interrupted":
		return statusEnded
	default:
		return status
	}
}

// queuesRuns tells whether a run with the strategy enqueue waits for the one before it. A target may treat the value,
// which the interface does not define, as its own default.
func (s races) queuesRuns(ctx context.Context) (bool, error) {
	return s.agents.learned.enqueues.Get(ctx, s.agents.maker, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := startAlone(ctx, s.Server, s.agents.Holding(0, 0))
		if err != nil {
			return false, err
		}
		t := first.Thread
		second, err := s.Post(ctx, t.Owner, t, Order{Strategy: "enqueue"})
		if err != nil || second.ID == "" {
			return false, err
		}
		limit := second.Answered().Add(first.Order.Hold + 2*s.target.Config.Timeouts.Run)
		state, complete, err := s.ReadState(ctx, t, limit, second.CompleteIn)
		if err != nil {
			return false, err
		}
		early := state.Sent.Add(state.Took).Before(first.NotOverBefore())
		return complete && !early && HoldsOnly(state, first, second) == nil, nil
	})
}

// behind starts a second run that waits for the first. The strategy enqueue is a
// vendor extension.
func (s races) behind(ctx context.Context, first *Progress) (*Progress, error) {
	g, err := s.Post(ctx, first.Thread.Owner, first.Thread, Order{Hold: first.Order.Hold, Strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.ID == "" {
		return nil, outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another run: it answers %d to multitask_strategy enqueue, a vendor extension that is not part of the interface", g.Answer.Status)
	}
	p := &Progress{GraphRun: g, ahead: first.GraphRun, Until: first.Until, Over: first.Over.Add(g.Order.Hold)}
	if end := g.NotOverBefore(); end.Before(p.Until) {
		p.Until = end
	}
	return p, nil
}
