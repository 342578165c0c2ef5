package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// HoldsOnly says what is wrong with a state that is to hold the inputs of the runs, each with its answer, in this
// order, and nothing else. It asks for no kinds: they are another requirement's concern.
func HoldsOnly(state *client.Answer, runs ...*GraphRun) error {
	all := messages.Of(state)
	if Only(all, runs...) {
		return nil
	}
	expected := "exactly the messages of " + reports.Count(len(runs), "run")
	o := outcome.Violated(state, expected, "%s", beside(all, runs)+messages.Shown(all)).At("/values/messages")
	if len(runs) > 0 {
		o = o.Comparing(state, runs[len(runs)-1].Answer)
	}
	return o
}

// Only tells whether the messages are the inputs of the runs, each with its answer, in this order, and nothing else.
func Only(all []messages.Message, runs ...*GraphRun) bool {
	at := 0
	for _, g := range runs {
		for _, input := range g.Inputs {
			if at >= len(all) || all[at].Text != input {
				return false
			}
			at++
		}
		at += g.outputs()
	}
	return at == len(all)
}

// beside says what is wrong with messages that are to be those of the runs: what comes before them, or that they are not
// there.
func beside(all []messages.Message, runs []*GraphRun) string {
	if len(runs) == 0 || len(all) == 0 {
		return ""
	}
	switch at := slices.IndexFunc(all, func(m messages.Message) bool { return m.Text == runs[0].Inputs[0] }); {
	case at < 0 && len(runs) == 1:
		return "the run's input is missing; "
	case at < 0:
		return "the first run's input is missing; "
	case at > 0:
		return reports.Count(at, "message") + " of another run first; "
	}
	return ""
}

// HoldsAnswered says what is wrong with a state that is to hold the run's input and its answer, whatever else it
// holds.
func HoldsAnswered(state *client.Answer, g *GraphRun) error {
	rest, found := g.After(messages.Of(state))
	if !found || len(rest) < g.outputs() {
		return outcome.Violated(state, fmt.Sprintf("the input %q and its answer", g.Text()), "%s", messages.Shown(messages.Of(state))).At("/values/messages").Comparing(state, g.Answer)
	}
	return nil
}

// CallerReport is what a run said about who had started it.
type CallerReport struct {
	Of     target.Caller
	Text   string
	Answer *client.Answer
}

// Whoami starts a run that reports its caller, on a new thread.
func (s *Server) Whoami(ctx context.Context, who target.Caller, hold time.Duration) (CallerReport, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return CallerReport{}, outcome.AsPrecondition(err)
	}
	g, err := s.Start(ctx, t, Order{Words: Whoami, Hold: hold})
	if err != nil {
		return CallerReport{}, outcome.AsPrecondition(err)
	}
	state, err := s.Completed(ctx, g)
	if err != nil {
		return CallerReport{}, outcome.AsPrecondition(err)
	}
	rest, _ := g.After(messages.Of(state))
	return CallerReport{who, rest[len(rest)-1].Text, state}, nil
}
