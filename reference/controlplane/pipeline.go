package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
)

// The pipeline brings revisions from CREATING to DEPLOYED (interface, section 3), by real work:
//
//	CREATING         resolve the source to exact content     else CREATE_FAILED
//	QUEUED           wait for the deployment's worker
//	AWAITING_BUILD
//	BUILDING         fetch the content, load the graphs      else BUILD_FAILED
//	AWAITING_DEPLOY
//	DEPLOYING        put the new agent server in service     else DEPLOY_FAILED
//	DEPLOYED
//
// The store is the only truth: a worker looks there for what its deployment needs, and does it. That is why a restart
// needs nothing special, and a status is never taken back. Only the newest revision of a deployment is worked on: an
// older one that was still waiting becomes SKIPPED, one that was being built INTERRUPTED. Putting in service is not
// interrupted: it is short, and an agent server without all of its graphs is of no use.

// worker does the work of one deployment.
type worker struct {
	interrupt context.CancelFunc // of all that comes before the new agent server is put in service
	done      chan struct{}
}

// wake has the deployment's worker look at the store. One that is at work is interrupted, and another follows it.
func (s *Server) wake(deploymentID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	before := s.workers[deploymentID]
	ctx, interrupt := context.WithCancel(s.ctx)
	w := &worker{interrupt, make(chan struct{})}
	s.workers[deploymentID] = w
	s.work.Go(func() {
		defer close(w.done)
		defer interrupt()
		if before != nil {
			before.interrupt()
			<-before.done
		}
		if err := s.look(ctx, deploymentID); err != nil && ctx.Err() == nil {
			s.opts.Log.Error("work on a deployment failed", "deployment", deploymentID, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.workers[deploymentID] == w {
			delete(s.workers, deploymentID)
		}
	})
}

// Close stops all work and waits until it has stopped. What was in progress stays as it is in the store.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// Recover takes up what an earlier process left: it puts in service what was in service, and returns when that
// serves; revisions and removals that were in progress go on in the background. A deployment that cannot be put in
// service again is logged and left out: it must not keep the others from serving.
func (s *Server) Recover(ctx context.Context) error {
	var all []Deployment
	err := s.view(func(t tables) (err error) {
		all, err = store.Cut(store.Newest[Deployment](t.deployments, ""), store.Everything, store.Any)
		return err
	})
	if err != nil {
		return fmt.Errorf("look for revisions in progress: %w", err)
	}
	var serving sync.WaitGroup
	for _, d := range all {
		serving.Go(func() {
			if !d.Deleted && d.ActiveRevisionID != nil {
				if err := s.serveAgain(ctx, d); err != nil {
					s.opts.Log.Error("could not be put in service again", "deployment", d.ID, "error", err)
				}
			}
			s.wake(d.ID)
		})
	}
	serving.Wait()
	return ctx.Err()
}

// serveAgain puts the revision in service that was in service before the restart.
func (s *Server) serveAgain(ctx context.Context, d Deployment) error {
	var active Revision
	err := s.view(func(t tables) (err error) {
		active, err = t.revision(d.ID, *d.ActiveRevisionID)
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stageTimeout)
	defer cancel()
	build, err := s.build(ctx, active)
	if err != nil {
		return err
	}
	return s.opts.Runtime.Deploy(ctx, d.Tenant, d.ID, build, d.Env)
}

// stageTimeout bounds one piece of work.
const stageTimeout = time.Minute

// look reads from the store what is to be done, and does it.
func (s *Server) look(ctx context.Context, id string) error {
	var d Deployment
	var unsettled []Revision
	err := s.update(func(t tables) (err error) {
		if d, err = t.find(id); err != nil || d.Deleted {
			return err
		}
		unsettled, err = store.Cut(store.Newest[Revision](t.revisions, id), store.Everything, Revision.unsettled)
		for i := 1; i < len(unsettled) && err == nil; i++ {
			old, status, message := &unsettled[i], Skipped, "A newer revision came before this one was deployed."
			if old.Status == Building || old.Status == Deploying {
				status, message = Interrupted, "A newer revision came while this one was being worked on."
			}
			err = s.record(t, old, status, message)
		}
		return err
	})
	switch {
	case errors.Is(err, errNoDeployment):
		return nil
	case err == nil && d.Deleted:
		return s.remove(id)
	case err == nil && len(unsettled) > 0:
		return s.bring(ctx, d, &unsettled[0])
	}
	return err
}

// remove takes a deleted deployment out of service and forgets it, in this order: a crash in between leaves it in
// the store, to be removed at the next start.
func (s *Server) remove(id string) error {
	if err := s.opts.Runtime.Remove(s.ctx, id); err != nil {
		return err
	}
	return s.update(func(t tables) error {
		return errors.Join(t.deployments.Delete([]byte(id)), store.Delete(t.revisions, id, store.Any[Revision]))
	})
}

// bring brings a revision to its end, unless it is interrupted: whoever looks next decides what becomes of it.
func (s *Server) bring(ctx context.Context, d Deployment, r *Revision) error {
	var build Build
	for _, stage := range []struct {
		status, failed Status
		do             func(context.Context) error
	}{
		{Creating, CreateFailed, func(ctx context.Context) error { return s.resolve(ctx, r) }},
		{status: Queued},
		{status: AwaitingBuild},
		{Building, BuildFailed, func(ctx context.Context) (err error) {
			build, err = s.build(ctx, *r)
			return err
		}},
		{status: AwaitingDeploy},
		{Deploying, DeployFailed, func(ctx context.Context) error {
			return s.opts.Runtime.Deploy(ctx, d.Tenant, d.ID, build, d.Env)
		}},
	} {
		if ctx.Err() != nil {
			return nil
		}
		if stage.status == AwaitingDeploy {
			ctx = s.ctx
		}
		if err := s.pass(r, stage.status); err != nil {
			return err
		}
		var failure error
		if stage.do != nil {
			limited, cancel := context.WithTimeout(ctx, stageTimeout)
			failure = stage.do(limited)
			cancel()
		}
		s.pause(ctx)
		if failure != nil && ctx.Err() == nil {
			return s.update(func(t tables) error { return s.record(t, r, stage.failed, failure.Error()) })
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.pass(r, Deployed)
}

// pass stores a status on the way, unless the revision was there already before a restart.
func (s *Server) pass(r *Revision, status Status) error {
	if at := slices.Index(onTheWay, status); at >= 0 && at <= slices.Index(onTheWay, r.Status) {
		return nil
	}
	return s.update(func(t tables) error { return s.record(t, r, status, "") })
}

const longestMessage = 2000

// record stores a status. With DEPLOYED the revision is the one in service.
func (s *Server) record(t tables, r *Revision, status Status, message string) error {
	r.Status, r.UpdatedAt = status, s.opts.Store.Now()
	if message != "" {
		if runes := []rune(message); len(runes) > longestMessage {
			message = string(runes[:longestMessage]) + "…"
		}
		r.StatusMessage = &message
	}
	if status != Deployed {
		return store.Put(t.revisions, r.DeploymentID+r.ID, r)
	}
	d, err := t.find(r.DeploymentID)
	if err != nil {
		return err
	}
	d.ActiveRevisionID, d.UpdatedAt = &r.ID, r.UpdatedAt
	return t.put(d, r)
}

// pause waits for the pace.
func (s *Server) pause(ctx context.Context) {
	select {
	case <-time.After(s.opts.Pace):
	case <-ctx.Done():
	}
}

// resolve finds out which exact content a revision is built from.
func (s *Server) resolve(ctx context.Context, r *Revision) (err error) {
	if r.Content != "" {
		return nil
	}
	r.Content, err = s.opts.Sources.Resolve(ctx, origin(*r))
	if commit, is := strings.CutPrefix(r.Content, source.Commit); is {
		r.SourceRevisionConfig.RepoCommitSHA = &commit
	}
	return err
}

func origin(r Revision) source.Origin {
	o := source.Origin{RepoURL: r.RepoURL}
	if r.SourceRevisionConfig.RepoRef != nil {
		o.Ref = *r.SourceRevisionConfig.RepoRef
	}
	if r.SourceRevisionConfig.ImageURI != nil {
		o.ImageURI = *r.SourceRevisionConfig.ImageURI
	}
	return o
}

// defaultConfigPath is the graph configuration file where none is named.
const defaultConfigPath = "agent.json"

// build builds a resolved revision. Its content is kept: after a restart the place that it came from may be gone.
func (s *Server) build(ctx context.Context, r Revision) (Build, error) {
	var archive source.Archive
	err := s.view(func(t tables) error {
		archive = bytes.Clone(t.snapshots.Get([]byte(r.Content)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if archive == nil {
		if archive, err = s.opts.Sources.Fetch(ctx, origin(r), r.Content); err != nil {
			return nil, err
		}
		err := s.update(func(t tables) error { return t.snapshots.Put([]byte(r.Content), archive) })
		if err != nil {
			return nil, fmt.Errorf("keep the snapshot of the source: %w", err)
		}
	}
	tree, err := archive.Open()
	if err != nil {
		return nil, err
	}
	configPath := defaultConfigPath
	if r.SourceRevisionConfig.GraphConfigPath != nil {
		configPath = *r.SourceRevisionConfig.GraphConfigPath
	}
	return s.opts.Runtime.Build(ctx, tree, configPath)
}
