package agentserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/script"
	"github.com/agentconform/agentconform/reference/store"
)

// Options are the options of a Server. The zero value is valid.
type Options struct {
	Log         *slog.Logger  // nil discards the log
	RunTime     time.Duration // the time limit of a run; 0 means 15 minutes
	JoinTimeout time.Duration // the time after which a join returns 503; 0 means an hour
	Workers     int           // the number of concurrent runs, while others are pending; 0 means no limit

	// APIKeyOwner returns the owner of the API key in X-Api-Key. If it is set, a server without a handler requires a key,
	// and requests of the visual development environment (X-Auth-Scheme: studio) are authenticated by a key.
	APIKeyOwner func(key string) (identity string, ok bool)

	Starts func(ctx context.Context, thread string) // called before each run of a graph; may be nil
}

// Server serves an App over HTTP, with paths such as /threads (interface, section 4, "Agent server").
type Server struct {
	http.Handler
	opts   Options
	rev    atomic.Pointer[revision]
	store  *store.Store
	bucket []byte

	// The runs in progress.
	workers chan struct{}   // contains an item for each run that is executed; nil means no limit
	base    context.Context // canceled when the server stops
	stop    context.CancelCauseFunc
	scripts sync.WaitGroup

	// mu guards the following fields. It is held during a transaction and until the queues are updated, so that the store
	// and the queues change in the same order. The store allows only one writing transaction at a time anyway.
	mu      sync.Mutex
	queues  map[string][]*execution // the unfinished runs by thread; the first one is executed
	closing bool
}

// New opens the data of the server in a bucket and serves the App. The environment variables are the secrets of the
// deployment. Runs that were in progress when the data was last used become interrupted.
//
// The caller must close the server, and the store after it.
func New(app *App, kept *store.Store, bucket string, env map[string]string, opts Options) (*Server, error) {
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.JoinTimeout = cmp.Or(opts.JoinTimeout, time.Hour)
	if opts.Starts == nil {
		opts.Starts = func(context.Context, string) {}
	}
	s := &Server{opts: opts, store: kept, bucket: []byte(bucket), queues: map[string][]*execution{}}
	if opts.Workers > 0 {
		s.workers = make(chan struct{}, opts.Workers)
	}
	s.base, s.stop = context.WithCancelCause(context.Background())
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("opening the data of the agent server: %w", err)
	}
	if err := s.endUnfinished(); err != nil {
		return nil, fmt.Errorf("ending the unfinished runs of the agent server: %w", err)
	}
	s.Swap(app, env)
	s.Handler = s.routes()
	return s, nil
}

// Swap replaces the App by that of a new revision. Runs in progress finish with the old one.
func (s *Server) Swap(app *App, env map[string]string) {
	s.rev.Store(&revision{app: app, env: env, secrets: secretsOf(env), log: s.opts.Log})
}

// Close stops the scripts of all runs, marks the runs as interrupted, and lets joins return. It waits for the scripts until
// ctx ends.
func (s *Server) Close(ctx context.Context) (err error) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stop(errStopping)
	ended := make(chan struct{})
	go func() {
		s.scripts.Wait() // returns, because scripts have a time limit
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range s.queues {
		for _, ex := range slices.Clone(queue) {
			s.release(ex, errStopping)
		}
	}
	return errors.Join(err, s.endUnfinished())
}

// DeleteData closes the server and deletes its threads, runs and messages.
func (s *Server) DeleteData() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(s.Close(ctx), s.store.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket(s.bucket) }))
}

// call is an authenticated request with the IDs of its path.
type call struct {
	*http.Request
	user        User
	thread, run string
}

func (s *Server) routes() http.Handler {
	return httpapi.Routes{
		"/threads":                                  {"GET": s.authenticated(s.listThreads), "POST": s.authenticated(s.createThread)},
		"/threads/search":                           {"POST": s.authenticated(s.searchThreads)},
		"/threads/{thread_id}":                      {"GET": s.authenticated(s.getThread), "DELETE": s.authenticated(s.deleteThread)},
		"/threads/{thread_id}/state":                {"GET": s.authenticated(s.getState)},
		"/threads/{thread_id}/runs":                 {"GET": s.authenticated(s.listRuns), "POST": s.authenticated(s.createRun)},
		"/threads/{thread_id}/runs/{run_id}":        {"GET": s.authenticated(s.getRun)},
		"/threads/{thread_id}/runs/{run_id}/join":   {"GET": s.authenticated(s.joinRun)},
		"/threads/{thread_id}/runs/{run_id}/cancel": {"POST": s.authenticated(s.cancelRun)},
	}.Handler(func(r *http.Request, err error) {
		text := s.rev.Load().redact(err.Error())
		s.opts.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", text)
	})
}

// operation serves an authenticated request.
type operation func(*call) (status int, body any, err error)

// authenticated returns an endpoint that authenticates the request before it checks the path and calls the operation.
func (s *Server) authenticated(do operation) httpapi.Endpoint {
	return func(r *http.Request) (int, any, error) {
		user, err := s.authenticate(r)
		if err != nil {
			return 0, nil, err
		}
		var form httpapi.Form
		c := &call{Request: r, user: user}
		if r.PathValue("thread_id") != "" {
			c.thread = form.PathUUID(r, "thread_id")
		}
		if r.PathValue("run_id") != "" {
			c.run = form.PathUUID(r, "run_id")
		}
		if err := form.Err(); err != nil {
			return 0, nil, err
		}
		return do(c)
	}
}

// revision is an App with the secrets of a deployment. Swap replaces it.
type revision struct {
	app     *App
	env     map[string]string // environment variables of the deployment; override the environment file
	secrets []string
	log     *slog.Logger
}

// session returns a session for a script of the App.
func (rev *revision) session(ctx context.Context, name string, limit time.Duration) *script.Session {
	return script.NewSession(ctx, name, script.Options{
		Time: limit,
		Env: func(name string) (string, bool) {
			if v, ok := rev.env[name]; ok {
				return v, true
			}
			v, ok := rev.app.env[name]
			return v, ok
		},
		Print: func(text string) { rev.log.Info("print", "script", name, "text", rev.redact(text)) },
	})
}

// minSecret is the minimum length of a secret. Shorter values occur in texts by chance.
const minSecret = 6

// secretsOf returns the texts that errors and logs must not contain: the values of the secrets, and the secrets inside of
// values that are JSON.
func secretsOf(env map[string]string) []string {
	var out []string
	for _, v := range env {
		out = append(out, v)
		var parsed any
		if json.Unmarshal([]byte(v), &parsed) == nil {
			out = append(out, secretsIn("", parsed)...)
		}
	}
	return longestFirst(out)
}

// longestFirst sorts secrets by length, so that a secret that contains another one is replaced first.
func longestFirst(secrets []string) []string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	return secrets
}

// secretsIn returns the strings of a value whose key looks like that of a secret.
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

// redact replaces the secrets of the deployment in a text.
func (rev *revision) redact(text string) string { return redacted(text, rev.secrets) }

// redacted replaces secrets in a text.
func redacted(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
