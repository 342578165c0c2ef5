package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"testing/fstest"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// toyGraphs is what fixtures are made of for the toy runtime.
func toyGraphs() fs.FS {
	return fstest.MapFS{
		"conformance/agent.json":       {Data: []byte(`{"answer": "graph.txt"}`)},
		"conformance/alternative.json": {Data: []byte(`{"answer": "other.txt"}`)},
		"conformance/graph.txt":        {Data: []byte("main")},
		"conformance/other.txt":        {Data: []byte("alternative")},
		"conformance_next/graph.txt":   {Data: []byte("next")},
		"broken/agent.json":            {Data: []byte(`{"answer": `)},
	}
}

// toyRuntime implements controlplane.Runtime: its agent servers answer with the text of one file. The hooks, where set, are called first, and may fail or wait.
type toyRuntime struct {
	OnBuild  func(ctx context.Context) error
	OnDeploy func(ctx context.Context, env map[string]string) error

	mu      sync.Mutex
	serving map[string]toyBuild
}

var _ controlplane.Runtime = (*toyRuntime)(nil)

type toyBuild struct{ answer string }

func (toyBuild) GraphNames() []string { return []string{"toy"} }

// Build implements controlplane.Runtime.
func (t *toyRuntime) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	if t.OnBuild != nil {
		if err := t.OnBuild(ctx); err != nil {
			return nil, err
		}
	}
	text, err := fs.ReadFile(tree, configPath)
	if err != nil {
		return nil, fmt.Errorf("read the graph configuration: %w", err)
	}
	var config struct{ Answer string }
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("read the graph configuration %s: %w", configPath, err)
	}
	answer, err := fs.ReadFile(tree, config.Answer)
	if err != nil {
		return nil, err
	}
	return toyBuild{answer: string(answer)}, nil
}

// Deploy implements controlplane.Runtime.
func (t *toyRuntime) Deploy(ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
	if t.OnDeploy != nil {
		if err := t.OnDeploy(ctx, env); err != nil {
			return err
		}
	}
	built, ok := b.(toyBuild)
	if !ok {
		return errors.New("not a build of this runtime")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.serving == nil {
		t.serving = map[string]toyBuild{}
	}
	t.serving[id] = built
	return nil
}

// Remove implements controlplane.Runtime.
func (t *toyRuntime) Remove(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.serving, id)
	return nil
}

// Handler implements controlplane.Runtime.
func (t *toyRuntime) Handler(id string) http.Handler {
	t.mu.Lock()
	defer t.mu.Unlock()
	b, ok := t.serving[id]
	if !ok {
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, b.answer) })
}

// Answer returns what the agent server of a deployment answers, "" when there is none.
func (t *toyRuntime) Answer(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serving[id].answer
}
