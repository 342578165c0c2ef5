package agentserver

import (
	"cmp"
	"log/slog"
	"maps"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/script"
)

// Options configure a Server. The zero value works.
type Options struct {
	Log    *slog.Logger  // nil: nothing is logged
	Limits script.Limits // of one run; Limits.Time is how long it may take

	DefaultStrategy string                      // for runs that name none; empty: DefaultStrategy
	Strategies      map[string]threads.Strategy // replace or add to Strategies()

	JoinTimeout time.Duration // after which a join gives up, with 503; 0: an hour
	MaxBody     int64         // bytes of a request; 0: 1 MiB
	MaxRuns     int           // unfinished runs at a time, beyond which 503 is answered; 0: 20,000
	KeptThreads int           // threads that are kept, beyond which 409 is answered; 0: 100,000
	KeptRuns    int           // runs that are kept; 0: 500,000
	MaxState    int           // bytes of the messages of one thread; 0: 16 MiB
	Workers     int           // runs at a time, all threads together; more of them stay pending; 0: no limit

	// Owner is the identity of all requests where there is neither a handler nor APIKeyOwner.
	Owner string
	// APIKeyOwner tells whose the API key in X-Api-Key is. With it, a server without a handler asks for a key, and
	// requests of the visual development environment (X-Auth-Scheme: studio) are accepted with one.
	APIKeyOwner func(key string) (identity string, ok bool)

	// WrapAuthorizer decorates the authorization handler: it sees everything that passes, and may change it.
	WrapAuthorizer func(Authorizer) Authorizer
	// GraphConfig changes what graphs get under "configurable".
	GraphConfig func(configurable map[string]any)
}

func (o Options) withDefaults() Options {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.DefaultStrategy = cmp.Or(o.DefaultStrategy, DefaultStrategy)
	all := Strategies()
	maps.Copy(all, o.Strategies)
	o.Strategies = all
	o.JoinTimeout = cmp.Or(o.JoinTimeout, time.Hour)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxRuns = cmp.Or(o.MaxRuns, 20_000)
	o.MaxState = cmp.Or(o.MaxState, 16<<20)
	o.Owner = cmp.Or(o.Owner, "owner")
	if o.WrapAuthorizer == nil {
		o.WrapAuthorizer = func(a Authorizer) Authorizer { return a }
	}
	if o.GraphConfig == nil {
		o.GraphConfig = func(map[string]any) {}
	}
	return o
}

// Strategies are the multitask strategies by name.
func Strategies() map[string]threads.Strategy {
	return map[string]threads.Strategy{
		"reject":    reject,
		"enqueue":   enqueue,
		"interrupt": interrupt,
		"rollback":  rollback,
	}
}

// DefaultStrategy is used for a run that names none.
const DefaultStrategy = "enqueue"

// maxQueue bounds how many runs may wait on one thread.
const maxQueue = 1000

func reject(unfinished []threads.Run) threads.Plan {
	if len(unfinished) > 0 {
		return threads.Plan{Refuse: "the thread has a run in progress: wait for it, or choose another multitask_strategy"}
	}
	return threads.Plan{}
}

// enqueue leaves everything as it is: the engine runs the new run when those before it have ended.
func enqueue(unfinished []threads.Run) threads.Plan {
	if len(unfinished) >= maxQueue {
		return threads.Plan{Refuse: "too many runs wait on the thread: wait for some of them"}
	}
	return threads.Plan{}
}

func interrupt(unfinished []threads.Run) threads.Plan {
	return threads.Plan{Interrupt: ids(unfinished)}
}

func rollback(unfinished []threads.Run) threads.Plan { return threads.Plan{Delete: ids(unfinished)} }

func ids(runs []threads.Run) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.ID
	}
	return out
}
