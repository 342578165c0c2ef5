package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
)

// TestLooks judges a run that began to wait at second 0, for 8 seconds.
func TestLooks(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	type read struct {
		sent     float64 // in seconds
		took     float64
		messages int // of the input and the output
	}
	for name, c := range map[string]struct {
		reads      []read
		problem    string // a part of it
		unclear    bool
		showsAtEnd bool
	}{
		"shows each message when it is written": {reads: []read{{2.7, 0.1, 2}, {7, 0.1, 2}, {8.5, 0.1, 3}}},
		"shows all messages at the end":         {reads: []read{{2.7, 0.1, 0}, {7, 0.1, 0}, {8.5, 0.1, 3}}, showsAtEnd: true},
		"begins to wait late":                   {reads: []read{{2.7, 0.1, 0}, {7, 0.1, 0}, {14, 0.1, 2}, {15.5, 0.1, 3}}},
		"does not wait":                         {reads: []read{{2.7, 0.1, 3}}, problem: "ended within 2.8s instead of 8s"},
		"waits less than it should":             {reads: []read{{2.7, 0.1, 2}, {7, 0.1, 3}}, problem: "ended within 7.1s instead of 8s"},
		"blocks the server":                     {reads: []read{{2.7, 5.4, 3}}, problem: "responded to no other request", unclear: true},
		"is read at its end":                    {reads: []read{{7.9, 0.3, 3}}, unclear: true},
		"is read after its end only":            {reads: []read{{8.1, 0.1, 3}}, unclear: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
			g := &GraphRun{Inputs: []string{"x"}, Order: Order{Hold: 8 * time.Second, written: true}, begun: begun,
				Response: &exchange.Response{Sent: begun}}
			seen := &looks{unseen: begun}
			for _, r := range c.reads {
				all := []messages.Message{human("x"), ai("working on it: x"), ai("x")}
				g.Final = stateOf(t, all[:r.messages]...)
				g.Final.Sent, g.Final.Took = begun.Add(seconds(r.sent)), seconds(r.took)
				seen.add(g, g.Final)
			}
			problem, unclear := seen.problem(g)
			assert.Contains(t, problem, c.problem)
			assert.Equal(t, c.problem == "", problem == "", problem)
			assert.Equal(t, c.unclear, unclear)
			assert.Equal(t, c.showsAtEnd, problem == "" && !unclear && seen.showAtEnd(g))
		})
	}
}
