package judge

import (
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Attempt is the request of a caller who does not own the thread: "the other user".
type Attempt struct {
	Caller   string
	Response *exchange.Response
	// Unknown is the response to the same request about an unknown thread, or nil. If both responses have the same status
	// and this one contains nothing of the thread, the extension does not depend on the thread.
	Unknown *exchange.Response
}

// ExtensionRefuses judges that a vendor extension does not serve a caller who does not own the thread. owners is the
// response to the owner, and r a run of the thread.
func ExtensionRefuses(t Attempt, r Run, owners *exchange.Response) error {
	if t.Response.Status >= http.StatusBadRequest {
		return nil
	}
	shows := messages.ContainsText(t.Response, r.Text())
	if !shows && t.Unknown != nil && t.Unknown.Status == t.Response.Status {
		return nil
	}
	return outcome.Fails(t.Response, outcome.Violation{
		Kind:     outcome.Accepted,
		Class:    t.Caller,
		Summary:  fmt.Sprintf("%s returns %d to %s", t.Response.Request.Name(), t.Response.Status, t.Caller),
		Expected: "400 or above", Check: outcome.Statuses("4XX", "5XX"),
	}).Comparing(t.Response, owners)
}

// ThreadIsUnchanged judges that callers who do not own a thread have not changed it: it exists, and its state contains
// only the messages of the run.
func ThreadIsUnchanged(state *exchange.Response, r Run) error {
	if state.Status != http.StatusNotFound {
		return HoldsOnly(state, r)
	}
	return outcome.Fails(state, outcome.Violation{
		Kind:     outcome.Changed,
		Summary:  "A request of another caller removes the thread",
		Expected: "200, with the thread",
	})
}
