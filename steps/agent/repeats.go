package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/messages"
)

// samePart is the minimum number of consecutive characters of an input in an answer that counts as a repetition. A
// shorter match may be chance: a greeting may contain "agent".
const samePart = 8

// ignoredInput returns an answer of a run, and reports whether it shows that the graph ignored the input: the state
// contains the input unchanged, and no later ai message repeats a part of it. If the input or the ai message is missing,
// or the message has no text, that is a fault of the server and not of the graph.
func (g *GraphRun) ignoredInput() (answer messages.Message, ignored bool) {
	if g.Final == nil {
		return answer, false
	}
	all := messages.Of(g.Final)
	at := slices.IndexFunc(all, func(m messages.Message) bool { return m.Kind == messages.Human && m.Text == g.Text() })
	if at < 0 {
		return answer, false
	}
	for _, m := range all[at+1:] {
		switch {
		case m.Kind != messages.AI || strings.TrimSpace(m.Text) == "":
		case repeatsPart(m.Text, g.Text()):
			return answer, false
		case !ignored:
			answer, ignored = m, true
		}
	}
	return answer, ignored
}

// repeatsPart reports whether a text contains a part of the input, in any case.
func repeatsPart(text, input string) bool {
	text = strings.ToLower(text)
	characters := []rune(strings.ToLower(input))
	for from := range max(1, len(characters)-samePart+1) {
		if strings.Contains(text, string(characters[from:min(from+samePart, len(characters))])) {
			return true
		}
	}
	return false
}

// ignoresInput describes a graph other than the conformance graph.
const ignoresInput = "does not repeat its input"

// otherGraph returns the evidence that the runs executed a graph other than the conformance graph, or "". At least two
// runs must have ignored their input, because the server may have replaced one answer.
func otherGraph(runs ...*GraphRun) string {
	if len(runs) < 2 {
		return ""
	}
	var answers []string
	for _, g := range runs {
		answer, ignored := g.ignoredInput()
		if !ignored {
			return ""
		}
		answers = append(answers, messages.Brief([]messages.Message{answer}))
	}
	return fmt.Sprintf("in %d runs the state contains the input unchanged, but the answer repeats no part of it: %s; deploy "+
		"the conformance graph under this name, or set assistant_id to its name", len(runs), strings.Join(slices.Compact(answers), ", "))
}

// CheckGraph returns a blocked outcome if the runs executed a graph other than the conformance graph.
func (as *Agents) CheckGraph(runs ...*GraphRun) error {
	why := otherGraph(runs...)
	if why != "" && !slices.Contains(as.target.Config.Agent.Words, Echo) {
		return as.blockedBy(Echo, &breach{ignoresInput, why})
	}
	return nil
}

// RepeatsInput returns a blocked outcome if the graph ignores the inputs of both a completed run and another run on the
// same thread. It tries the same thread, because different threads may be served by different graphs.
func (s *Server) RepeatsInput(ctx context.Context, g *GraphRun) error {
	for range Attempts {
		if _, ignored := g.ignoredInput(); !ignored {
			return nil
		}
		next, err := s.Run(ctx, g.Thread, Order{})
		if err != nil {
			return context.Cause(ctx) // other requirements judge that run
		}
		if err := s.CheckGraph(g, next); err != nil {
			return err
		}
	}
	return nil
}

// tryEcho checks the answer of a plain run. If it ignores the input, a second run decides whether the graph or the
// server is the cause.
func (s *Server) tryEcho(ctx context.Context) (*breach, error) {
	first, err := s.SharedCompletedRun(ctx)
	if err != nil {
		return nil, err
	}
	if !first.Complete() {
		why, err := s.failed(ctx, first)
		return newBreach("does not answer", why), err
	}
	if _, ignored := first.ignoredInput(); !ignored {
		return nil, nil
	}
	second, err := s.startAlone(ctx, s.target.Owner(), Order{trial: true})
	if err != nil {
		return nil, err
	}
	if _, err := s.Await(ctx, second); err != nil {
		return nil, err
	}
	return newBreach(ignoresInput, otherGraph(first, second)), nil
}
