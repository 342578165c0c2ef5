package pipeline

import (
	"context"
	"fmt"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/source"
)

// mostBuilds bounds the builds that are kept for reuse.
const mostBuilds = 64

// builds keeps what was built, by the id of its content and the configuration file: the same content builds to the
// same agent server, however many deployments ask for it.
type builds struct {
	mu   sync.Mutex
	done map[buildKey]controlplane.Build
}

type buildKey struct{ content, configPath string }

func newBuilds() *builds { return &builds{done: map[buildKey]controlplane.Build{}} }

func (b *builds) get(key buildKey) controlplane.Build {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done[key]
}

func (b *builds) put(key buildKey, build controlplane.Build) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.done) >= mostBuilds {
		clear(b.done) // rare, and what is still needed is soon built again
	}
	b.done[key] = build
}

// build returns the build of a resolved revision.
func (p *Pipeline) build(ctx context.Context, r controlplane.Revision) (controlplane.Build, error) {
	key := buildKey{content: r.Content, configPath: p.opts.ConfigPath}
	if r.Config.GraphConfigPath != nil {
		key.configPath = *r.Config.GraphConfigPath
	}
	if build := p.builds.get(key); build != nil {
		return build, nil
	}
	archive, err := p.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	tree, err := archive.Open()
	if err != nil {
		return nil, err
	}
	build, err := p.opts.Runtime.Build(ctx, tree, key.configPath)
	if err != nil {
		return nil, err
	}
	p.builds.put(key, build)
	return build, nil
}

// snapshot returns a revision's content, and sees to it that it is there after a restart, when the place it came
// from may not be.
func (p *Pipeline) snapshot(ctx context.Context, r controlplane.Revision) (source.Archive, error) {
	saved, err := p.opts.Store.Snapshot(ctx, r.Content)
	if err != nil || saved != nil {
		return saved, err
	}
	version := source.Version{Content: r.Content}
	if r.Config.RepoCommitSHA != nil {
		version.CommitSHA = *r.Config.RepoCommitSHA
	}
	archive, err := p.opts.Sources.Fetch(ctx, origin(r), version)
	if err != nil {
		return nil, err
	}
	if err := p.opts.Store.SaveSnapshot(ctx, r.Content, archive); err != nil {
		return nil, fmt.Errorf("keep the snapshot of the source: %w", err)
	}
	return archive, nil
}
