package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

const (
	// perAnswer is how many times as long as an answer a run is told to wait, so that a slow target cannot miss that by
	// its slowness alone.
	perAnswer = 12
	// maxHold bounds that. A scenario that loses its race asks for more, up to a limit (see tooLong).
	maxHold = 10 * time.Second
	// lateStart is longer than servers in the field take to start a run.
	lateStart = 1200 * time.Millisecond
	// leastBeside and mostBeside bound how many runs are started at the same time to learn whether the server
	// executes as many: as many as requests are in flight. One scenario needs a few.
	leastBeside, mostBeside = 4, 16
)

// preflight learns how long runs are to wait and how many the server executes at a time. The error is that of the
// context: what is wrong with a run is judged elsewhere, and leaves the least time and no bound.
func (s *Server) preflight(ctx context.Context) error {
	if !s.judged {
		return nil
	}
	const name = "the preflight of the agent server"
	_, err := shared.Get(ctx, s.maker, name, func(ctx context.Context) (bool, error) {
		if g, err := s.SharedCompletedRun(ctx); err == nil && g.Complete() {
			s.measure(g)
			s.bound(s.countAtOnce(ctx))
		}
		return true, context.Cause(ctx)
	})
	return err
}

// measure takes from a plain run how long others are to wait. Of several the quickest counts: the first one of a
// server may be late, and so is each in a busy moment.
func (as *Agents) measure(g *GraphRun) {
	hold := 3 * g.Final.Ended().Sub(g.Answer.Sent)
	for _, a := range []*exchange.Response{g.Thread.Answer, g.Answer, g.Final} {
		hold = max(hold, perAnswer*(a.Queued+a.Took)) // who races a run has to wait for a place, too
	}
	hold = min(hold, maxHold)
	if known := as.hold.Load(); known == 0 || hold < time.Duration(known) {
		as.hold.Store(int64(hold))
	}
}

// Hold is how long a run is told to wait, where a lost race may have shown how long is wanted.
func (as *Agents) Hold(wanted time.Duration) time.Duration {
	return max(wanted, as.target.Config.Agent.Hold, time.Duration(as.hold.Load())).Round(time.Millisecond)
}

// tooLong says that a run would be told to wait longer than lost races of a target that can be judged ask for: each of
// them doubles the time.
func (as *Agents) tooLong(hold time.Duration) error {
	c := as.target.Config
	if hold <= 4*(max(maxHold, c.Agent.Hold)+c.Timeouts.Run) {
		return nil
	}
	return outcome.Inconclusive("the target is too slow: a run would have to be in progress for %s to be judged",
		hold.Round(time.Second))
}

// Slack is how much later than expected things may happen.
func (as *Agents) Slack() time.Duration { return as.Hold(0) / 8 }

// Patience is how long to wait for what should be there already, before looking in another way.
func (as *Agents) Patience() time.Duration { return max(2*time.Second, 2*as.Hold(0)) }

// Prompt is the time within which something that has nothing to wait for is answered.
func (as *Agents) Prompt() time.Duration { return max(time.Second, as.Hold(0)/2) }

// OneAtATime tells whether the server executes one run at a time.
func (as *Agents) OneAtATime() bool { return as.oneAtATime.Load() }

// bound lets no more runs be in progress than the server executes at a time; 0: that is not known.
func (s *Server) bound(atOnce int) {
	if atOnce == 0 {
		return
	}
	s.oneAtATime.Store(atOnce == 1)
	s.runs.slots.SetSlots(min(atOnce, s.atOnce))
	if atOnce <= min(s.atOnce, mostBeside) && s.target.Config.Agent.Runs == 0 { // more were not tried
		const then = "others are pending: the suite has no more in progress, whatever --concurrency says"
		text := fmt.Sprintf("the agent server executes %s at a time, %s", reports.Count(atOnce, "run"), then)
		s.target.Note(reports.Note{Kind: reports.NoteQueue, Text: text})
	}
}

// countAtOnce returns how many runs the server was seen to execute at a time, 0 where nothing was seen. One run
// waits, then many do, with a plain one beside them. Where that is late, it is tried once more with more time: the
// server may have been busy, or start runs late.
func (s *Server) countAtOnce(ctx context.Context) (atOnce int) {
	if n := s.target.Config.Agent.Runs; n > 0 {
		return n
	}
	for _, waiting := range []int{1, min(s.atOnce, mostBeside)} {
		for _, hold := range []time.Duration{s.Hold(0) / 2, max(s.Hold(0), lateStart)} {
			if atOnce = max(atOnce, s.startBeside(ctx, waiting, hold)); atOnce > waiting {
				break
			}
		}
		if atOnce <= waiting {
			break
		}
	}
	return atOnce
}

// startBeside starts so many runs that wait, and a plain one. If that completes before any of the others can end, the
// server executes more than these. Else the time until all have ended tells how many it executes at least. 0: nothing
// was learned.
func (s *Server) startBeside(ctx context.Context, waiting int, hold time.Duration) (executed int) {
	threads := make([]*Thread, waiting+1)
	err := AtOnce(len(threads), func(i int) (err error) {
		threads[i], err = s.NewThread(ctx, s.target.Owner())
		return err
	})
	if err != nil {
		return 0
	}
	runs, err := s.race(ctx, threads[:waiting], Order{Hold: hold})
	waited := func(g *GraphRun) bool { return g.Answer.Took >= hold } // that shows nothing of a queue
	if err != nil || len(accepted(runs)) < waiting || slices.ContainsFunc(runs, waited) {
		return 0
	}
	first := slices.MinFunc(runs, func(a, b *GraphRun) int { return a.begun.Compare(b.begun) })
	plain, err := s.TryPost(ctx, s.target.Owner(), threads[waiting], Order{})
	if err != nil || plain.ID == "" {
		return 0
	}
	done := false
	plain.Final, done, err = s.ReadState(ctx, plain.Thread, first.NotOverBefore(), plain.CompleteIn)
	if err != nil {
		return 0
	}
	if done && plain.Final.Ended().Before(first.NotOverBefore()) {
		s.measure(plain)
		return waiting + 1
	}
	limit := time.Now().Add(time.Duration(waiting)*hold + s.target.Config.Timeouts.Run)
	for _, g := range append(runs, plain) {
		if _, done, err := s.ReadState(ctx, g.Thread, limit, g.CompleteIn); err != nil || !done {
			return 0
		}
		s.runs.over(g)
	}
	took := time.Since(first.begun)
	return int((time.Duration(waiting)*hold + took - 1) / took)
}

// race starts a run on each of the threads, all at the same time, whatever is in progress.
func (s *Server) race(ctx context.Context, threads []*Thread, o Order) ([]*GraphRun, error) {
	client.Prioritize(ctx)
	ctx = client.Racing(ctx)
	runs := make([]*GraphRun, len(threads))
	return runs, AtOnce(len(threads), func(i int) (err error) {
		runs[i], err = s.TryPost(ctx, threads[i].Owner, threads[i], o)
		return err
	})
}

// AtOnce calls do(0) to do(times-1) concurrently and returns the first error.
func AtOnce(times int, do func(i int) error) error {
	var all errgroup.Group
	for i := range times {
		all.Go(func() error {
			client.Stagger(i)
			return do(i)
		})
	}
	return all.Wait()
}

// accepted leaves out the runs that were refused.
func accepted(runs []*GraphRun) []*GraphRun {
	return slices.DeleteFunc(slices.Clone(runs), func(g *GraphRun) bool { return g == nil || g.ID == "" })
}
