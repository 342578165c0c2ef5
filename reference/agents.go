package reference

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"sync"
	"testing/fstest"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"go.etcd.io/bbolt"
)

// conformanceMaterial is made once: it takes a while, and never changes.
var conformanceMaterial = sync.OnceValues(func() (*fixtures.Material, error) { return fixtures.Build(graphFiles()) })

func graphFiles() fs.FS {
	return fstest.MapFS{
		"conformance/agent.json":       {Data: []byte(`{"graphs":{"conformance":"graph.star:agent"}}`)},
		"conformance/alternative.json": {Data: []byte(`{"graphs":{"conformance":"graph.star:agent"}}`)},
		"conformance/graph.star":       {Data: []byte("agent = 1\n")},
		"conformance_next/graph.star":  {Data: []byte("agent = 2\n")},
		"broken/agent.json":            {Data: []byte("{")},
	}
}

// agents runs agent servers.
type agents struct {
	mu      sync.Mutex
	serving map[string]http.Handler
}

func newAgents(*bbolt.DB, *slog.Logger) *agents { return &agents{serving: map[string]http.Handler{}} }

type build struct{ names []string }

func (b build) GraphNames() []string { return b.names }

func (a *agents) Build(_ context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	text, err := fs.ReadFile(tree, configPath)
	if err != nil {
		return nil, err
	}
	var config struct{ Graphs map[string]string }
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configPath, err)
	}
	var b build
	for name := range config.Graphs {
		b.names = append(b.names, name)
	}
	return b, nil
}

func (a *agents) Deploy(_ context.Context, id string, _ controlplane.Build, _ map[string]string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving[id] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeDetail(w, 404, "Not Found") })
	return nil
}

func (a *agents) Remove(_ context.Context, id string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.serving, id)
	return nil
}

func (a *agents) Handler(id string) http.Handler {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serving[id]
}

func (a *agents) close() error { return nil }

func deployStanding(ctx context.Context, runtime controlplane.Runtime, secrets fixtures.Secrets) error {
	files, err := fs.Sub(graphFiles(), "conformance")
	if err != nil {
		return err
	}
	b, err := runtime.Build(ctx, files, fixtures.GraphConfigPath)
	if err != nil {
		return fmt.Errorf("build the standing agent server: %w", err)
	}
	env, err := secrets.Env()
	if err != nil {
		return err
	}
	return runtime.Deploy(ctx, standing, b, env)
}

func discardingLog() *log.Logger { return slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) }
