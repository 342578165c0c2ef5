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
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Word is one line of the contract of the conformance graph (reference/graphs/CONTRACT.md).
type Word string

// The words that control the graph. Echo is what it does without any: its answer repeats the text.
const (
	Echo       Word = "echo"
	Wait       Word = "wait"
	EarlyWrite Word = "wait-after-write"
	Fail       Word = "fail"
	Whoami     Word = "whoami"
	ToolCall   Word = "tool"
)

// Words lists all of them.
var Words = []Word{Echo, Wait, EarlyWrite, Fail, Whoami, ToolCall}

// toolFound begins the content of the graph's tool message; the text follows. The answer contains it too.
const toolFound = "looked up: "

// Trial is what one run has shown of a word. Where nothing shows that the graph did not understand it, Problem is empty.
type Trial struct {
	Word    Word
	Problem string
}

// words are those that the order has the graph understand, besides Echo.
func (o Order) words() (all []Word) {
	switch {
	case o.Hold > 0 && o.written:
		all = append(all, EarlyWrite)
	case o.Hold > 0:
		all = append(all, Wait)
	}
	for _, w := range []Word{Fail, Whoami, ToolCall} {
		if slices.Contains(strings.Fields(o.Words), string(w)) {
			all = append(all, w)
		}
	}
	return all
}

// Understood blocks where the graph did not understand one of the words, or does not even repeat a text. Words are tried on the
// agent server under test only. The error may also say that no run could be started.
func (s *Server) Understood(ctx context.Context, words ...Word) error {
	if !s.judged || len(words) == 0 {
		return nil
	}
	if words[0] != Echo {
		words = append([]Word{Echo}, words...)
	}
	var missed *outcome.Outcome
	for _, w := range words {
		trial, err := trials{s}.try(ctx, w)
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		if trial.Problem == "" {
			continue
		}
		problem := trials{s}.misses(w)
		s.target.Note(reports.Note{Kind: reports.NoteGraph, Text: problem})
		if missed == nil {
			missed = outcome.Blocked("%s: %s; see reference/graphs/CONTRACT.md", problem, trial.Problem)
		}
		missed.By(reports.ByGraph, string(w))
		if w == Echo {
			break // no other run is of use
		}
	}
	if missed == nil {
		return nil
	}
	return missed
}

// misses says what the graph does with a word that it does not understand.
func (s trials) misses(w Word) string {
	graph := fmt.Sprintf("the graph %q", s.target.Config.AssistantID)
	switch {
	case w == Echo:
		return graph + " does not answer"
	case w == Wait && s.agents.learned.blocked.Load():
		return graph + " blocks its server while a run waits"
	}
	return fmt.Sprintf("%s does not understand %q", graph, w)
}

// trials tries what the graph understands.
type trials struct{ *Server }

// try returns what a run has shown of the word. It is tried once.
func (s trials) try(ctx context.Context, w Word) (*Trial, error) {
	v := &s.agents.learned.words[slices.Index(Words, w)]
	return v.Get(ctx, s.agents.maker, "the word "+string(w)+" of the graph", func(ctx context.Context) (*Trial, error) {
		problem, err := "", error(nil)
		switch w {
		case Echo:
			problem, err = s.tryEcho(ctx)
		case Wait, EarlyWrite:
			problem, err = s.tryHold(ctx, w)
		case Fail:
			problem, err = s.tryFail(ctx)
		default:
			problem, err = s.tryAnswer(ctx, w)
		}
		return &Trial{w, problem}, err
	})
}

func (s trials) tryEcho(ctx context.Context) (problem string, err error) {
	g, err := s.SharedCompletedRun(ctx)
	if err != nil || g.Complete {
		return "", err
	}
	return s.failed(ctx, g)
}

// failed describes how a run has failed that left no answer, "" where nothing shows that. The status of a run, and the
// error in the answer to its join, are vendor extensions that are not part of the interface.
func (s trials) failed(ctx context.Context, g *GraphRun) (string, error) {
	a, err := s.GetRun(ctx, g.Thread.Owner, g)
	if hasFailed(a) {
		return fmt.Sprintf("the run failed: its status is %q", a.Get("status").String()) + s.reasonOf(ctx, g), nil
	}
	if ctx.Err() == nil && !s.agents.joinsHang() {
		a, err = s.JoinCompleted(ctx, g.Thread.Owner, g)
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err == nil && (a.Get("__error__").Exists() || a.Status == http.StatusInternalServerError):
		return "the run failed: the join was answered with " + outcome.Seen(a), nil
	}
	return "", nil // no answer to one of these is judged elsewhere
}

// reasonOf is what the join of a run that failed tells about the reason, "" where it tells none.
func (s trials) reasonOf(ctx context.Context, g *GraphRun) string {
	if s.agents.joinsHang() {
		return ""
	}
	a, err := s.JoinCompleted(ctx, g.Thread.Owner, g)
	if err != nil || !a.Get("__error__").Exists() {
		return ""
	}
	return ": " + outcome.Shown(a.Get("__error__"))
}

// hasFailed tells whether the answer to a look for a run says that it has failed.
func hasFailed(run *client.Answer) bool {
	return run != nil && run.OK() && slices.Contains([]string{"error", "timeout"}, run.Get("status").String())
}

// tryHold looks at the state while the run should be in progress. It joins the run only where the graph is to write early. A server
// that shows an answer too early where a run is joined, or loses the output of runs that nobody joins, is judged elsewhere.
func (s trials) tryHold(ctx context.Context, w Word) (problem string, err error) {
	if _, err := s.Parallel(ctx); err != nil {
		return "", err
	}
	if s.agents.learned.blocked.Load() {
		return "the server answered no other request meanwhile: let the graph wait without blocking", nil
	}
	for attempt := range holdAttempts {
		decided := false
		if decided, problem, err = s.tryHoldOnce(ctx, w, attempt); decided || err != nil {
			return problem, err
		}
	}
	return "", nil // the status always says "running" for as long as the run was to wait: the server shows answers early, which is judged elsewhere
}

// holdAttempts is how often a run is told to wait, each time twice as long, until its end tells a graph that did not wait from a
// server that shows the answer early.
const holdAttempts = 3

// tryHoldOnce is one attempt of tryHold. Nothing is decided where the answer came too early and the status said that the run was
// in progress for as long as it was told to wait.
func (s trials) tryHoldOnce(ctx context.Context, w Word, attempt int) (decided bool, problem string, err error) {
	g, err := s.alone(ctx, Order{Hold: s.agents.Pace.Hold(attempt), written: w == EarlyWrite})
	if err != nil {
		return false, "", err
	}
	if w == EarlyWrite {
		defer joinAside(ctx, s.Server, g).Leave()
	}
	state, complete, err := s.ReadState(ctx, g.Thread, g.NotOverBefore().Add(s.agents.Pace.Patience()), g.CompleteIn)
	if err != nil {
		return false, "", err
	}
	rest, _ := g.After(messages.Of(state))
	if complete {
		s.agents.turns.Over(g)
		if over := state.Sent.Add(state.Took); over.Before(g.NotOverBefore()) {
			return s.tooEarly(ctx, g, over, rest)
		}
		return true, "", nil
	}
	if problem, err := s.failed(ctx, g); problem != "" || err != nil || w != EarlyWrite || len(rest) != 1 {
		return true, problem, err
	}
	return true, "the run left one message instead of two: " + messages.Shown(rest), nil
}

// tooEarly describes a run that did not wait. Some servers show the last state of a run a moment before its status says that it is
// over. A status that says so only when the time has passed decides nothing.
func (s trials) tooEarly(ctx context.Context, g *GraphRun, over time.Time, rest []messages.Message) (decided bool, problem string, err error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 40*time.Millisecond) {
		run, err := s.GetRun(ctx, g.Thread.Owner, g)
		if err != nil {
			return false, "", err
		}
		if !slices.Contains([]string{statusPending, statusRunning}, statusOf(run)) {
			break
		}
		if !time.Now().Add(wait).Before(g.NotOverBefore()) {
			return false, "", nil
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return false, "", err
		}
	}
	return true, fmt.Sprintf("the run ended within %s instead of %s: %s", over.Sub(g.Answer.Sent).Round(time.Millisecond), g.Order.Hold, messages.Shown(rest)), nil
}

// tryFail wants the run to leave no answer.
func (s trials) tryFail(ctx context.Context) (problem string, err error) {
	g, err := s.alone(ctx, Order{Words: string(Fail)})
	if err != nil {
		return "", err
	}
	j := joinAside(ctx, s.Server, g)
	defer j.Leave()
	if err := j.OrUntil(ctx, time.Now().Add(s.agents.Pace.Slack())); err != nil {
		return "", err
	}
	state, complete, err := s.ReadState(ctx, g.Thread, time.Now().Add(s.agents.Pace.Slack()), g.CompleteIn)
	if err != nil || !complete {
		return "", err
	}
	rest, _ := g.After(messages.Of(state))
	if last := rest[len(rest)-1]; !strings.Contains(last.Text, g.Text()) {
		return "", nil
	}
	return "the run did not fail: " + messages.Shown(rest), nil
}

// tryAnswer wants an answer that does more than repeat the text.
func (s trials) tryAnswer(ctx context.Context, w Word) (problem string, err error) {
	g, err := s.alone(ctx, Order{Words: string(w)})
	if err != nil {
		return "", err
	}
	state, err := s.Await(ctx, g)
	if err != nil {
		return "", err
	}
	rest, _ := g.After(messages.Of(state))
	if len(rest) == 0 {
		return s.failed(ctx, g)
	}
	last := rest[len(rest)-1].Text
	repeats := strings.Contains(last, g.Text())
	if w == ToolCall {
		repeats = len(rest) == 1 && repeats && !strings.Contains(last, toolFound+g.Text())
	}
	if repeats {
		return "the answer only repeats the text: " + messages.Shown(rest), nil
	}
	return "", nil
}
