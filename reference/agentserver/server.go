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

// Options configure a Server. The zero value works.
type Options struct {
	Log         *slog.Logger  // nil: nothing is logged
	RunTime     time.Duration // how long one run may take; 0: 15 minutes
	JoinTimeout time.Duration // after which a join gives up, with 503; 0: an hour
	Workers     int           // runs at a time, all threads together; more of them stay pending; 0: no limit

	// APIKeyOwner tells whose the API key in X-Api-Key is. With it, a server without a handler asks for a key, and
	// requests of the visual development environment (X-Auth-Scheme: studio) are accepted with one.
	APIKeyOwner func(key string) (identity string, ok bool)

	Starts func(ctx context.Context, thread string) // is called before each run of a graph; nil means no call
}

// Server serves an App over HTTP. Its routes are relative to its root: /threads and so on (interface, section 4,
// "Agent server").
type Server struct {
	http.Handler
	opts   Options
	rev    atomic.Pointer[revision]
	store  *store.Store
	bucket []byte

	// The runs in progress.
	workers chan struct{}   // holds one item for each run that is executed; nil: any number
	base    context.Context // ends when the server stops
	stop    context.CancelCauseFunc
	scripts sync.WaitGroup

	// mu guards what follows. It is held from the question to the store until the queues are the same as in the store, so
	// that both change in the same order: the store writes one transaction at a time anyway.
	mu      sync.Mutex
	queues  map[string][]*execution // by thread: the unfinished runs; the first one runs, or is about to
	closing bool
}

// New opens the server's data in the named bucket and begins to serve the App. Environment variables are the secrets
// of the deployment. Runs that were in progress when the data was last used are ended: their scripts are gone.
//
// Close the server; the store is the caller's.
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
	if err := cmp.Or(s.open(), s.endUnfinished()); err != nil {
		return nil, fmt.Errorf("open the data of the agent server: %w", err)
	}
	s.Swap(app, env)
	s.Handler = s.routes()
	return s, nil
}

// Swap serves another App from now on: a new revision of the deployment. Runs in progress finish on the old one.
func (s *Server) Swap(app *App, env map[string]string) {
	s.rev.Store(&revision{app: app, env: env, secrets: secretsOf(env), log: s.opts.Log})
}

// Close stops the scripts of all runs, marks these as interrupted, and releases who waits. It gives up waiting for
// scripts when ctx ends.
func (s *Server) Close(ctx context.Context) (err error) {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.stop(errStopping)
	ended := make(chan struct{})
	go func() {
		s.scripts.Wait() // ends with the scripts, which are bounded
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

// call is a request whose caller is known, with the ids of its path.
type call struct {
	*http.Request
	user        User
	thread, run string
}

func (s *Server) routes() http.Handler {
	return httpapi.Routes{
		"/threads":                                  {"GET": s.as(s.listThreads), "POST": s.as(s.createThread)},
		"/threads/search":                           {"POST": s.as(s.searchThreads)},
		"/threads/{thread_id}":                      {"GET": s.as(s.getThread), "DELETE": s.as(s.deleteThread)},
		"/threads/{thread_id}/state":                {"GET": s.as(s.getState)},
		"/threads/{thread_id}/runs":                 {"GET": s.as(s.listRuns), "POST": s.as(s.createRun)},
		"/threads/{thread_id}/runs/{run_id}":        {"GET": s.as(s.getRun)},
		"/threads/{thread_id}/runs/{run_id}/join":   {"GET": s.as(s.joinRun)},
		"/threads/{thread_id}/runs/{run_id}/cancel": {"POST": s.as(s.cancelRun)},
	}.Handler(func(r *http.Request, err error) {
		text := s.rev.Load().redact(err.Error())
		s.opts.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", text)
	})
}

// as authenticates a request before anything else of it is looked at.
func (s *Server) as(operation func(*call) (status int, body any, err error)) httpapi.Endpoint {
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
		return operation(c)
	}
}

// revision is an App with the secrets of a deployment: what requests and runs are served with until the next Swap.
type revision struct {
	app     *App
	env     map[string]string // of the deployment; wins over the environment file
	secrets []string
	log     *slog.Logger
}

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

// minSecret is the length from which a value is taken for a secret: shorter ones occur in texts by chance.
const minSecret = 6

// secretsOf lists what must not appear in errors and logs: the values of the deployment's secrets, and what is
// inside of those that are JSON.
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

// longestFirst sorts secrets: one within another must not hide that.
func longestFirst(secrets []string) []string {
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
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

func (rev *revision) redact(text string) string { return redacted(text, rev.secrets) }

func redacted(text string, secrets []string) string {
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[secret]")
		}
	}
	return text
}
