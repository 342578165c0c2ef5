package agentserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/script"
)

// revision is an App with the secrets of a deployment: what requests and runs are served with until the next Swap.
type revision struct {
	app     *App
	env     map[string]string // of the deployment; wins over the environment file
	secrets []string
	limits  script.Limits
	pool    *script.Pool
	log     *slog.Logger

	maxState int
}

func newRevision(app *App, env map[string]string, opts Options) *revision {
	return &revision{
		app: app, env: env, secrets: secretsOf(env), limits: opts.Limits, pool: opts.Pool, log: opts.Log, maxState: opts.MaxState,
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
		Limits: limits, Pool: r.pool, Env: r.lookup,
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
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) }) // a secret within another one must not hide it
	return slices.Compact(out)
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
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, s, "[secret]")
	}
	return text
}
