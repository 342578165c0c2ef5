package agentserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/script"
)

// Server serves an App over HTTP. Its routes are relative to its root: /threads and so on (interface, section 4, "Agent server").
type Server struct {
	opts   Options
	rev    atomic.Pointer[revision]
	bolt   *threads.Bolt
	store  threads.Store
	auth   Authenticator
	authz  Authorizer
	engine *engine
	mux    *http.ServeMux
	closed sync.Once
	err    error // of Close
}

// New opens the server's data in the named bucket and begins to serve the App. Environment variables are the secrets
// of the deployment. Runs that were in progress when the data was last used are ended: their scripts are gone.
//
// Close the server; the database is the caller's.
func New(app *App, db threads.DB, bucket string, env map[string]string, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	if opts.Strategies[opts.DefaultStrategy] == nil {
		return nil, fmt.Errorf("unknown default strategy %q: use one of reject, enqueue, interrupt, rollback", opts.DefaultStrategy)
	}
	bolt, err := threads.Open(db, bucket)
	if err != nil {
		return nil, err
	}
	bolt.MaxThreads, bolt.MaxRuns = cmp.Or(opts.KeptThreads, bolt.MaxThreads), cmp.Or(opts.KeptRuns, bolt.MaxRuns)
	s := &Server{opts: opts, bolt: bolt, store: bolt}
	if _, err := bolt.EndUnfinished(context.Background(), stopped); err != nil {
		return nil, fmt.Errorf("ending the runs that were in progress: %w", err)
	}
	s.rev.Store(newRevision(app, env, opts))
	s.auth = currentAuth{s}
	s.authz = opts.WrapAuthorizer(currentAuth{s})
	s.engine = newEngine(s.store, opts)
	s.mux = s.routes()
	return s, nil
}

// stopped is how runs end that a stop of the server has cut off.
var stopped = threads.Ending{Status: threads.StatusInterrupted, Reason: reasonStopped}

// Swap serves another App from now on: a new revision of the deployment. Runs in progress finish on the old one.
func (s *Server) Swap(app *App, env map[string]string) { s.rev.Store(newRevision(app, env, s.opts)) }

// Close stops the scripts of all runs, marks these as interrupted, and releases who waits. It gives up waiting for
// scripts when ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.closed.Do(func() {
		s.err = s.engine.close(ctx)
		_, err := s.bolt.EndUnfinished(context.WithoutCancel(ctx), stopped)
		s.err = errors.Join(s.err, err)
	})
	return s.err
}

// DeleteData closes the server and deletes its threads, runs and messages.
func (s *Server) DeleteData() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	closing := s.Close(ctx)
	return errors.Join(closing, s.bolt.Drop())
}

// ServeHTTP implements http.Handler. The multiplexer redirects paths that are not clean, and answers some requests in
// plain text: such paths name nothing here, and every answer is JSON.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.opts.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
			answerError(w, http.StatusInternalServerError, "Internal server error")
		}
	}()
	if p := r.URL.Path; !strings.HasPrefix(p, "/") || path.Clean(p) != p {
		notFoundRoute(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, m := range map[string]methods{
		"/threads":                                  {"GET": s.listThreads, "POST": s.createThread},
		"/threads/search":                           {"POST": s.searchThreads},
		"/threads/{thread_id}":                      {"GET": s.getThread, "DELETE": s.deleteThread},
		"/threads/{thread_id}/state":                {"GET": s.getState},
		"/threads/{thread_id}/runs":                 {"GET": s.listRuns, "POST": s.createRun},
		"/threads/{thread_id}/runs/{run_id}":        {"GET": s.getRun},
		"/threads/{thread_id}/runs/{run_id}/join":   {"GET": s.joinRun},
		"/threads/{thread_id}/runs/{run_id}/cancel": {"POST": s.cancelRun},
	} {
		mux.Handle(pattern, s.dispatch(m))
	}
	mux.HandleFunc("/", notFoundRoute)
	return mux
}

func notFoundRoute(w http.ResponseWriter, _ *http.Request) {
	answerError(w, http.StatusNotFound, "Not Found")
}

// revision is an App with the secrets of a deployment: what requests and runs are served with until the next Swap.
type revision struct {
	app     *App
	env     map[string]string // of the deployment; wins over the environment file
	secrets []string
	limits  script.Limits
	log     *slog.Logger

	maxState int
}

func newRevision(app *App, env map[string]string, opts Options) *revision {
	return &revision{
		app: app, env: env, secrets: secretsOf(env), limits: opts.Limits, log: opts.Log, maxState: opts.MaxState,
	}
}

func (r *revision) lookup(name string) (string, bool) {
	if v, ok := r.env[name]; ok {
		return v, true
	}
	v, ok := r.app.env[name]
	return v, ok
}

func (r *revision) session(ctx context.Context, name string, limits script.Limits) *script.Session {
	return script.NewSession(ctx, name, script.Options{
		Limits: limits, Env: r.lookup,
		Print: func(text string) { r.log.Info("print", "script", name, "text", r.redact(text)) },
	})
}

// minSecret is the length from which a value is taken for a secret: shorter ones occur in texts by chance.
const minSecret = 6

// secretsOf lists what must not appear in errors and logs: the values of the deployment's secrets, and what is inside of
// those that are JSON.
func secretsOf(env map[string]string) []string {
	var out []string
	for _, v := range env {
		out = append(out, v)
		var parsed any
		if json.Unmarshal([]byte(v), &parsed) == nil {
			out = append(out, secretsIn("", parsed)...)
		}
	}
	out = slices.DeleteFunc(out, func(s string) bool { return len(s) < minSecret })
	return slices.Compact(longestFirst(out))
}

// longestFirst sorts secrets: one within another must not hide that.
func longestFirst(secrets []string) []string {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return secrets
}

// secretsIn finds the strings under keys that speak of secrets.
func secretsIn(key string, v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		for _, word := range []string{"token", "secret", "key", "password"} {
			if strings.Contains(strings.ToLower(key), word) {
				return []string{v}
			}
		}
	case []any:
		for _, x := range v {
			out = append(out, secretsIn(key, x)...)
		}
	case map[string]any:
		for k, x := range v {
			out = append(out, secretsIn(k, x)...)
		}
	}
	return out
}

func (r *revision) redact(text string) string {
	return redacted(text, r.secrets)
}

func redacted(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, "[secret]")
		}
	}
	return text
}
