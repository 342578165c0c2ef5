package controlplane

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/controlplane/validate"
)

// operation answers one operation for a tenant whose credentials were accepted. It returns the status and the body
// of the answer; a nil body is none.
type operation func(r *http.Request, tenant string) (status int, body any, err error)

// router maps the paths of the interface, section 4, and of the field to their operations.
func (s *Server) router() *http.ServeMux {
	const deployments = "/v2/deployments"
	const deployment = deployments + "/{deployment_id}"
	const revisions = deployment + "/revisions"
	const revision = revisions + "/{revision_id}"
	mux := http.NewServeMux()
	for path, methods := range map[string]map[string]operation{
		deployments:            {"GET": s.listDeployments, "POST": s.createDeployment},
		deployment:             {"GET": s.getDeployment, "PATCH": s.updateDeployment, "DELETE": s.deleteDeployment},
		revisions:              {"GET": s.listRevisions},
		revision:               {"GET": s.getRevision},
		revision + "/redeploy": {"POST": s.redeployRevision},
	} {
		mux.Handle(path, s.byMethod(methods))
	}
	return mux
}

func (s *Server) byMethod(methods map[string]operation) http.Handler {
	var allowed []string
	for method := range methods {
		allowed = append(allowed, method)
	}
	slices.Sort(allowed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		op := methods[method]
		if op == nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		s.answer(w, r, op)
	})
}

// ServeHTTP answers a request. Paths that are no operation's are a JSON 404; the router of the standard library
// would answer some of them with plain text, and others with a redirect that no client of an API expects.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		writeDetail(w, http.StatusNotFound, "Not Found")
		return
	}
	if _, pattern := s.routes.Handler(r); pattern == "" {
		writeDetail(w, http.StatusNotFound, "Not Found")
		return
	}
	s.routes.ServeHTTP(w, r)
}

// answer asks who is calling before anything else is looked at.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, op operation) {
	tenant, ok := s.guard.identify(r.Header)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		writeDetail(w, http.StatusUnauthorized, "Valid credentials are needed: X-Api-Key, X-Tenant-Id or a bearer token.")
		return
	}
	status, body, err := op(r, tenant)
	switch {
	case err != nil:
		s.writeError(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, body)
	}
}

// writeError turns an error into the answer that the interface, section 7, has for it.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	var problems *validate.Problems
	var rule *RuleError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &problems):
		writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"detail": problems.List()})
	case errors.As(err, &rule):
		writeDetail(w, http.StatusBadRequest, rule.Detail)
	case errors.Is(err, ErrNoDeployment):
		writeDetail(w, http.StatusNotFound, "Deployment ID "+r.PathValue("deployment_id")+" not found.")
	case errors.Is(err, ErrNoRevision):
		writeDetail(w, http.StatusNotFound, "Revision ID "+r.PathValue("revision_id")+" not found.")
	case errors.As(err, &tooLarge):
		writeDetail(w, http.StatusRequestEntityTooLarge, "The request body is larger than 1 MiB.")
	case errors.Is(err, io.ErrUnexpectedEOF):
		writeDetail(w, http.StatusBadRequest, "The request body ended before its announced length.")
	default:
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		writeDetail(w, http.StatusInternalServerError, "Internal Server Error")
	}
}

func writeDetail(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, map[string]string{"detail": detail})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"detail":"Internal Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone; there is nobody left to tell
}
