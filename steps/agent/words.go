package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// The words that control the conformance graph, one for each line of its contract (reference/graphs/CONTRACT.md), in the
// order of [config.GraphWords]. Echo is what the graph does without a word: its answer repeats the text.
const (
	Echo       = "echo"
	Wait       = "wait"
	EarlyWrite = "wait-after-write"
	Fail       = "fail"
	Whoami     = "whoami"
	ToolCall   = "tool"
)

// words returns the words to test before the order is sent. The words of [answerWords] are tested only if a run shows no
// effect of them.
func (o Order) words() (all []string) {
	if o.Waits || o.Hold > 0 {
		all = append(all, o.holdWord())
	}
	if o.late {
		all = append(all, Wait)
	}
	if o.says(Fail) {
		all = append(all, Fail)
	}
	return all
}

// holdWord returns the word that makes the graph wait.
func (o Order) holdWord() string {
	if o.written {
		return EarlyWrite
	}
	return Wait
}

// holdText returns the words for the hold of the order.
func (o Order) holdText() string {
	ms := o.Hold.Milliseconds()
	if o.late {
		return fmt.Sprintf("%s=%d %s=%d", Wait, ms/2, EarlyWrite, ms-ms/2)
	}
	return fmt.Sprintf("%s=%d", o.holdWord(), ms)
}

// answerWords are the words with a visible effect on each answer.
var answerWords = []string{Whoami, ToolCall}

// effective returns a blocked outcome if the answer of a run shows no effect of a word, because the graph then does not
// understand the word.
func (s *Server) effective(ctx context.Context, g *GraphRun) error {
	for _, w := range answerWords {
		if !g.Order.says(w) || len(g.Wrote(g.Final)) > 0 && !g.repeatsText(w) {
			continue
		}
		if err := s.Understood(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// repeatsText reports whether the answer of a run only repeats the text, as it does without the word. A server may write
// the input of a failed run twice, and that is not an answer.
func (g *GraphRun) repeatsText(w string) bool {
	wrote, said := g.Wrote(g.Final), g.Said()
	if w == Fail && len(wrote) > 0 && wrote[len(wrote)-1].Kind == messages.Human && said == g.Text() {
		return false
	}
	if w == ToolCall {
		return len(wrote) == 1 && strings.Contains(said, g.Text()) && !strings.Contains(said, "looked up: "+g.Text())
	}
	return strings.Contains(said, g.Text())
}

// Understood returns a blocked outcome if the graph does not repeat a plain text or does not understand one of the words.
// Words are tested only at the agent server under test. Understood also returns an error if no run can be started.
func (s *Server) Understood(ctx context.Context, words ...string) error {
	if !s.judged {
		return nil
	}
	var missed *outcome.Outcome
	for _, w := range append([]string{Echo}, words...) {
		shown, err := s.try(ctx, w)
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		found := shown.breach
		if found == nil || slices.Contains(s.target.Config.Agent.Words, w) {
			continue
		}
		blocked := s.blockedBy(w, found)
		if w == Echo { // without it, no other word can be tried
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

// breach is a violation of the graph's contract.
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
	return outcome.Blocked("%s: %s; agentconform graph writes a correct one", problem, found.why).By(reports.ByGraph, w)
}

// trial is the result of testing a word.
type trial struct {
	breach     *breach // nil if the graph understands the word
	showsAtEnd bool    // of [EarlyWrite]: the state shows nothing of a run until it ends
	waited     bool    // a read after a third of the hold showed the run as incomplete, or its creation took the whole hold
}

// try tests a word and returns the result. Each word is tested once.
func (s *Server) try(ctx context.Context, w string) (trial, error) {
	return shared.Get(ctx, s.maker, "the word "+w+" of the graph", func(ctx context.Context) (trial, error) {
		switch w {
		case Echo:
			found, err := s.tryEcho(ctx)
			return trial{breach: found}, err
		case Wait, EarlyWrite:
			return s.tryHold(ctx, w)
		}
		why, err := s.tryAnswer(ctx, w)
		return trial{breach: doesNotUnderstand(w, why)}, err
	})
}

func doesNotUnderstand(w, why string) *breach {
	return newBreach(fmt.Sprintf("does not understand %q", w), why)
}

// failed describes how a run without an answer has failed, or returns "" if that is unknown. The error in the response to
// the join and the status of a run are vendor extensions.
func (s *Server) failed(ctx context.Context, g *GraphRun) (string, error) {
	a, err := s.JoinCompleted(ctx, g.Thread.Owner, g)
	if err == nil && (a.Get("__error__").Exists() || a.Status == http.StatusInternalServerError) {
		return "the run failed: its join returned " + outcome.SeenShort(a), nil
	}
	run, err := s.GetRun(ctx, g.Thread.Owner, g)
	if err == nil && run.OK() && slices.Contains([]string{"error", "timeout"}, run.Get("status").String()) {
		return fmt.Sprintf("the run failed: its status is %q", run.Get("status").String()), nil
	}
	return "", context.Cause(ctx)
}

const (
	// blockedHold is longer than the short time in which a busy server does not respond.
	blockedHold = 1500 * time.Millisecond
	// earlyLook and lateLook are the parts of the hold after which the state of a run is read. At a server that does not
	// respond while the run waits, the first read takes two thirds of the hold, which has no other explanation. The second
	// read detects nearly all graphs that end too early, and its response arrives before the end.
	earlyLook, lateLook = 1.0 / 3, 7.0 / 8
)

// after returns the time at which a part of the hold is over.
func (g *GraphRun) after(part float64) time.Time {
	return g.begun.Add(time.Duration(part * float64(g.Order.Hold)))
}

// tryHold tests whether the graph waits, and whether the server responds to other requests meanwhile. It watches the run
// of the preflight if that is still waiting, or else a new one. If the result is unclear, which may be due to a busy
// moment, it tries again with a longer hold. If the last result is unclear too, the trial is inconclusive.
func (s *Server) tryHold(ctx context.Context, w string) (trial, error) {
	p, err := s.preflight(ctx)
	if err != nil {
		return trial{}, err
	}
	if w == Wait && p.held != nil && time.Now().Before(p.held.after(lateLook)) {
		found, unclear, err := s.watch(ctx, p.held, lateLook)
		if err != nil || !unclear {
			return found, err
		}
	}
	hold := s.Hold(0)
	var found trial
	for range Attempts {
		var unclear bool
		found, unclear, err = s.startHeld(ctx, w, hold)
		if err != nil || !unclear {
			return found, err
		}
		hold = max(2*hold, blockedHold)
	}
	if found.breach == nil && !found.waited {
		return found, outcome.Inconclusive("the responses are too slow to show whether the graph understands the word %q", w)
	}
	return found, nil
}

// startHeld starts a run that waits, and watches it. It joins the run only if the graph must write early. A server may
// show an answer too early when a run is joined, or lose the output of runs that are not joined. Other scenarios judge
// that.
func (s *Server) startHeld(ctx context.Context, w string, hold time.Duration) (found trial, unclear bool, err error) {
	g, err := s.startAlone(ctx, s.target.Owner(), Order{Hold: hold, written: w == EarlyWrite, trial: true})
	if err != nil {
		return trial{}, false, err
	}
	return s.watch(ctx, g, earlyLook, lateLook)
}

// watch reads the state of a run at the times earlyLook and lateLook, and then after its end until it is complete. It
// reports whether the result is unclear, so that a longer hold may help.
func (s *Server) watch(ctx context.Context, g *GraphRun, parts ...float64) (found trial, unclear bool, err error) {
	seen, err := s.lookDuring(ctx, g, parts)
	if err != nil {
		return trial{}, false, err
	}
	problem, unclear := seen.problem(g)
	if g.Complete() {
		s.runs.over(g)
		found.showsAtEnd = problem == "" && seen.showAtEnd(g)
	} else if problem == "" {
		problem, err = s.failed(ctx, g)
		if wrote := g.Wrote(g.Final); problem == "" && g.Order.written && len(wrote) == 1 && !seen.wroteTwo(wrote[0]) {
			problem = "the run left one message instead of two: " + messages.Brief(wrote)
		}
	}
	found.breach = doesNotUnderstand(g.Order.holdWord(), problem)
	found.waited = !seen.waiting.Before(g.after(earlyLook)) || g.Response.Took >= g.Order.Hold
	return found, unclear, err
}

// lookDuring makes the reads of watch. The last one is the final state of the run.
func (s *Server) lookDuring(ctx context.Context, g *GraphRun, parts []float64) (*looks, error) {
	limit, ended := g.NotOverBefore().Add(s.Patience()), func() bool { return false }
	if g.Order.written {
		join := s.JoinNow(ctx, g)
		defer join.Leave()
		limit = g.NotOverBefore().Add(s.RunTimeout())
		ended = func() bool { return s.hasHadItsTime(ctx, join, g) }
	}
	client.Prioritize(ctx) // the run may be that of the preflight
	seen := &looks{unseen: g.begun}
	for _, part := range parts {
		if g.Complete() {
			break
		}
		if err := client.Sleep(ctx, time.Until(g.after(part))); err != nil {
			return nil, err
		}
		var err error
		g.Final, err = s.State(ctx, g.Thread.Owner, g.Thread)
		if err != nil {
			return nil, err
		}
		seen.add(g, g.Final)
	}
	if g.Complete() {
		return seen, nil
	}
	err := client.Sleep(ctx, time.Until(g.NotOverBefore().Add(s.Slack()/2)))
	if err != nil {
		return nil, err
	}
	g.Final, _, err = s.ReadState(ctx, g.Thread, limit, func(a *exchange.Response) bool {
		seen.add(g, a)
		return g.CompleteIn(a) || ended()
	})
	return seen, err
}

// looks are reads of the state of a run that waits.
type looks struct {
	waiting      time.Time     // when the last read that showed the run as incomplete was sent
	unseen       time.Time     // when the last read that showed no message of the run was sent
	slowest      time.Duration // how long the slowest response took
	firstMessage string        // the first message of the run in the last read before its end, or ""
}

func (l *looks) add(g *GraphRun, a *exchange.Response) {
	if !g.CompleteIn(a) {
		l.waiting = a.Sent
	}
	l.slowest = max(l.slowest, a.Took)
	wrote := g.Wrote(a)
	if len(wrote) == 0 {
		l.unseen = a.Sent
	} else if a.Sent.Before(g.NotOverBefore()) {
		l.firstMessage = wrote[0].Text
	}
}

// wroteTwo reports whether the graph wrote another message before the only remaining one. The server has then lost the
// first message.
func (l *looks) wroteTwo(left messages.Message) bool {
	return l.firstMessage != "" && l.firstMessage != left.Text
}

// problem describes a run that did not wait as long as ordered, or returns "". It reports whether a longer hold may help:
// a late response may have another reason, and reads after the end show nothing.
func (l *looks) problem(g *GraphRun) (problem string, unclear bool) {
	over := g.Final.Ended()
	if g.Complete() && over.Before(g.NotOverBefore()) {
		took := over.Sub(g.Response.Sent).Round(time.Millisecond)
		return fmt.Sprintf("the run ended within %s instead of %s: %s", took, g.Order.Hold,
			messages.Brief(g.Wrote(g.Final))), false
	}
	if 2*l.slowest > g.Order.Hold {
		return "the server responded to no other request while the graph waited: let the graph wait without blocking", true
	}
	return "", g.Complete() && l.waiting.Before(g.after(lateLook))
}

// showAtEnd reports whether the state showed the first message of the run later than it was written.
func (l *looks) showAtEnd(g *GraphRun) bool {
	return g.Order.written && g.Final.Ended().Before(l.unseen.Add(g.Order.Hold))
}

// tryAnswer tests a word with an effect on the answer. The answer must not only repeat the text. A run with the word for
// failing must have no answer, and an answer with a call of the tool must contain the result of the tool.
func (s *Server) tryAnswer(ctx context.Context, w string) (problem string, err error) {
	server := s
	if w != Fail {
		server = s.unbounded() // a scenario that needs the result may hold all slots
	}
	g, err := server.startAlone(ctx, s.target.Owner(), Order{Words: w, trial: true})
	if err != nil {
		return "", err
	}
	if w == Fail {
		if err := client.Sleep(ctx, 4*s.Slack()); err != nil {
			return "", err
		}
		g.Final, err = s.State(ctx, g.Thread.Owner, g.Thread)
	} else {
		_, err = s.Await(ctx, g)
	}
	if err != nil {
		return "", err
	}
	wrote := g.Wrote(g.Final)
	switch {
	case len(wrote) == 0 && w != Fail:
		return s.failed(ctx, g)
	case g.repeatsText(w) && w == Fail:
		return "the run did not fail: " + messages.Brief(wrote), nil
	case g.repeatsText(w):
		return "the answer only repeats the text: " + messages.Brief(wrote), nil
	}
	return "", nil
}
