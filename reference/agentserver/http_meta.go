package agentserver

import "net/http"

// public serves GET without credentials: what holds nothing of a user, and what load balancers and clients ask first.
func public(v any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", http.MethodGet)
			answerError(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		answer(w, http.StatusOK, v)
	})
}

// health is GET /ok.
func health() any { return map[string]any{"ok": true} }

// info is GET /info: which parts of the field's servers there are.
func info() any {
	return map[string]any{"version": version, "flags": map[string]any{"assistants": true, "crons": false, "store": false}}
}

// version is that of the agent server's document.
const version = "0.1.0"

// unsupported are the methods of a path that clients of the field know and this server does not have. As for all paths the
// caller is authenticated first.
func unsupported(detail string) methods {
	refuse := func(*exchange) (any, error) { return nil, httpError(http.StatusNotFound, "%s", detail) }
	all := methods{}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		all[method] = refuse
	}
	return all
}

const (
	noStore      = "This server has no store: keep what threads share outside of it"
	noCrons      = "This server has no crons: create runs when they are due"
	noAssistants = "The assistants of this server are its deployed graphs: deploy a revision to change them"
	noPruning    = "This server does not prune threads: delete each with DELETE /threads/{thread_id}"
)
