package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// How many runs are started at the same time to learn whether the server executes as many at a time: as many as
// requests are in flight, within these bounds. One scenario needs a few.
const leastBeside, mostBeside = 4, 16

// load starts runs to see how many the server executes at a time.
type load struct{ *Server }

// Parallel returns how many runs of different threads the suite lets be in progress at the same time: as many as the
// server was seen to execute at a time, 0 where that is not known.
func (s *Server) Parallel(ctx context.Context) (int, error) {
	if !s.judged {
		return 0, nil
	}
	return s.agents.learned.parallel.Get(ctx, s.agents.maker, "runs at the same time", func(ctx context.Context) (int, error) {
		plain, err := s.SharedCompletedRun(ctx) // measures how fast runs are here
		if err != nil || !plain.Complete {
			return 0, nil //nolint:nilerr // that is judged elsewhere
		}
		n, err := load{s}.executes(ctx)
		if err != nil {
			return 0, context.Cause(ctx) // what is wrong is judged elsewhere
		}
		if n > 0 && n < s.agents.atOnce {
			s.agents.turns.SetPlaces(n)
		}
		if n > 0 && n <= min(s.agents.atOnce, mostBeside) { // more were not tried
			s.target.Note(reports.Note{Kind: reports.NoteQueue, Text: fmt.Sprintf("the agent server executes %s at a time, others are pending: the suite has no more in progress, whatever --concurrency says", reports.Count(n, "run"))})
		}
		return n, nil
	})
}

// executes starts runs that wait, at first one and then many, and a plain one beside them: if that is not executed before the
// others can end, the server executes no more than those. What has happened only once may have been a moment in which the server
// was busy.
func (s load) executes(ctx context.Context) (n int, err error) {
	for _, waiting := range []int{1, min(s.agents.atOnce, mostBeside)} {
		var seen beside
		for attempt := range 3 {
			before := seen
			if seen, err = s.startBeside(ctx, waiting, s.holdBeside(attempt, before)); err != nil {
				return 0, err
			}
			if before.silent() && seen.silent() && seen.hold >= blockedHold {
				s.agents.learned.blocked.Store(true)
				return 0, nil
			}
			if !seen.late || attempt > 0 && !seen.silent() && seen.executed >= seen.least {
				break
			}
		}
		if seen.executed == 0 {
			return 0, nil // nothing was learned
		}
		if n = max(n, seen.executed, seen.least); n <= waiting {
			break
		}
	}
	return n, nil
}

// holdBeside is how long the runs wait in an attempt, from 0. Servers in the field start a run up to a second late: where the plain
// run was late, the others wait so long that this is no reason for it.
func (s load) holdBeside(attempt int, before beside) time.Duration {
	hold := s.agents.Pace.Hold(attempt) / 2
	if before.silent() {
		hold = max(hold, blockedHold)
	}
	if before.late {
		hold = max(hold, min(3*before.plain, lateHold<<(attempt-1)))
	}
	return hold
}

// lateHold is twice as long as servers in the field take to start a run. It bounds the second attempt.
const lateHold = 2 * time.Second

// blockedHold is longer than a server answers nothing because it is busy for a moment.
const blockedHold = 1500 * time.Millisecond

// beside is what was seen of a plain run beside runs that wait.
type beside struct {
	executed int           // runs at a time; 0: not known
	least    int           // runs at a time that explain when all had ended
	late     bool          // the plain run was not executed before the others could end
	hold     time.Duration // how long these waited
	plain    time.Duration // that the plain run took, at most, if it was late
	longest  time.Duration // that an answer took meanwhile
}

// silent tells whether the server answered nothing for most of the time in which the others waited.
func (b beside) silent() bool { return b.late && 2*b.longest > b.hold }

// startBeside starts so many runs that wait, and a plain one. Where that is late, it returns when all have ended.
func (s load) startBeside(ctx context.Context, waiting int, hold time.Duration) (seen beside, err error) {
	seen.hold = hold
	runs, err := s.sendMany(ctx, waiting, Order{Hold: hold})
	if err != nil || len(runs) < waiting {
		return seen, err
	}
	sent, err := s.sendMany(ctx, 1, Order{})
	if err != nil || len(sent) == 0 {
		return seen, err
	}
	plain := sent[0]
	seen.longest = max(plain.Answer.Took, plain.Thread.Answer.Took)
	slices.SortFunc(runs, func(a, b *GraphRun) int { return a.NotOverBefore().Compare(b.NotOverBefore()) })
	first, last := runs[0].NotOverBefore(), runs[len(runs)-1].NotOverBefore()
	state, done, err := s.ReadState(ctx, plain.Thread, first, func(a *client.Answer) bool {
		seen.longest = max(seen.longest, a.Took)
		return plain.CompleteIn(a)
	})
	if err != nil {
		return seen, err
	}
	if done && state.Sent.Add(state.Took).Before(last) {
		seen.executed = waiting + 1
		return seen, nil
	}
	seen.late = true
	seen.executed, err = s.countExecuted(ctx, runs, plain)
	seen.plain = time.Since(plain.Answer.Sent)
	took := time.Since(runs[0].Answer.Sent) // all, one wave after the other
	seen.least = int((time.Duration(waiting)*hold + took - 1) / took)
	return seen, err
}

// countExecuted returns how many runs that wait were executed at the same time, 0 where they do not all end. The runs are in the
// order of their ends. It looks in the middle of the time in which those that were pending are executed. A plain run that was pending
// beside them has to end, too.
func (s load) countExecuted(ctx context.Context, runs []*GraphRun, plain *GraphRun) (int, error) {
	last := runs[len(runs)-1]
	if len(runs) > 1 {
		if err := client.Sleep(ctx, time.Until(last.NotOverBefore().Add(last.Order.Hold/2))); err != nil {
			return 0, err
		}
	}
	complete := 0
	for _, g := range runs {
		state, err := s.State(ctx, g.Thread.Owner, g.Thread)
		if err != nil {
			return 0, err
		}
		if g.CompleteIn(state) {
			complete++
		}
	}
	limit := time.Now().Add(time.Duration(len(runs))*last.Order.Hold + s.target.Config.Timeouts.Run)
	for _, g := range append(runs, plain) {
		if _, done, err := s.ReadState(ctx, g.Thread, limit, g.CompleteIn); err != nil || !done {
			return 0, err
		}
		s.agents.turns.Over(g)
	}
	return max(complete, 1), nil
}

// sendMany starts runs on new threads at the same time, whatever is in progress. Those that are refused are left out.
func (s load) sendMany(ctx context.Context, n int, o Order) ([]*GraphRun, error) {
	var wait sync.WaitGroup
	threads, errs := make([]*Thread, n), make([]error, n)
	for i := range threads {
		wait.Go(func() { threads[i], errs[i] = s.NewThread(ctx, s.target.Owner()) })
	}
	wait.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	runs, err := s.race(ctx, threads, o)
	for i, g := range runs {
		s.occupies(threads[i].ID, g)
	}
	return accepted(runs), err
}

// race starts a run on each of the threads, all at the same time, whatever is in progress.
func (s *Server) race(ctx context.Context, threads []*Thread, o Order) ([]*GraphRun, error) {
	client.Hurry(ctx, client.RunInProgress)
	ctx, leave, err := s.target.Client.Together(ctx, len(threads))
	if err != nil {
		return nil, err
	}
	defer leave()
	var wait sync.WaitGroup
	runs, errs := make([]*GraphRun, len(threads)), make([]error, len(threads))
	for i, t := range threads {
		wait.Go(func() { runs[i], errs[i] = s.TryPost(ctx, t.Owner, t, o) })
	}
	wait.Wait()
	return runs, cmp.Or(errs...)
}

// accepted leaves out the runs that were refused.
func accepted(runs []*GraphRun) (all []*GraphRun) {
	for _, g := range runs {
		if g != nil && g.ID != "" {
			all = append(all, g)
		}
	}
	return all
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
