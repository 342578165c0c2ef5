package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// The words that control the conformance graph, each one line of its contract (reference/graphs/CONTRACT.md), as in
// [config.GraphWords]. Echo is what it does without any: its answer repeats the text.
const (
	Echo       = "echo"
	Wait       = "wait"
	EarlyWrite = "wait-after-write"
	Fail       = "fail"
	Whoami     = "whoami"
	ToolCall   = "tool"
)

// words are those that the order has the graph understand, besides Echo.
func (o Order) words() (all []string) {
	if o.Waits || o.Hold > 0 {
		all = append(all, o.holdWord())
	}
	for _, w := range []string{Fail, Whoami, ToolCall} {
		if o.says(w) {
			all = append(all, w)
		}
	}
	return all
}

// holdWord returns the word that has the graph wait.
func (o Order) holdWord() string {
	if o.written {
		return EarlyWrite
	}
	return Wait
}

// Understood blocks where the graph does not even repeat a text, or did not understand one of the words. Words are
// tried on the agent server under test only. The error may also say that no run could be started.
func (s *Server) Understood(ctx context.Context, words ...string) error {
	if !s.judged {
		return nil
	}
	var missed *outcome.Outcome
	for _, w := range append([]string{Echo}, words...) {
		found, err := s.try(ctx, w)
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		if found == nil || slices.Contains(s.target.Config.Agent.Words, w) {
			continue
		}
		blocked := s.blockedBy(w, found)
		if w == Echo { // no other run is of use
			return blocked
		}
		if missed == nil {
			missed = blocked
		} else {
			missed.By(reports.ByGraph, w)
		}
	}
	if missed == nil {
		return nil
	}
	return missed
}

// breach describes how the graph violates its contract.
type breach struct {
	does string // what the graph does, such as "does not answer"
	why  string // the evidence
}

// newBreach returns a breach, or nil if nothing has shown it.
func newBreach(does, why string) *breach {
	if why == "" {
		return nil
	}
	return &breach{does, why}
}

// blockedBy returns a blocked outcome that names the word, and notes the problem of the graph.
func (as *Agents) blockedBy(w string, found *breach) *outcome.Outcome {
	problem := fmt.Sprintf("the graph %q %s", as.target.Config.AssistantID, found.does)
	as.target.Note(reports.Note{Kind: reports.NoteGraph, Text: problem})
	return outcome.Blocked("%s: %s; see reference/graphs/CONTRACT.md", problem, found.why).By(reports.ByGraph, w)
}

// try returns how the graph violates its contract for the word, or nil. Each word is tried once.
func (s *Server) try(ctx context.Context, w string) (*breach, error) {
	return shared.Get(ctx, s.maker, "the word "+w+" of the graph", func(ctx context.Context) (*breach, error) {
		var why string
		var err error
		switch w {
		case Echo:
			return s.tryEcho(ctx)
		case Wait, EarlyWrite:
			why, err = s.tryHold(ctx, w == EarlyWrite)
		default:
			why, err = s.tryAnswer(ctx, w)
		}
		return newBreach(fmt.Sprintf("does not understand %q", w), why), err
	})
}

// failed describes how a run that left no answer has failed, "" where nothing shows that: the error in the answer to
// its join and the status of a run are vendor extensions.
func (s *Server) failed(ctx context.Context, g *GraphRun) (string, error) {
	a, err := s.JoinCompleted(ctx, g.Thread.Owner, g)
	if err == nil && (a.Get("__error__").Exists() || a.Status == http.StatusInternalServerError) {
		return "the run failed: its join was answered with " + outcome.SeenShort(a), nil
	}
	run, err := s.GetRun(ctx, g.Thread.Owner, g)
	if err == nil && run.OK() && slices.Contains([]string{"error", "timeout"}, run.Get("status").String()) {
		return fmt.Sprintf("the run failed: its status is %q", run.Get("status").String()), nil
	}
	return "", context.Cause(ctx)
}

// blockedHold is longer than a server answers nothing because it is busy for a moment.
const blockedHold = 1500 * time.Millisecond

// tryHold wants other requests to be answered while the run waits. What has happened only once may have been a busy
// moment.
func (s *Server) tryHold(ctx context.Context, written bool) (problem string, err error) {
	if err := s.preflight(ctx); err != nil {
		return "", err
	}
	blocks, hold := false, s.Hold(0)
	if blocks, problem, err = s.tryHoldOnce(ctx, Order{Hold: hold, written: written, trial: true}); blocks {
		_, problem, err = s.tryHoldOnce(ctx, Order{Hold: max(2*hold, blockedHold), written: written, trial: true})
	}
	return problem, err
}

// tryHoldOnce looks at the state while the run should be in progress. It joins the run only where the graph is to
// write early. A server that shows an answer too early where a run is joined, or loses the output of runs that nobody
// joins, is judged elsewhere.
func (s *Server) tryHoldOnce(ctx context.Context, o Order) (blocks bool, problem string, err error) {
	g, err := s.startAlone(ctx, s.target.Owner(), o)
	if err != nil {
		return false, "", err
	}
	end, unseen, slowest := g.NotOverBefore(), g.begun, time.Duration(0)
	limit, ended := end.Add(s.Patience()), func() bool { return false }
	if o.written {
		join := s.JoinNow(ctx, g)
		defer join.Leave()
		limit = end.Add(s.target.Config.Timeouts.Run)
		ended = func() bool { return s.hasHadItsTime(ctx, join, g) }
	}
	g.Final, _, err = s.ReadState(ctx, g.Thread, limit, func(a *exchange.Response) bool {
		slowest = max(slowest, a.Took)
		if len(g.Wrote(a)) == 0 {
			unseen = a.Sent
		}
		return g.CompleteIn(a) || ended()
	})
	if err != nil {
		return false, "", err
	}
	complete, wrote := g.Complete(), g.Wrote(g.Final)
	over := g.Final.Ended()
	switch {
	case complete && over.Before(end):
		took := over.Sub(g.Answer.Sent).Round(time.Millisecond)
		problem = fmt.Sprintf("the run ended within %s instead of %s: %s", took, o.Hold, messages.Brief(wrote))
	case 2*slowest > o.Hold:
		return true, "the server answered no other request meanwhile: let the graph wait without blocking", nil
	case complete && o.written && over.Before(unseen.Add(o.Hold)): // it had written, and the state did not show it
		s.showsAtEnd.Store(true)
	case !complete:
		if problem, err = s.failed(ctx, g); problem == "" && o.written && len(wrote) == 1 {
			problem = "the run left one message instead of two: " + messages.Brief(wrote)
		}
	}
	if complete {
		s.runs.over(g)
	}
	return false, problem, err
}

// tryAnswer wants an answer that does more than repeat the text, and none of a run that is told to fail. That of one
// that calls the tool contains what the tool has found.
func (s *Server) tryAnswer(ctx context.Context, w string) (problem string, err error) {
	g, err := s.startAlone(ctx, s.target.Owner(), Order{Words: w, trial: true})
	if err != nil {
		return "", err
	}
	if w == Fail {
		g.Final, _, err = s.ReadState(ctx, g.Thread, time.Now().Add(4*s.Slack()), g.CompleteIn)
	} else {
		_, err = s.Await(ctx, g)
	}
	if err != nil {
		return "", err
	}
	wrote, said := g.Wrote(g.Final), g.Said()
	repeats := strings.Contains(said, g.Text())
	if w == ToolCall {
		repeats = len(wrote) == 1 && repeats && !strings.Contains(said, "looked up: "+g.Text())
	}
	switch {
	case len(wrote) == 0 && w != Fail:
		return s.failed(ctx, g)
	case repeats && w == Fail:
		return "the run did not fail: " + messages.Brief(wrote), nil
	case repeats:
		return "the answer only repeats the text: " + messages.Brief(wrote), nil
	}
	return "", nil
}
