package reference

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// agentsPath is the path under which agent servers are served, each below its deployment's id.
const agentsPath = "/agents/"

// router sends requests to the agent server that their path names, and all others to the control plane.
func router(controlPlane http.Handler, agents controlplane.Runtime) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, isAgent := strings.CutPrefix(r.URL.Path, agentsPath)
		if !isAgent {
			controlPlane.ServeHTTP(w, r)
			return
		}
		id, _, _ := strings.Cut(rest, "/")
		agent := agents.Handler(id)
		if agent == nil {
			writeDetail(w, http.StatusNotFound, "No agent server is in service at this address.")
			return
		}
		http.StripPrefix(agentsPath+id, agent).ServeHTTP(w, r)
	})
}

// recovered answers a request whose handler panicked, so that one bad request is not the end of the others.
func recovered(inner http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				log.Error("panic", "method", r.Method, "path", r.URL.Path, "cause", cause, "stack", string(debug.Stack()))
				writeDetail(w, http.StatusInternalServerError, "Internal Server Error")
			}
		}()
		inner.ServeHTTP(w, r)
	})
}

func writeDetail(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": detail}) // the client may be gone
}
