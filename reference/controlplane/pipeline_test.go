package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// toyRuntime builds the text of the configuration file. Its hooks, where set, may fail or wait.
type toyRuntime struct {
	onBuild  func(ctx context.Context) error
	onDeploy func(env map[string]string) error

	mu      sync.Mutex
	serving map[string]string // what is served, by deployment
}

func (t *toyRuntime) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	if t.onBuild != nil {
		if err := t.onBuild(ctx); err != nil {
			return nil, err
		}
	}
	text, err := fs.ReadFile(tree, configPath)
	if string(text) == "broken" {
		err = errors.New(configPath + " is broken")
	}
	return string(text), err
}

func (t *toyRuntime) Deploy(_ context.Context, _, id string, b controlplane.Build, env map[string]string) error {
	if t.onDeploy != nil {
		if err := t.onDeploy(env); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serving[id] = b.(string)
	return nil
}

func (t *toyRuntime) Remove(_ context.Context, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.serving, id)
	return nil
}

func (t *toyRuntime) answer(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.serving[id]
}

var material = sync.OnceValues(func() (*fixtures.Material, error) {
	return fixtures.Build(fstest.MapFS{
		"conformance/agent.json": {Data: []byte("main")}, "conformance_next/agent.json": {Data: []byte("next")},
		"broken/agent.json": {Data: []byte("broken")},
	})
})

// working is a rig whose pipeline works on sources that are there.
type working struct {
	*rig
	at fixtures.Place
}

func newWorking(t *testing.T, edition controlplane.Edition, configure ...func(*controlplane.Options)) *working {
	t.Helper()
	m, err := material()
	require.NoError(t, err)
	host, err := m.Serve("127.0.0.1:0", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	without := func(o *controlplane.Options) { o.Pace = 0 }
	return &working{newRig(t, edition, append([]func(*controlplane.Options){without}, configure...)...), host.Place()}
}

func (w *working) git(ref string) (id, revision string) {
	return w.create(fmt.Sprintf(`{"name":"d","source":"git_host","source_config":{"repo_url":%q},
		"source_revision_config":{"repo_ref":%q},"secrets":[{"name":"S","value":"1"}]}`, w.at.RepoURL, ref))
}

func (w *working) update(id, ref string) (revision string) {
	w.t.Helper()
	return w.want(200, "PATCH", "/v2/deployments/"+id, patch(fmt.Sprintf(`{"repo_ref":%q}`, ref))).Get("latest_revision_id").String()
}

// await waits until a revision has a status, and returns its message.
func (w *working) await(id, revision string, status controlplane.Status) (message string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		r := w.want(200, "GET", "/v2/deployments/"+id+"/revisions/"+revision, "")
		message = r.Get("status_message").String()
		return r.Get("status").String() == string(status)
	}, watchdog, time.Millisecond, "want %s", status)
	return message
}

func TestAFailureEndsWhereItHappensAndSaysWhy(t *testing.T) {
	cloud, own := newWorking(t, controlplane.Cloud), newWorking(t, controlplane.SelfHosted)
	git := func(repo, config string) string {
		return fmt.Sprintf(`{"name":"d","source":"git_host","source_config":{"repo_url":%q},"source_revision_config":%s}`, repo, config)
	}
	image := func(tag string) string {
		return fmt.Sprintf(`{"name":"d","source":"external_container","source_revision_config":{"image_uri":"%s/conformance:%s"}}`,
			own.at.Registry, tag)
	}
	for name, c := range map[string]struct {
		w      *working
		body   string
		status controlplane.Status
		why    string
	}{
		"missing ref":        {cloud, git(cloud.at.RepoURL, `{"repo_ref":"missing"}`), controlplane.CreateFailed, "no ref refs/heads/missing"},
		"missing repository": {cloud, git("/nowhere", `{}`), controlplane.CreateFailed, "/nowhere"},
		"missing image":      {own, image("v9"), controlplane.CreateFailed, "conformance:v9"},
		"broken branch":      {cloud, git(cloud.at.RepoURL, `{"repo_ref":"broken"}`), controlplane.BuildFailed, "agent.json"},
		"broken image":       {own, image("broken"), controlplane.BuildFailed, "agent.json"},
		"missing config":     {cloud, git(cloud.at.RepoURL, `{"graph_config_path":"nowhere.json"}`), controlplane.BuildFailed, "nowhere.json"},
	} {
		t.Run(name, func(t *testing.T) {
			id, revision := c.w.create(c.body)
			require.Contains(t, c.w.await(id, revision, c.status), c.why)
			require.Empty(t, c.w.runtime.answer(id))
		})
	}
}

func TestTheOldAgentServerServesUntilTheNewOneIsUp(t *testing.T) {
	w := newWorking(t, controlplane.Cloud)
	var refuse bool
	w.runtime.onDeploy = func(env map[string]string) error {
		if env["S"] != "1" || refuse {
			return errors.New("the port is on fire")
		}
		return nil
	}
	id, first := w.git("main")
	w.await(id, first, controlplane.Deployed)
	w.await(id, w.update(id, "broken"), controlplane.BuildFailed)
	require.Equal(t, "main", w.runtime.answer(id))
	refuse = true
	require.Equal(t, "the port is on fire", w.await(id, w.update(id, "release/next"), controlplane.DeployFailed))
	require.Equal(t, "main", w.runtime.answer(id))
	require.Equal(t, first, w.want(200, "GET", "/v2/deployments/"+id, "").Get("active_revision_id").String())
	refuse = false
	w.await(id, w.update(id, "release/next"), controlplane.Deployed)
	require.Equal(t, "next", w.runtime.answer(id))
	w.await(id, first, controlplane.Deployed) // what was deployed stays so
}

// block makes builds wait until the test lets them go, or they are interrupted.
func (w *working) block() (started chan struct{}, release func()) {
	started, released := make(chan struct{}, 1), make(chan struct{})
	w.runtime.onBuild = func(ctx context.Context) error {
		select {
		case started <- struct{}{}:
		default:
		}
		select {
		case <-released:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return started, func() { close(released) }
}

func TestANewerRevisionInterruptsABuildAndSkipsWhatWaits(t *testing.T) {
	w := newWorking(t, controlplane.Cloud)
	started, release := w.block()
	id, building := w.git("main")
	<-started
	newer := w.update(id, "release/next")
	require.NotEmpty(t, w.await(id, building, controlplane.Interrupted))
	release()
	w.await(id, newer, controlplane.Deployed)
	require.Equal(t, "next", w.runtime.answer(id))

	w = newWorking(t, controlplane.Cloud, func(o *controlplane.Options) { o.Pace = time.Hour })
	id, waiting := w.git("main")
	w.update(id, "release/next")
	require.NotEmpty(t, w.await(id, waiting, controlplane.Skipped))
}

func TestADeletedDeploymentIsForgotten(t *testing.T) {
	w := newWorking(t, controlplane.Cloud)
	started, release := w.block()
	defer release()
	id, _ := w.git("main")
	<-started
	w.send("DELETE", "/v2/deployments/"+id, "")
	require.Eventually(t, func() bool { return w.kept("deployments")+w.kept("revisions") == 0 }, watchdog, time.Millisecond)
}

func (w *working) kept(bucket string) (n int) {
	require.NoError(w.t, w.opts.Store.View(func(tx *bbolt.Tx) error {
		n = tx.Bucket([]byte(bucket)).Stats().KeyN
		return nil
	}))
	return n
}

func TestThePaceHoldsEveryStatus(t *testing.T) {
	const pace = 20 * time.Millisecond
	w := newWorking(t, controlplane.Cloud, func(o *controlplane.Options) { o.Pace = pace })
	begin := time.Now()
	id, revision := w.git("main")
	w.await(id, revision, controlplane.Deployed)
	require.GreaterOrEqual(t, time.Since(begin), 6*pace)
}
