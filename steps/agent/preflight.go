package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

const (
	// perResponse is the hold of a run divided by the response time: during a run, a scenario sends up to six requests, and
	// each may take twice as long as those of the preflight.
	perResponse = 12
	// maxHold limits the hold that the preflight chooses, so that a test run at a slow target ends in a reasonable
	// time. A scenario that loses its race doubles its hold (see tooLong).
	maxHold = 10 * time.Second
	// lateStart is longer than known servers take to start a run.
	lateStart = 1200 * time.Millisecond
	// The preflight first tries from leastAtOnce to enoughAtOnce runs at a time. Some scenarios need a second run in
	// progress. With eight, a test run against a fast server takes two thirds of the time that it takes with four.
	leastAtOnce, enoughAtOnce = 2, 8
	// mostAtOnce is the maximum number of runs that the preflight tries if the server executes enoughAtOnce. With sixteen,
	// a test run against a fast server takes two thirds of the time that it takes with eight.
	mostAtOnce = 16
)

// pace is the result of the preflight. The zero value means that nothing is known.
type pace struct {
	hold   time.Duration // how long runs wait if their input asks for it; 0 if unknown
	atOnce int           // how many runs the server executes at a time, at least; 0 if unknown
	plain  *GraphRun     // a completed run on a thread that no scenario uses, or nil
	held   *GraphRun     // a run that waited, and during which the server served other requests; or nil
}

// preflight measures the pace of the server once and returns it. The time of a plain run determines how long runs must
// wait. Several waiting runs and a plain one, started together, show how many runs the server executes at a time. The
// error is the cause of the context. If a run fails, the pace stays unknown, because scenarios judge failed runs.
func (s *Server) preflight(ctx context.Context) (pace, error) {
	if !s.judged {
		return pace{}, nil
	}
	return shared.Get(ctx, s.maker, "the preflight of the agent server", func(ctx context.Context) (pace, error) {
		first, err := s.SharedCompletedRun(ctx)
		if err != nil || !first.Complete() {
			return pace{}, context.Cause(ctx)
		}
		s.separateCallers(ctx, first.Thread)
		p := pace{hold: holdAfter(first), atOnce: s.target.Config.Agent.Runs}
		s.learn(p) // count uses this hold
		if p.atOnce == 0 {
			p = s.count(ctx, p)
			if p.atOnce == enoughAtOnce && s.needed > enoughAtOnce {
				p = s.countMore(ctx, p)
			}
		}
		s.learn(p)
		s.limit(p.atOnce)
		return p, context.Cause(ctx)
	})
}

// separateCallers tests whether the server confuses the owner of a thread with a caller without credentials on the same
// connection.
func (s *Server) separateCallers(ctx context.Context, t *Thread) {
	path := StatePath(t.ID)
	s.target.SeparateCallers(ctx, s.target.ToAgent(s.Base, t.Owner, http.MethodGet, path, nil),
		s.target.ToAgent(s.Base, target.Caller{}, http.MethodGet, path, nil))
}

func (as *Agents) learn(p pace) { as.pace.Store(&p) }

// learned returns the results of the preflight so far.
func (as *Agents) learned() pace {
	if p := as.pace.Load(); p != nil {
		return *p
	}
	return pace{}
}

// holdAfter derives how long runs must wait from the times of a completed plain run.
func holdAfter(g *GraphRun) time.Duration {
	hold := 3 * g.Final.Ended().Sub(g.Response.Sent)
	for _, a := range []*exchange.Response{g.Thread.Response, g.Response, g.Final} {
		hold = max(hold, perResponse*(a.Queued+a.Took)) // the requests of a race are queued, too
	}
	return min(hold, maxHold)
}

// Hold returns how long a run waits if its input asks for it. After a lost race, wanted is the hold of the next run.
func (as *Agents) Hold(wanted time.Duration) time.Duration {
	return max(wanted, as.target.Config.Agent.Hold, as.learned().hold).Round(time.Millisecond)
}

// tooLong returns an error if the hold exceeds the longest hold that a scenario can need. A scenario may lose two races,
// and each doubles its hold.
func (as *Agents) tooLong(hold time.Duration) error {
	c := as.target.Config
	if hold <= 4*(max(maxHold, c.Agent.Hold)+c.Timeouts.Run) {
		return nil
	}
	return outcome.Inconclusive("the target is too slow: a run would have to be in progress for %s to be judged",
		hold.Round(time.Second))
}

// Slack returns the tolerance for an event that is late: a response takes about a twelfth of the hold (see perResponse).
func (as *Agents) Slack() time.Duration { return as.Hold(0) / 8 }

const (
	// leastPatience is longer than a server with replicas takes to show its own writes.
	leastPatience = 2 * time.Second
	// leastPrompt is longer than a busy machine delays a response.
	leastPrompt = time.Second
)

// Patience returns how long to wait for a message or a status that the server should show.
func (as *Agents) Patience() time.Duration { return max(leastPatience, 2*as.Hold(0)) }

// If one run is unfinished after timeouts.run, further runs probably will be too. Later waits get 1/shortPart of
// timeouts.run, and at most longestShort.
const (
	shortPart    = 10
	longestShort = 12 * time.Second
)

// RunTimeout returns how long a run may take in addition to its hold: timeouts.run, or less if a run did not end in that
// time.
func (as *Agents) RunTimeout() time.Duration {
	whole := as.target.Config.Timeouts.Run
	if !as.unended.Load() {
		return whole
	}
	return min(whole, max(as.Patience(), min(whole/shortPart, longestShort)))
}

// HasUnended reports whether a run was still pending or running after timeouts.run.
func (as *Agents) HasUnended() bool { return as.unended.Load() }

// NoteUnended notes that a run of the server was still pending or running after timeouts.run.
func (as *Agents) NoteUnended() { as.unended.Store(true) }

// Prompt returns the maximum time of a response that does not wait for a run.
func (as *Agents) Prompt() time.Duration { return max(leastPrompt, as.Hold(0)/2) }

// OneAtATime reports whether the server executes one run at a time.
func (as *Agents) OneAtATime() bool { return as.learned().atOnce == 1 }

// limit sets the maximum number of threads with unfinished runs to the number of runs that the server executes at a time,
// unless that is unknown.
func (s *Server) limit(atOnce int) {
	if atOnce == 0 {
		return
	}
	s.runs.slots.SetSlots(min(atOnce, s.atOnce))
	enough := min(s.needed, enoughAtOnce)
	if atOnce < enough && s.target.Config.Agent.Runs == 0 {
		const then = "others are pending: the suite starts no more at once, whatever --concurrency says"
		number := reports.Count(atOnce, "run")
		if atOnce > 1 {
			number = fmt.Sprintf("at least %d and fewer than %d runs", atOnce, enough) // it may start runs late
		}
		text := fmt.Sprintf("the agent server executes %s at a time, %s", number, then)
		s.target.Note(reports.Note{Kind: reports.NoteQueue, Text: text})
	}
}

// count measures how many runs the server executes at a time, up to enoughAtOnce, and adds that to the pace. If the plain
// run is late, it tries again with more time, because the server may have been busy or start runs late. A small number
// counts only if a second measurement with more time confirms it. A measurement that fails is repeated once.
func (s *Server) count(ctx context.Context, p pace) pace {
	more := max(s.Hold(0), lateStart)
	first := 0
	for i, hold := range []time.Duration{s.Hold(0), more, more} {
		held, plain, executed := s.startTogether(ctx, min(s.needed, enoughAtOnce)-1, hold)
		if plain != nil {
			// The fastest plain run counts: the first run of a server may be slow.
			p.held, p.plain, p.hold = held, plain, min(p.hold, holdAfter(plain))
		}
		switch {
		case plain != nil || i > 0 && executed > 0:
			p.atOnce = max(first, executed)
			return p
		case i == 0:
			first = executed
		}
	}
	return p
}

// countMore measures again, up to the number of runs that the test run needs. It tries up to twice, because the server
// may be busy at first.
func (s *Server) countMore(ctx context.Context, p pace) pace {
	for range 2 {
		if _, plain, executed := s.startTogether(ctx, s.needed-1, p.hold); plain != nil {
			p.atOnce = executed
			break
		}
	}
	return p
}

// startTogether starts some runs that wait, and then a plain run. If the plain run completes before any waiting run can
// end, the server executes all of them at a time, and startTogether returns the first waiting run and the plain run.
// Otherwise it derives the minimum number of simultaneous runs from the time until all have ended. The number is 0 if
// unknown.
func (s *Server) startTogether(
	ctx context.Context, waiting int, hold time.Duration,
) (held, plain *GraphRun, executed int) {
	threads := make([]*Thread, waiting+1)
	err := AtOnce(len(threads), func(i int) (err error) {
		threads[i], err = s.NewThread(ctx, s.target.Owner())
		return err
	})
	if err != nil {
		return nil, nil, 0
	}
	runs, err := s.race(ctx, threads[:waiting], Order{Hold: hold})
	waited := func(g *GraphRun) bool { return g.Response.Took >= hold } // the creation returned only after the run, so the test shows nothing
	if err != nil || len(accepted(runs)) < waiting || slices.ContainsFunc(runs, waited) {
		return nil, nil, 0
	}
	first := slices.MinFunc(runs, func(a, b *GraphRun) int { return a.begun.Compare(b.begun) })
	plain, err = s.TryPost(ctx, s.target.Owner(), threads[waiting], Order{})
	if err != nil || plain.ID == "" {
		return nil, nil, 0
	}
	done := false
	plain.Final, done, err = s.ReadState(ctx, plain.Thread, first.NotOverBefore(), plain.CompleteIn)
	if err != nil {
		return nil, nil, 0
	}
	if done && plain.Final.Ended().Before(first.NotOverBefore()) {
		s.runs.over(plain)
		return first, plain, waiting + 1
	}
	limit := time.Now().Add(time.Duration(waiting)*hold + s.target.Config.Timeouts.Run)
	for _, g := range append(runs, plain) {
		if _, done, err := s.ReadState(ctx, g.Thread, limit, g.CompleteIn); err != nil || !done {
			return nil, nil, 0
		}
		s.runs.over(g)
	}
	took := time.Since(first.begun)
	return nil, nil, int((time.Duration(waiting)*hold + took - 1) / took)
}

// race starts a run on each of the threads at the same time, without the limit of runs in progress.
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

// accepted returns the runs that were not refused.
func accepted(runs []*GraphRun) []*GraphRun {
	return slices.DeleteFunc(slices.Clone(runs), func(g *GraphRun) bool { return g == nil || g.ID == "" })
}
