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
	s := &Server{opts: opts, bolt: bolt, store: opts.WrapStore(bolt)}
	if _, err := bolt.EndUnfinished(context.Background(), threads.Ending{Status: threads.StatusInterrupted, Reason: reasonStopped}); err != nil {
		bolt.Close()
		return nil, fmt.Errorf("ending the runs that were in progress: %w", err)
	}
	if err := deleteTemporary(bolt); err != nil {
		bolt.Close()
		return nil, err
	}
	s.rev.Store(newRevision(app, env, opts))
	s.auth = opts.WrapAuthenticator(currentAuth{s})
	s.authz = opts.WrapAuthorizer(currentAuth{s})
	s.engine = newEngine(s.store, opts)
	s.mux = s.routes()
	return s, nil
}

// deleteTemporary deletes the threads that were made for one run and were still needed when the data was last used.
func deleteTemporary(bolt *threads.Bolt) error {
	left, err := bolt.Threads(context.Background(), func(t threads.Thread) bool { return t.Temporary })
	for _, t := range left {
		err = errors.Join(err, bolt.DeleteThread(context.Background(), t.ID))
	}
	if err != nil {
		return fmt.Errorf("deleting the threads of runs without a thread: %w", err)
	}
	return nil
}

// Swap serves another App from now on: a new revision of the deployment. Runs in progress finish on the old one.
func (s *Server) Swap(app *App, env map[string]string) { s.rev.Store(newRevision(app, env, s.opts)) }

// Close stops the scripts of all runs, marks these as interrupted, releases who waits, and ends the store. It gives up
// waiting for scripts when ctx ends.
func (s *Server) Close(ctx context.Context) error {
	s.closed.Do(func() {
		s.err = s.engine.close(ctx)
		_, err := s.bolt.EndUnfinished(context.WithoutCancel(ctx), threads.Ending{Status: threads.StatusInterrupted, Reason: reasonStopped})
		if !errors.Is(err, threads.ErrClosed) {
			s.err = errors.Join(s.err, err)
		}
		s.bolt.Close()
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
	mux.Handle("/ok", public(health()))
	mux.Handle("/info", public(info()))
	states, assistants := states{s}, assistants{s}
	for pattern, m := range map[string]methods{
		"/threads/count":                             {"POST": s.countThreads},
		"/threads/{thread_id}/copy":                  {"POST": s.copyThread},
		"/threads/{thread_id}/history":               {"GET": states.list, "POST": states.search},
		"/threads/{thread_id}/state/checkpoint":      {"POST": states.findAt},
		"/threads/{thread_id}/state/{checkpoint_id}": {"GET": states.getAt},

		"/assistants/search":                   {"POST": assistants.search},
		"/assistants/count":                    {"POST": assistants.count},
		"/assistants/{assistant_id}":           {"GET": assistants.get},
		"/assistants/{assistant_id}/graph":     {"GET": assistants.graph},
		"/assistants/{assistant_id}/schemas":   {"GET": assistants.schemas},
		"/assistants/{assistant_id}/subgraphs": {"GET": assistants.subgraphs},

		"/assistants":                         unsupported(noAssistants),
		"/assistants/{assistant_id}/versions": unsupported(noAssistants),
		"/assistants/{assistant_id}/latest":   unsupported(noAssistants),
		"/threads/prune":                      unsupported(noPruning),
		"/threads/{thread_id}/runs/crons":     unsupported(noCrons),
		"/runs/crons":                         unsupported(noCrons),
		"/runs/crons/{cron_id}":               unsupported(noCrons),
		"/store/{rest...}":                    unsupported(noStore),

		"/threads":                                {"GET": s.listThreads, "POST": s.createThread},
		"/threads/search":                         {"POST": s.searchThreads},
		"/threads/{thread_id}":                    {"GET": s.getThread, "PATCH": s.patchThread, "DELETE": s.deleteThread},
		"/threads/{thread_id}/state":              {"GET": states.get, "POST": states.update},
		"/threads/{thread_id}/runs":               {"GET": s.listRuns, "POST": s.createRun},
		"/threads/{thread_id}/runs/{run_id}":      {"GET": s.getRun, "DELETE": s.deleteRun},
		"/threads/{thread_id}/runs/{run_id}/join": {"GET": s.joinRun},

		"/threads/{thread_id}/runs/wait":            {"POST": s.waitRun},
		"/threads/{thread_id}/runs/stream":          {"POST": s.streamRun},
		"/threads/{thread_id}/runs/{run_id}/stream": {"GET": s.joinStream},
		"/threads/{thread_id}/runs/{run_id}/cancel": {"POST": s.cancelRun},
		"/runs":        {"POST": s.createRun},
		"/runs/wait":   {"POST": s.waitRun},
		"/runs/stream": {"POST": s.streamRun},
		"/runs/batch":  {"POST": s.createBatch},
		"/runs/cancel": {"POST": s.cancelRuns},
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
	since   time.Time // when it began to be served

	maxState int
}

func newRevision(app *App, env map[string]string, opts Options) *revision {
	return &revision{
		app: app, env: env, secrets: secretsOf(env), limits: opts.Limits, log: opts.Log, maxState: opts.MaxState,
		since: time.Now().UTC(),
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
