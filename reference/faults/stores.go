package faults

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/controlplane"
)

// everything is a page with all revisions.
var everything = controlplane.Page{Limit: 1 << 30}

// storing wraps the store of the reference.
func storing(wrap func(controlplane.Store) controlplane.Store) Layer {
	return func(o *reference.Options) {
		inner := o.WrapStore
		o.WrapStore = func(s controlplane.Store) controlplane.Store {
			if inner != nil {
				s = inner(s)
			}
			return wrap(s)
		}
	}
}

// reading describes a revision that is read.
type reading struct {
	deployment controlplane.Deployment
	number     int // the first revision of a deployment is 1
}

// readings changes revisions in all reads, single or in a list. Lists are filtered by the changed values.
func readings(change func(of reading, r *controlplane.Revision)) Layer {
	return storing(func(s controlplane.Store) controlplane.Store { return readingStore{s, change} })
}

type readingStore struct {
	controlplane.Store
	change func(of reading, r *controlplane.Revision)
}

func (s readingStore) Revision(ctx context.Context, tenant, deploymentID, revisionID string) (controlplane.Revision, error) {
	all, err := s.all(ctx, tenant, deploymentID, nil)
	at := slices.IndexFunc(all, func(r controlplane.Revision) bool { return r.ID == revisionID })
	if err != nil || at < 0 {
		return s.Store.Revision(ctx, tenant, deploymentID, revisionID)
	}
	return all[at], nil
}

func (s readingStore) Revisions(ctx context.Context, tenant, deploymentID string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	all, err := s.all(ctx, tenant, deploymentID, f.RemoteReconciled)
	return cut(keep(all, f.Statuses), f.Page), err
}

func (s readingStore) all(ctx context.Context, tenant, deploymentID string, reconciled *bool) ([]controlplane.Revision, error) {
	d, err := s.Deployment(ctx, tenant, deploymentID)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Revisions(ctx, tenant, deploymentID, controlplane.RevisionFilter{RemoteReconciled: reconciled, Page: everything})
	for i := range all {
		s.change(reading{d, len(all) - i}, &all[i])
	}
	return all, err
}

// lists replaces list revisions, given all revisions of the deployment, newest first.
func lists(choose func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision) Layer {
	return storing(func(s controlplane.Store) controlplane.Store { return listStore{s, choose} })
}

type listStore struct {
	controlplane.Store
	choose func(all []controlplane.Revision, f controlplane.RevisionFilter) []controlplane.Revision
}

func (s listStore) Revisions(ctx context.Context, tenant, deploymentID string, f controlplane.RevisionFilter) ([]controlplane.Revision, error) {
	all, err := s.Store.Revisions(ctx, tenant, deploymentID, controlplane.RevisionFilter{RemoteReconciled: f.RemoteReconciled, Page: everything})
	if err != nil {
		return nil, err
	}
	return s.choose(all, f), nil
}

// keep returns the revisions with one of the statuses; all if statuses is nil.
func keep(all []controlplane.Revision, statuses []controlplane.Status) []controlplane.Revision {
	if statuses == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r controlplane.Revision) bool { return !slices.Contains(statuses, r.Status) })
}

// cut returns a page of a list.
func cut(all []controlplane.Revision, page controlplane.Page) []controlplane.Revision {
	from := min(max(page.Offset, 0), len(all))
	return all[from : from+min(page.Limit, len(all)-from)]
}

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
