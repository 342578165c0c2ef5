package agentserver

import (
	"context"
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
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

// fieldHint names the configuration of what a user's runs are to tell.
func (w *World) fieldHint(u *config.User, field string) string {
	for i := range w.target.Config.Users {
		if u != &w.target.Config.Users[i] {
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
