package judge

import (
	"fmt"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// AnswersAreEqual is inconclusive if one revision gives different answers to the same input, because then the answer does
// not identify the revision.
func AnswersAreEqual(first, second string) error {
	if first == second {
		return nil
	}
	return outcome.Inconclusive("the graph returns different ai messages for the same input (%.60q, %.60q), so they "+
		"do not identify the revision", first, second)
}

// AnswerIsNew judges that the answer after an update differs from the answer of the first revision. state is the state
// after the run. key is the key of the second source.
func AnswerIsNew(state *exchange.Response, said, first, key string) error {
	if said != first {
		return nil
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.Stale,
		Summary:  "A run after an update returns the answer of the first revision",
		Expected: fmt.Sprintf("another answer than %q", said),
		Actual:   fmt.Sprintf("%q again", said),
		Pointer:  atMessages,
		Hint:     "correct " + key + " if the graph of that source returns the same ai message",
	})
}
