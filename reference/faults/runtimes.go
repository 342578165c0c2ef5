package faults

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

// running wraps the runtime of the reference.
func running(wrap func(controlplane.Runtime) controlplane.Runtime) Layer {
	return func(o *reference.Options) {
		inner := o.WrapRuntime
		o.WrapRuntime = func(r controlplane.Runtime) controlplane.Runtime {
			if inner != nil {
				r = inner(r)
			}
			return wrap(r)
		}
	}
}

// builtinAgent is the deployment id of the built-in agent server. No fault changes it.
const builtinAgent = "conformance"

// deploying fails the n-th start (from 1) of an agent server if the condition holds.
func deploying(fails func(n int) bool) Layer {
	return running(func(r controlplane.Runtime) controlplane.Runtime {
		return &failingRuntime{Runtime: r, fails: fails, times: map[string]int{}}
	})
}

type failingRuntime struct {
	controlplane.Runtime
	fails func(n int) bool

	mu    sync.Mutex
	times map[string]int // by deployment
}

func (f *failingRuntime) Deploy(ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
	f.mu.Lock()
	f.times[id]++
	n := f.times[id]
	f.mu.Unlock()
	if id != builtinAgent && f.fails(n) {
		return errors.New("address already in use")
	}
	return f.Runtime.Deploy(ctx, id, b, env)
}

// lastGoodBuild replaces a failed build with the last successful one.
func lastGoodBuild() Layer {
	return running(func(r controlplane.Runtime) controlplane.Runtime { return &forgivingRuntime{Runtime: r} })
}

type forgivingRuntime struct {
	controlplane.Runtime

	mu   sync.Mutex
	last controlplane.Build
}

func (f *forgivingRuntime) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	b, err := f.Runtime.Build(ctx, tree, configPath)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && f.last != nil {
		return f.last, nil
	}
	f.last = b
	return b, err
}
