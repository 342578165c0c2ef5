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

// InProgress starts a run on a new thread and returns at the moment, while it is surely in progress. It tries several
// times. Each attempt after a lost race gives more time.
func (s *Server) InProgress(ctx context.Context, moment string, wanted time.Duration) (*Progress, error) {
	if moment == pendingBehind {
		if waits, err := s.queuesRuns(ctx); err != nil {
			return nil, err
		} else if !waits {
			return nil, outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another run: it does not follow multitask_strategy enqueue, a vendor extension that is not part of the interface")
		}
	}
	last := "no time was left"
	for range Attempts {
		p, err := s.begin(ctx, moment, Order{Waits: true, Hold: wanted, written: moment == HasStarted})
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
		wanted = p.AfterLoss()
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
	if p.Shown != nil { // else the target shows no message of a run before it ends
		shown, _ := p.After(messages.Of(p.Shown))
		for _, m := range shown {
			texts = append(texts, m.Text)
		}
	}
	for _, m := range messages.Of(state) {
		if slices.Contains(texts, m.Text) {
			return outcome.Violated(state, "no message of the prior run", "one of them, %s", messages.Brief([]messages.Message{m})).At("/values/messages").Comparing(state, p.Shown)
		}
	}
	return nil
}

// AfterLoss is how long the next run in progress should take, where a race against this one was just lost. What has
// happened tells more than the pace of other answers: a target may answer only once it has interrupted the prior run.
func (p *Progress) AfterLoss() time.Duration { return Longer(p.Order.Hold, time.Since(p.begun)) }

// Longer is the time for a run after one of the hold, where what was to be done before its end took so long.
func Longer(hold, took time.Duration) time.Duration { return 2 * max(hold, took) }

// TooShort tells whether the run was given so much less time than what the race before it took that its end is no
// measure. A new run that waits for the prior one takes longer the longer that is, so a run long enough unmasks it.
func (p *Progress) TooShort() bool { return p.wanted > p.Order.Hold*3/2 }

func (s *Server) begin(ctx context.Context, moment string, o Order) (*Progress, error) {
	g, err := startAlone(ctx, s, o)
	if err != nil {
		return nil, err
	}
	p := s.progressOf(g)
	switch moment {
	case HasStarted:
		err = s.awaitStart(ctx, p)
	case pendingBehind:
		if err = s.awaitStatus(ctx, p); err == nil && p.ended == nil {
			return s.behind(ctx, p)
		}
	}
	return p, err
}

// progressOf is a run that was just accepted.
func (s *Server) progressOf(g *GraphRun) *Progress {
	return &Progress{GraphRun: g, Until: g.NotOverBefore(), Over: g.Answered().Add(g.Order.Hold + s.agents.Slack())}
}

// awaitStart waits until a run that writes at once has started. The state shows that, or, where the target writes the
// state only when a run ends, the run's own status or the time.
func (s *Server) awaitStart(ctx context.Context, p *Progress) error {
	if s.agents.learned.showsAtEnd.Load() {
		return s.awaitStatus(ctx, p)
	}
	return s.awaitWritten(ctx, p)
}

// awaitWritten reads the state until the run has written. A state that does not show it tells that the run had not
// begun to wait when it was asked for. A run that shows all at once has ended.
func (s *Server) awaitWritten(ctx context.Context, p *Progress) error {
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
		return nil
	}
	p.Shown, p.Until = state, p.NotOverBefore()
	p.Over = seen.Add(p.Order.Hold + s.agents.Slack())
	a, err := s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
	if err == nil && statusOf(a) == statusEnded {
		p.ended = a
	}
	return err
}

// awaitStatus waits until the run is no longer pending by its own status, and a moment longer, in which it writes
// what the state does not show yet. A run that tells no such status has started in that moment.
func (s *Server) awaitStatus(ctx context.Context, p *Progress) error {
	limit := p.Answered().Add(s.target.Config.Timeouts.Run)
	var a *client.Answer
	err := client.Repeat(ctx, firstLook, longestPause, limit, func() (done bool, err error) {
		if a, err = s.GetRun(ctx, p.Thread.Owner, p.GraphRun); err != nil || statusOf(a) != statusPending {
			return true, err
		}
		p.begun = a.Sent
		return false, nil
	})
	switch {
	case err != nil:
		return err
	case statusOf(a) == statusEnded:
		p.ended = a
		return nil
	case statusOf(a) == statusPending:
		if err := s.StillQueued(ctx, p.GraphRun); err != nil {
			return err
		}
		return outcome.Violated(a, "the run to start", "%s", outcome.Seen(a))
	}
	p.Until = p.NotOverBefore()
	p.Over = a.Sent.Add(a.Took + p.Order.Hold + s.agents.Slack())
	return client.Sleep(ctx, min(s.agents.Slack(), p.Order.Hold/8))
}

// What the status of a run tells, where there is one. The interface shows no statuses of runs: words that are not
// known from agent servers tell nothing.
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
func (s *Server) queuesRuns(ctx context.Context) (bool, error) {
	return s.agents.learned.enqueues.Get(ctx, s.agents.maker, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := startAlone(ctx, s, Order{Waits: true})
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
func (s *Server) behind(ctx context.Context, first *Progress) (*Progress, error) {
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
