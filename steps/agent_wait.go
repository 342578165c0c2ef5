package steps

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Runs that wait are given times that a slow target cannot miss by its slowness alone: at least minHold, and many
// times what answers took lately. A scenario that lost its race tries again with twice the time.
const (
	minHold  = 400 * time.Millisecond
	maxHold  = 10 * time.Second
	attempts = 3
)

// pace is how fast the target answers, as this run has seen it lately.
type pace struct {
	answers     ring // that had nothing to wait for
	turnarounds ring // of runs that were told nothing to wait for, from their creation to their answer
}

// ring keeps the last of many durations. Its zero value is ready for use.
type ring struct {
	mu   sync.Mutex
	last [32]time.Duration
	n    int
}

func (r *ring) add(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last[r.n%len(r.last)] = d
	r.n++
}

func (r *ring) worst() (worst time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.last {
		worst = max(worst, d)
	}
	return worst
}

// slowest is how long an answer took, at worst.
func (p *pace) slowest() time.Duration { return p.answers.worst() }

// hold is how long a run is told to wait in the attempt, from 0.
func (p *pace) hold(attempt int) time.Duration {
	d := max(minHold, 12*p.slowest(), 3*p.turnarounds.worst()) << attempt
	return min(d, maxHold).Round(time.Millisecond)
}

// slack is how much later than expected things may happen.
func (p *pace) slack() time.Duration {
	return max(50*time.Millisecond, 3*p.slowest(), p.turnarounds.worst())
}

// patience is how long to wait for what should be there already, before looking in another way.
func (p *pace) patience() time.Duration { return max(time.Second, 6*p.slack()) }

// prompt is the time within which something that has nothing to wait for is answered.
func (p *pace) prompt() time.Duration { return max(time.Second, 8*p.slowest()) }

// readState reads a thread's state, again and again, until it satisfies the condition or the time is over. It
// returns the last one that was read.
func (s *agentServer) readState(ctx context.Context, t *thread, until time.Time, condition func(*client.Answer) bool) (*client.Answer, bool, error) {
	for wait := 5 * time.Millisecond; ; wait = min(wait*3/2, 250*time.Millisecond) {
		a, err := s.state(ctx, t.owner, t)
		if err != nil {
			return nil, false, err
		}
		if condition(a) {
			return a, true, nil
		}
		if time.Now().Add(wait).After(until) {
			return a, false, nil
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return nil, false, err
		}
	}
}

// await returns the state once it holds what the run was to write and the run is over. It trusts neither join nor
// state alone: a join that answers too early, too late or never, and a state that lacks something, must fail the
// requirements about them and no others. When the state does not come to hold the answer, the last one is returned
// and the run is not complete.
func (s *agentServer) await(ctx context.Context, g *graphRun) (*client.Answer, error) {
	limit := g.answered().Add(g.order.hold + s.config.Timeouts.Run)
	waiting := s.joinAside(ctx, g)
	defer waiting.leave()

	soon := g.answered().Add(g.order.hold)
	if waiting.asked {
		soon = soon.Add(s.pace.slack()) // by then a join has answered, or it is better to look at the state
	}
	if err := waiting.orUntil(ctx, soon); err != nil {
		return nil, err
	}
	until := limit
	if waiting.over() {
		until = time.Now().Add(max(time.Until(g.notOverBefore()), 0) + s.pace.patience())
	}
	early := waiting.over() && time.Now().Before(g.notOverBefore())
	state, complete, err := s.readState(ctx, g.thread, until, g.completeIn)
	if err != nil {
		return nil, err
	}
	g.complete, g.final = complete, state
	if complete && waiting.over() && g.plain() {
		s.pace.turnarounds.add(time.Since(g.answer.Sent))
	}
	return state, s.surelyOver(ctx, waiting, early)
}

// plain tells whether nothing but the target's own pace decides how long the run takes.
func (g *graphRun) plain() bool {
	return g.thread.runs == 1 && g.order.hold == 0 && g.order.strategy == ""
}

// surelyOver waits for the end of a run that has written all: a moment lies between the two, in which the thread
// is still busy.
func (s *agentServer) surelyOver(ctx context.Context, waiting *joining, early bool) error {
	if !waiting.asked || early {
		return client.Sleep(ctx, s.pace.slack())
	}
	if err := waiting.orUntil(ctx, time.Now().Add(s.pace.patience())); err != nil {
		return err
	}
	if !waiting.over() {
		s.joinHangs.Store(true)
	}
	return nil
}

// completed is await for a run that a scenario needs whole.
func (s *agentServer) completed(ctx context.Context, g *graphRun) (*client.Answer, error) {
	state, err := s.await(ctx, g)
	if err != nil {
		return nil, err
	}
	return state, holdsAnswered(state, g)
}

// joining is a join that waits beside the scenario.
type joining struct {
	asked  bool
	sent   time.Time
	done   chan struct{}
	cancel context.CancelFunc

	answer *client.Answer // once done is closed
	err    error
	ended  time.Time
}

// joinAside begins to join the run as its owner, unless joins were seen to hang.
func (s *agentServer) joinAside(ctx context.Context, g *graphRun) *joining {
	if s.joinHangs.Load() {
		return &joining{done: make(chan struct{}), cancel: func() {}}
	}
	return s.joinNow(ctx, g)
}

// joinNow begins to join the run as its owner.
func (s *agentServer) joinNow(ctx context.Context, g *graphRun) *joining {
	j := &joining{asked: true, sent: time.Now(), done: make(chan struct{})}
	ctx, j.cancel = context.WithCancel(ctx)
	go func() {
		defer close(j.done)
		j.answer, j.err = s.join(ctx, g.thread.owner, g)
		j.ended = time.Now()
		if j.answer != nil { // the request may have been sent more than once
			j.sent, j.ended = j.answer.Sent, j.answer.Sent.Add(j.answer.Took)
		}
	}()
	return j
}

// over tells whether the join has ended, with an answer or without.
func (j *joining) over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// orUntil waits until the join has ended, at most until then.
func (j *joining) orUntil(ctx context.Context, then time.Time) error {
	timer := time.NewTimer(time.Until(then))
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// leave gives the join up and returns when nothing of it is left.
func (j *joining) leave() {
	j.cancel()
	if j.asked {
		<-j.done
	}
}
