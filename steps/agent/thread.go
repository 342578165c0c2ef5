package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Thread is one that the run created, with who owns it.
type Thread struct {
	ID     string // as a text, whatever it is: the interface shows no type
	Owner  target.Caller
	Answer *client.Answer // of the creation
	again  bool           // its id was given before in this run
	runs   int            // how many were accepted on it
}

// GraphRun is a run of the conformance graph.
type GraphRun struct {
	ID     string
	Thread *Thread
	Order  Order
	Inputs []string       // the contents of its human messages; the last one is unique in this run of the suite
	Answer *client.Answer // to its creation
	// begun is a time before which it had surely not begun to wait.
	begun    time.Time
	Complete bool           // the state was seen to hold its answer
	final    *client.Answer // the state after it
}

// Order says what a run is asked to do.
type Order struct {
	Words    string        // that steer the graph, besides those of the other fields
	Hold     time.Duration // how long it stays in progress
	written  bool          // it writes a first message before it waits
	Strategy string        // multitask_strategy
	Before   []string      // human messages that come before the one that steers
	Text     string        // in place of a unique text
}

// Sent is the id of a thread as the target wrote it: a text or a number.
func (t *Thread) Sent() any {
	if id := t.Answer.Get("thread_id"); id.Type == gjson.Number {
		return json.RawMessage(id.Raw)
	}
	return t.ID
}

// Usable says what is wrong with a thread that a scenario is to work with alone.
func (t *Thread) Usable() error {
	switch {
	case t.ID == "":
		return outcome.Violated(t.Answer, "a thread with a thread_id", "%s", outcome.Seen(t.Answer))
	case t.again:
		return outcome.Violated(t.Answer, "a new thread", "one that was there before, %s (AS-THREAD-1)", t.ID).ByRequirement("AS-THREAD-1")
	}
	return nil
}

// Accepted says what is wrong with the answer to the creation of a run.
func (g *GraphRun) Accepted() error {
	if g.ID == "" {
		return outcome.Violated(g.Answer, "the run to be accepted, with a run_id", "%s", outcome.Seen(g.Answer))
	}
	return nil
}

// Answered is when the creation was answered.
func (g *GraphRun) Answered() time.Time { return g.Answer.Sent.Add(g.Answer.Took) }

// NotOverBefore is a time before which the run cannot come to its end by itself.
func (g *GraphRun) NotOverBefore() time.Time { return g.begun.Add(g.Order.Hold) }

// Text is its last human message.
func (g *GraphRun) Text() string { return g.Inputs[len(g.Inputs)-1] }

// After returns the messages that came after the one with the run's input, and whether that was found.
func (g *GraphRun) After(all []Message) ([]Message, bool) {
	at := slices.IndexFunc(all, func(m Message) bool { return m.Text == g.Text() })
	if at < 0 {
		return nil, false
	}
	return all[at+1:], true
}

// begunIn tells whether a state shows that the run has written something of its own.
func (g *GraphRun) begunIn(state *client.Answer) bool {
	rest, _ := g.After(MessagesOf(state))
	return len(rest) > 0
}

// outputs is how many messages the run adds to its input.
func (g *GraphRun) outputs() int {
	n := 1
	if g.Order.written {
		n++
	}
	if slices.Contains(strings.Fields(g.Order.Words), Tool) {
		n++
	}
	return n
}

// CompleteIn tells whether a state holds all that the run was to write.
func (g *GraphRun) CompleteIn(state *client.Answer) bool {
	rest, _ := g.After(MessagesOf(state))
	return len(rest) >= g.outputs()
}

// plain tells whether nothing but the target's own pace decides how long the run takes.
func (g *GraphRun) plain() bool {
	return g.Thread.runs == 1 && g.Order.Hold == 0 && g.Order.Strategy == ""
}
