package reference

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/store"
)

// Options says what to start. The zero value is a cloud edition on a free loopback port, whose data dies with it.
type Options struct {
	Listen    string        // "127.0.0.1:0" by default
	DataDir   string        // where data is kept; a temporary folder, removed by Close, when empty
	Edition   string        // "cloud", the default, or "self-hosted"
	Pace      time.Duration // how long a revision stays in each status at least
	PublicURL string        // how clients reach Listen, where that differs
	BodyTime  time.Duration // how long the body of a request may take; half a minute by default
	Limits    store.Limits  // what is kept of one tenant at most; many thousands by default

	Log *slog.Logger     // none by default
	Now func() time.Time // time.Now by default

	// What follows wraps the parts, for those who want to change their behaviour from outside. Nil leaves a part as
	// it is.
	WrapHTTP     func(http.Handler) http.Handler // around everything that is served
	WrapStore    func(controlplane.Store) controlplane.Store
	WrapPipeline func(controlplane.Pipeline) controlplane.Pipeline
	WrapRuntime  func(controlplane.Runtime) controlplane.Runtime
	WrapGraph    func(source string) string // changes graph.star of the built-in agent server
	WrapAgent    func(*agentserver.Options) // changes the options with which each agent server is made
	WrapFixtures func(*fixtures.Set)        // changes what a harness is told, where what wraps the rest needs it
}

func (o *Options) setDefaults() {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.Edition = cmp.Or(o.Edition, string(controlplane.Cloud))
	o.BodyTime = cmp.Or(o.BodyTime, 30*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Now == nil {
		o.Now = time.Now
	}
}

// wrapped applies a wrapper, if there is one.
func wrapped[T any](part T, wrap func(T) T) T {
	if wrap == nil {
		return part
	}
	return wrap(part)
}
