package agent

import (
	"testing"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
)

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"values":{"messages":[{"type":"ai","content":["x",{"text":1}]}]}}`))
	f.Add([]byte(`{"values":[{"messages":{}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &exchange.Response{Status: 200, Body: body}
		g := &GraphRun{Order: Order{written: true}, Inputs: []string{"x"}}
		_ = HoldsOnly(a, g)
		_ = g.CompleteIn(a)
		_ = messages.ReportsField(string(body), "identity", "x")
		_ = messages.ContainsText(a, "x")
	})
}
