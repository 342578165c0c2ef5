package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
)

// working is a rig with existing sources, so that the pipeline can finish.
type working struct {
	*rig
	at fixtures.Place
}

func newWorking(t *testing.T, edition controlplane.Edition) *working {
	t.Helper()
	m, err := fixtures.Build(fstest.MapFS{
		"conformance/agent.json": {Data: []byte("main")}, "conformance_next/agent.json": {Data: []byte("next")},
		"broken/agent.json": {Data: []byte("broken")},
	}, fixtures.GraphConfigPath)
	require.NoError(t, err)
	host, err := m.Serve("127.0.0.1:0", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	return &working{newRig(t, edition, func(o *controlplane.Options) { o.Pace = 0 }), host.Place()}
}

func (w *working) git(ref string) (id, revision string) {
	return w.create(fmt.Sprintf(`{"name":"d","source":"git_host","source_config":{"repo_url":%q},
		"source_revision_config":{"repo_ref":%q},"secrets":[{"name":"S","value":"1"}]}`, w.at.RepoURL, ref))
}

func TestFailedRevisions(t *testing.T) {
	cloud, own := newWorking(t, controlplane.Cloud), newWorking(t, controlplane.SelfHosted)
	git := func(repo, config string) string {
		return fmt.Sprintf(`{"name":"d","source":"git_host","source_config":{"repo_url":%q},"source_revision_config":%s}`, repo, config)
	}
	image := func(tag string) string {
		return fmt.Sprintf(`{"name":"d","source":"external_container","source_revision_config":{"image_uri":"%s/conformance:%s"}}`,
			own.at.Registry, tag)
	}
	for _, c := range []struct {
		w      *working
		body   string
		status controlplane.Status
		why    string
	}{
		{cloud, git(cloud.at.RepoURL, `{"repo_ref":"missing"}`), controlplane.CreateFailed, "no ref refs/heads/missing"},
		{cloud, git("/nowhere", `{}`), controlplane.CreateFailed, "/nowhere"},
		{own, image("v9"), controlplane.CreateFailed, "conformance:v9"},
		{cloud, git(cloud.at.RepoURL, `{"repo_ref":"broken"}`), controlplane.BuildFailed, "agent.json"},
		{own, image("broken"), controlplane.BuildFailed, "agent.json"},
		{cloud, git(cloud.at.RepoURL, `{"graph_config_path":"nowhere.json"}`), controlplane.BuildFailed, "nowhere.json"},
	} {
		id, revision := c.w.create(c.body)
		require.Contains(t, c.w.await(id, revision, c.status), c.why)
	}
}

func TestOldAgentServerServesUntilNewOneIsUp(t *testing.T) {
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
	require.Equal(t, "main", w.servedBuild(id))
	refuse = true
	require.Equal(t, "the port is on fire", w.await(id, w.update(id, "release/next"), controlplane.DeployFailed))
	require.Equal(t, "main", w.servedBuild(id))
	require.Equal(t, first, w.want(200, "GET", "/v2/deployments/"+id, "").Get("active_revision_id").String())
	refuse = false
	w.await(id, w.update(id, "release/next"), controlplane.Deployed)
	require.Equal(t, "next", w.servedBuild(id))
	w.await(id, first, controlplane.Deployed) // a superseded revision remains DEPLOYED
}

// block makes builds wait until release is called or they are interrupted.
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

func TestNewerRevisionInterruptsBuildAndSkipsWaiting(t *testing.T) {
	w := newWorking(t, controlplane.Cloud)
	started, release := w.block()
	id, building := w.git("main")
	<-started
	newer := w.update(id, "release/next")
	require.NotEmpty(t, w.await(id, building, controlplane.Interrupted))
	release()
	w.await(id, newer, controlplane.Deployed)
	require.Equal(t, "next", w.servedBuild(id))

	waits := newRig(t, controlplane.Cloud)
	id, waiting := waits.create(gitBody)
	waits.update(id, "release/next")
	require.NotEmpty(t, waits.await(id, waiting, controlplane.Skipped))
}

func TestDeletedDeploymentIsRemoved(t *testing.T) {
	w := newWorking(t, controlplane.Cloud)
	started, release := w.block()
	defer release()
	id, revision := w.git("main")
	<-started
	at := "/v2/deployments/" + id
	w.want(204, "DELETE", at, "")
	w.want(404, "GET", at, "")
	w.want(404, "PATCH", at, `{"source_revision_config":{"repo_ref":"x"}}`)
	w.want(404, "DELETE", at, "")
	w.want(404, "GET", at+"/revisions", "")
	w.want(404, "GET", at+"/revisions/"+revision, "")
	require.Empty(t, w.want(200, "GET", "/v2/deployments", "").Get("resources").Array())
	require.Eventually(t, func() bool {
		kept := 0
		require.NoError(t, w.opts.Store.View(func(tx *bbolt.Tx) error {
			kept = tx.Bucket([]byte("deployments")).Stats().KeyN + tx.Bucket([]byte("revisions")).Stats().KeyN
			return nil
		}))
		return kept == 0
	}, watchdog, time.Millisecond)
}
