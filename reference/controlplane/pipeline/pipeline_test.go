package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/controlplane/pipeline"
	"github.com/stretchr/testify/require"
)

// wayToDeployed is every status after CREATING, with which a revision is created.
var wayToDeployed = []controlplane.Status{controlplane.Queued, controlplane.AwaitingBuild, controlplane.Building,
	controlplane.AwaitingDeploy, controlplane.Deploying, controlplane.Deployed}

func TestAFailureEndsWhereItHappensAndSaysWhy(t *testing.T) {
	r := newRig(t, nil)
	nowhere := "nowhere.json"
	noConfig := r.git("main")
	noConfig.Config.GraphConfigPath = &nowhere
	elsewhere := r.git("main")
	elsewhere.RepoURL = "/nowhere"
	for name, c := range map[string]struct {
		first  controlplane.Revision
		status controlplane.Status
		why    string
	}{
		"missing ref":        {r.git("missing"), controlplane.CreateFailed, "no ref refs/heads/missing"},
		"missing tag":        {r.git("refs/tags/v9"), controlplane.CreateFailed, "no ref refs/tags/v9"},
		"missing repository": {elsewhere, controlplane.CreateFailed, "/nowhere"},
		"missing image":      {r.image("v9"), controlplane.CreateFailed, "conformance:v9"},
		"nothing":            {controlplane.Revision{}, controlplane.CreateFailed, "repo_url"},
		"broken branch":      {r.git("broken"), controlplane.BuildFailed, "agent.json"},
		"broken image":       {r.image("broken"), controlplane.BuildFailed, "agent.json"},
		"missing config":     {noConfig, controlplane.BuildFailed, nowhere},
	} {
		t.Run(name, func(t *testing.T) {
			d := r.create(c.first)
			r.await(d.LatestRevisionID, c.status)
			require.Contains(t, r.revision(d.Latest).Message, c.why)
			require.Empty(t, r.runtime.Answer(d.ID))
		})
	}
}

func TestTheOldAgentServerServesUntilTheNewOneIsUp(t *testing.T) {
	var refuse bool
	r := newRig(t, func(_ *pipeline.Options, runtime *toyRuntime) {
		runtime.OnDeploy = func(_ context.Context, env map[string]string) error {
			require.Equal(t, map[string]string{"S": "1"}, env)
			if refuse {
				return errors.New("the port is on fire")
			}
			return nil
		}
	})
	d := r.create(r.git("main"))
	r.await(d.LatestRevisionID, controlplane.Deployed)

	broken := r.update(d, r.git("broken"))
	r.await(broken.ID, controlplane.BuildFailed)
	require.Equal(t, "main", r.runtime.Answer(d.ID))

	refuse = true
	refused := r.update(d, r.git("next"))
	r.await(refused.ID, controlplane.DeployFailed)
	require.Equal(t, "the port is on fire", r.revision(refused).Message)
	require.Equal(t, "main", r.runtime.Answer(d.ID))
	stored, err := r.store.Deployment(t.Context(), "t", d.ID)
	require.NoError(t, err)
	require.Equal(t, d.LatestRevisionID, stored.ActiveRevisionID)

	refuse = false
	next := r.update(d, r.git("next"))
	r.await(next.ID, controlplane.Deployed)
	require.Equal(t, "next", r.runtime.Answer(d.ID))
	require.Equal(t, controlplane.Deployed, r.revision(d.Latest).Status, "what was deployed stays so")
}

// block makes builds wait until the test lets them go, or they are interrupted.
func block(started chan struct{}, release <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case started <- struct{}{}:
		default:
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestANewerRevisionInterruptsABuildAndSkipsWhatWaits(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	r := newRig(t, func(o *pipeline.Options, runtime *toyRuntime) {
		o.AtOnce = 1
		runtime.OnBuild = block(started, release)
	})
	holder := r.create(r.git("main")) // takes the only place
	<-started

	waiting := r.create(r.git("main"))
	r.await(waiting.LatestRevisionID, controlplane.AwaitingBuild)
	newer := r.update(waiting, r.git("next"))
	r.await(waiting.LatestRevisionID, controlplane.Skipped)

	second := r.update(holder, r.git("next"))
	r.await(holder.LatestRevisionID, controlplane.Interrupted)
	close(release)
	r.await(newer.ID, controlplane.Deployed)
	r.await(second.ID, controlplane.Deployed)
	require.Equal(t, "next", r.runtime.Answer(holder.ID))
	require.NotEmpty(t, r.revision(waiting.Latest).Message)
	require.NotContains(t, r.statuses(waiting.LatestRevisionID), controlplane.Building)
}

func TestNewsWithoutANewerRevisionTakesNothingBack(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	r := newRig(t, func(_ *pipeline.Options, runtime *toyRuntime) { runtime.OnBuild = block(started, release) })
	d := r.create(r.git("main"))
	<-started
	r.pipeline.Submit(d.ID)
	<-started // it was interrupted, and is being built again
	close(release)
	r.await(d.LatestRevisionID, controlplane.Deployed)
	require.Equal(t, wayToDeployed, r.statuses(d.LatestRevisionID))
}

func TestADeletedDeploymentIsForgotten(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	defer close(release)
	var r *rig
	purged := make(chan struct{})
	r = newRig(t, func(o *pipeline.Options, runtime *toyRuntime) {
		runtime.OnBuild = block(started, release)
		o.Store = purgeWatch{o.Store, purged}
	})
	d := r.create(r.git("main"))
	<-started
	_, err := r.store.UpdateDeployment(t.Context(), "t", d.ID, func(d *controlplane.Deployment) (*controlplane.Revision, error) {
		d.Deleted = true
		return nil, nil
	})
	require.NoError(t, err)
	r.pipeline.Remove(d.ID)
	select {
	case <-purged:
	case <-time.After(watchdog):
		require.FailNow(t, "the deployment was not forgotten")
	}
	all, err := r.store.All(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
}

type purgeWatch struct {
	pipeline.Store
	purged chan struct{}
}

func (p purgeWatch) Purge(ctx context.Context, id string) error {
	defer close(p.purged)
	return p.Store.Purge(ctx, id)
}

func TestAStoppedPipelineIsTakenUpAgain(t *testing.T) {
	started, release := make(chan struct{}, 1), make(chan struct{})
	r := newRig(t, nil)
	up := r.create(r.git("next"))
	r.await(up.LatestRevisionID, controlplane.Deployed)
	r.runtime.OnBuild = block(started, release)
	building := r.create(r.image("v1"))
	<-started
	removed := r.create(r.git("missing"))
	r.await(removed.LatestRevisionID, controlplane.CreateFailed)
	_, err := r.store.UpdateDeployment(t.Context(), "t", removed.ID, func(d *controlplane.Deployment) (*controlplane.Revision, error) {
		d.Deleted = true
		return nil, nil
	})
	require.NoError(t, err)
	r.pipeline.Close()
	require.Equal(t, controlplane.Building, r.revision(building.Latest).Status, "closing takes nothing back")
	require.NoError(t, r.runtime.Remove(t.Context(), up.ID))

	r.repo = "/gone" // what was in service does not depend on the place it came from
	r.runtime.OnBuild = nil
	r.start()
	require.NoError(t, r.pipeline.Recover(t.Context()))
	require.Equal(t, "next", r.runtime.Answer(up.ID), "serves when Recover returns")
	r.await(building.LatestRevisionID, controlplane.Deployed)
	require.Equal(t, wayToDeployed, r.statuses(building.LatestRevisionID))
	require.Eventually(t, func() bool {
		all, err := r.store.All(t.Context())
		return err == nil && len(all) == 2
	}, watchdog, time.Millisecond)
}

// TestThePaceHoldsEveryStatus: a revision stays in each status for the pace, and in a build that is done it keeps no other
// from building: with one place, all are seen building at once. A machine that is too slow for that gets a longer pace.
func TestThePaceHoldsEveryStatus(t *testing.T) {
	const deployments = 8
	most := 0
	for pace := 20 * time.Millisecond; most < deployments && pace < 2*time.Second; pace *= 4 {
		r := newRig(t, func(o *pipeline.Options, _ *toyRuntime) { o.Pace = pace; o.AtOnce = 1 })
		begin := time.Now()
		var ids []string
		for range deployments {
			ids = append(ids, r.create(r.git("main")).LatestRevisionID)
		}
		for _, id := range ids {
			r.await(id, controlplane.Deployed)
		}
		require.GreaterOrEqual(t, time.Since(begin), pace*time.Duration(len(wayToDeployed)))
		most = r.mostAtOnce(controlplane.Building)
	}
	require.Equal(t, deployments, most, "revisions that were in BUILDING at once")
}

// mostAtOnce is how many revisions had a status at the same time, at the most.
func (r *rig) mostAtOnce(status controlplane.Status) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, most := map[string]bool{}, 0
	for _, rev := range r.order {
		delete(now, rev.ID)
		if rev.Status == status {
			now[rev.ID] = true
		}
		most = max(most, len(now))
	}
	return most
}

// TestAStuckBuildIsGivenUp shortens the time of a stage when the build has begun, so that no earlier stage runs out of time.
func TestAStuckBuildIsGivenUp(t *testing.T) {
	started := make(chan struct{}, 1)
	r := newRig(t, func(_ *pipeline.Options, runtime *toyRuntime) { runtime.OnBuild = block(started, nil) })
	d := r.create(r.git("main"))
	<-started
	r.pipeline.Close()
	require.Equal(t, controlplane.Building, r.revision(d.Latest).Status)
	r.opts.StageTimeout = 50 * time.Millisecond
	r.start()
	require.NoError(t, r.pipeline.Recover(t.Context()))
	r.await(d.LatestRevisionID, controlplane.BuildFailed)
}
