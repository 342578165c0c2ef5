package agentserver

import (
	"fmt"
	"net/http"

	"github.com/agentconform/agentconform/steps/config"
)

// idHint names the configuration that may be why a user gets no thread, or no run.
func (w *World) idHint(field string) string {
	a := w.scene.Answer
	switch refused := a.Status == http.StatusUnauthorized || a.Status == http.StatusForbidden || a.Status == w.target.Config.Agent.RejectedStatus; {
	case a.OK():
		return ""
	case refused && len(w.target.Config.Users) == 0:
		return "no user is configured: if the target wants to know who asks, set users"
	case refused && len(w.target.Config.Users[0].Headers) > 0:
		return "if users.0.headers are not those of a user whom the target knows, correct them"
	case refused:
		return "if users.0.token is not that of a user whom the target knows, correct it"
	case a.Refused() && field == "run_id":
		return fmt.Sprintf("if the target has no graph %q, set assistant_id to the name of its conformance graph", w.target.Config.AssistantID)
	}
	return ""
}

// fieldHint names the configuration of what a user's runs are to tell.
func (w *World) fieldHint(u *config.User, field string) string {
	for i := range w.target.Config.Users {
		if u != &w.target.Config.Users[i] {
			continue
		}
		if field == "identity" {
			return fmt.Sprintf("users.%d.identity has to be what the handler returns for the user", i)
		}
		return fmt.Sprintf("users.%d.fields has to be what the handler returns for the user", i)
	}
	return ""
}
