package agent

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// The kinds of messages that the interface shows (section 2).
const (
	Human = "human"
	AI    = "ai"
	Tool  = "tool"
)

// Message is one of a thread's state. Its kind is "" where the state does not tell it as the interface wants.
type Message struct{ Kind, Text string }

// MessagesOf reads the messages of a state, leniently: whether they have the right form is one requirement's
// concern, and must not fail all that look for something else. A thread without a run may have no values at all.
func MessagesOf(a *client.Answer) []Message {
	var all []Message
	for _, m := range a.Get("values.messages").Array() {
		kind := ""
		if t := m.Get("type"); t.Type == gjson.String {
			kind = t.Str
		}
		all = append(all, Message{kind, textOf(m.Get("content"))})
	}
	return all
}

// textOf is the text of a message's content: a string, or an array of parts that are strings or have a text.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var b strings.Builder
	for _, part := range content.Array() {
		if part.IsObject() {
			part = part.Get("text")
		}
		b.WriteString(part.String())
	}
	return b.String()
}

// HoldsOnly says what is wrong with a state that is to hold the inputs of the runs, each with its answer, in this
// order, and nothing else. It asks for no kinds: they are another requirement's concern.
func HoldsOnly(state *client.Answer, runs ...*GraphRun) error {
	all := MessagesOf(state)
	wrong := func() error {
		o := outcome.Violated(state, "exactly the messages of "+reports.Count(len(runs), "run"), "%s", ShownMessages(all)).At("/values/messages")
		if len(runs) > 0 {
			o = o.Comparing(state, runs[len(runs)-1].Answer)
		}
		return o
	}
	at := 0
	for _, g := range runs {
		for _, input := range g.Inputs {
			if at >= len(all) || all[at].Text != input {
				return wrong()
			}
			at++
		}
		at += g.outputs()
	}
	if at != len(all) {
		return wrong()
	}
	return nil
}

// HoldsAnswered says what is wrong with a state that is to hold the run's input and its answer, whatever else it
// holds.
func HoldsAnswered(state *client.Answer, g *GraphRun) error {
	rest, found := g.After(MessagesOf(state))
	if !found || len(rest) < g.outputs() {
		return outcome.Violated(state, fmt.Sprintf("the input %q and its answer", g.Text()), "%s", ShownMessages(MessagesOf(state))).At("/values/messages").Comparing(state, g.Answer)
	}
	return nil
}

// ShownMessages describes messages for a person.
func ShownMessages(all []Message) string {
	if len(all) == 0 {
		return "no message"
	}
	var b strings.Builder
	for i, m := range all {
		if i == 6 {
			fmt.Fprintf(&b, "; and %d more", len(all)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		text := m.Text
		if len(text) > 60 {
			text = strings.ToValidUTF8(text[:60], "") + "..."
		}
		fmt.Fprintf(&b, "%s %q", cmp.Or(m.Kind, "(no kind)"), text)
	}
	return b.String()
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
	g, err := s.Start(ctx, t, Order{Words: "whoami", Hold: hold})
	if err != nil {
		return CallerReport{}, outcome.AsPrecondition(err)
	}
	state, err := s.Completed(ctx, g)
	if err != nil {
		return CallerReport{}, outcome.AsPrecondition(err)
	}
	rest, _ := g.After(MessagesOf(state))
	return CallerReport{who, rest[len(rest)-1].Text, state}, nil
}
