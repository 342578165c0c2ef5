package agent

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// LeftIn returns an error if the state contains a message of this run. later lists the runs that the thread accepted after
// it.
func (p *Progress) LeftIn(state *exchange.Response, later ...*GraphRun) error {
	var shown []messages.Message
	if p.Shown != nil { // else the target shows no message of a run before it ends
		shown = p.Wrote(p.Shown)
	}
	left, found := p.remaining(shown, messages.Of(state), later)
	if !found {
		return nil
	}
	return outcome.Violated(state, "no message of the prior run", "one of them, %s", messages.Brief([]messages.Message{left})).
		At("/values/messages").Comparing(state, p.Shown)
}

// remaining returns the first message of the state that belongs to this run: one of its inputs, or a message that it had
// written. A later run may write the same text. Such a message belongs to the later run if that is its writer, it does not
// contain the unique input of this run, and it has another id.
func (g *GraphRun) remaining(shown, state []messages.Message, later []*GraphRun) (left messages.Message, found bool) {
	writers := Writers(state, later)
	for i, m := range state {
		belongs := func(w messages.Message) bool {
			return w.Text == m.Text && (writers[i] == nil || strings.Contains(m.Text, g.Text()) || isSame(w, m, shown, state))
		}
		if slices.Contains(g.Inputs, m.Text) || slices.ContainsFunc(shown, belongs) {
			return m, true
		}
	}
	return left, false
}

// isSame reports whether two messages have the same id. Ids that are short or not unique do not count: they may be
// positions or constants.
func isSame(a, b messages.Message, states ...[]messages.Message) bool {
	const shortest = 12
	if a.ID != b.ID || len(a.ID) < shortest {
		return false
	}
	for _, state := range states {
		count := 0
		for _, m := range state {
			if m.ID == a.ID {
				count++
			}
		}
		if count > 1 {
			return false
		}
	}
	return true
}
