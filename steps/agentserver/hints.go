package agentserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/messages"
)

// idHint names the configuration that may be why a user gets no thread, or no run.
func (w *World) idHint(ctx context.Context, field string) string {
	a := w.scene.Answer
	switch refused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == w.target.Config.Agent.RejectedStatus; {
	case a.OK():
		return ""
	case refused && len(w.target.Config.Users) == 0:
		return "no user is configured: set users if the target requires credentials"
	case refused && len(w.target.Config.Users[0].Headers) > 0:
		return "set users.0.headers to those of a user that the target knows"
	case refused:
		return "set users.0.token to that of a user that the target knows"
	case a.Refused() && field == "run_id" && !w.seesThread(ctx):
		return "the user's own thread cannot be read by the user either: check how the target finds the threads of a user"
	case a.Refused() && field == "run_id":
		return fmt.Sprintf("set assistant_id to the name of the target's conformance graph (now %q)", w.target.Config.AssistantID)
	}
	return ""
}

// seesThread tells whether the user can read the thread that the sentences speak of.
func (w *World) seesThread(ctx context.Context) bool {
	if w.thread == nil {
		return true
	}
	a, err := w.server.State(ctx, w.owner(), w.thread)
	return err != nil || a.OK()
}

// rejectedHint names the configuration that may be why a request without valid credentials is answered with another status than
// that of the handler: one that a handler can choose, or that of an operation which the target does not have.
func (w *World) rejectedHint(a *client.Answer) string {
	switch missing := a.Status == http.StatusNotFound || a.Status == http.StatusMethodNotAllowed; {
	case missing && a.Request.Method == http.MethodGet && a.Request.Path == "/threads":
		return "set agent.listing to search if the target lists its threads with POST /threads/search"
	case missing || !a.Refused():
		return ""
	}
	return "set agent.rejected_status if the handler chooses another status"
}

// reportHint names the configuration of what a user's run is to tell, unless the run tells something else, or of another user: that
// is never a mistake of the configuration.
func (w *World) reportHint(said agent.CallerReport, field string) string {
	users := w.target.Config.Users
	if !messages.DescribesUser(said.Text) || slices.ContainsFunc(users, func(u config.User) bool {
		return u.Identity != said.Of.User.Identity && messages.ReportsField(said.Text, "identity", u.Identity)
	}) {
		return ""
	}
	for i := range users {
		if said.Of.User != &users[i] {
			continue
		}
		if field == "identity" {
			return fmt.Sprintf("set users.%d.identity to what the handler returns for the user", i)
		}
		return fmt.Sprintf("set users.%d.fields to what the handler returns for the user", i)
	}
	return ""
}

// orTheGraph adds to a hint that the graph, which understood what it was asked, may have done it wrong.
func orTheGraph(hint string) string {
	const graph = "or correct the graph that assistant_id names (reference/graphs/CONTRACT.md)"
	if hint == "" {
		return graph[len("or "):]
	}
	return hint + ", " + graph
}
