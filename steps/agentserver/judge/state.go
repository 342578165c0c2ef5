// Package judge has the judgements about the agent server: functions of values (responses, messages, what was
// configured) that return nil, a violation, or an inconclusive outcome. They send nothing, so that a table test reaches
// each of them. One file per feature.
package judge

import (
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// HasMessages judges that a state has a non-empty array of messages (section 2).
func HasMessages(a *exchange.Response) error {
	list := a.Get("values.messages")
	if a.OK() && list.IsArray() && len(list.Array()) > 0 {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{
		Kind:     outcome.Missing,
		Summary:  "The state has no messages",
		Expected: "a non-empty array in values.messages",
		Pointer:  "/values/messages",
	})
}
