package controlplane

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane/validate"
)

// Options says what a control plane is made of. Store, Pipeline and AgentURL are needed; the rest has defaults.
type Options struct {
	Edition  Edition
	Tenants  []Tenant
	Store    Store
	Pipeline Pipeline
	AgentURL func(deploymentID string) string // where a deployment's agent server answers
	Now      func() time.Time                 // time.Now by default
	Log      *slog.Logger                     // none by default
}

// Server answers the operations of the control plane. It is an http.Handler without state.
type Server struct {
	service  service
	guard    guard
	agentURL func(string) string
	log      *slog.Logger
	routes   *http.ServeMux
}

// New makes a control plane.
func New(opts Options) (*Server, error) {
	if opts.Edition != Cloud && opts.Edition != SelfHosted {
		return nil, fmt.Errorf("control plane: edition %q is unknown; give %q or %q", opts.Edition, Cloud, SelfHosted)
	}
	if opts.Store == nil || opts.Pipeline == nil || opts.AgentURL == nil {
		return nil, errors.New("control plane: Store, Pipeline and AgentURL are needed")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	s := &Server{
		service:  service{edition: opts.Edition, store: opts.Store, pipeline: opts.Pipeline, now: utc(opts.Now)},
		guard:    newGuard(opts.Tenants),
		agentURL: opts.AgentURL,
		log:      opts.Log,
	}
	s.routes = s.router()
	return s, nil
}

// utc cuts times to microseconds: what is answered at once is then what is read back later.
func utc(now func() time.Time) func() time.Time {
	return func() time.Time { return now().UTC().Truncate(time.Microsecond) }
}

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
	allowed := strings.Join(slices.Sorted(maps.Keys(methods)), ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		op := methods[method]
		if op == nil {
			w.Header().Set("Allow", allowed)
			writeDetail(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		s.answer(w, r, op)
	})
}

// ServeHTTP answers a request. Paths that are no operation's are a JSON 404; the router of the standard library
// would answer some of them with plain text, and others with a redirect that no client of an API expects.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, pattern := s.routes.Handler(r); path.Clean(r.URL.Path) != r.URL.Path || pattern == "" {
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
	case errors.Is(err, os.ErrDeadlineExceeded):
		writeDetail(w, http.StatusRequestTimeout, "The request body took too long.")
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
	_, _ = w.Write(text) // the client may have closed the connection
}
