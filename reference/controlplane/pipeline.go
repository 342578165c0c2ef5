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

// The pipeline processes revisions from CREATING to DEPLOYED (interface, section 3):
//
//	CREATING         resolve the source to exact content     on error: CREATE_FAILED
//	QUEUED           wait for the worker of the deployment
//	AWAITING_BUILD
//	BUILDING         fetch the content, load the graphs      on error: BUILD_FAILED
//	AWAITING_DEPLOY
//	DEPLOYING        start the new agent server              on error: DEPLOY_FAILED
//	DEPLOYED
//
// All state is in the store: a worker reads there what its deployment needs. After a restart, workers continue in the same
// way, and a status never moves back. Only the latest revision of a deployment is processed. An older revision that was
// waiting becomes SKIPPED, and one that was being built becomes INTERRUPTED. DEPLOYING is short and is never interrupted,
// because an agent server needs all of its graphs.

// worker processes one deployment.
type worker struct {
	interrupt context.CancelFunc // cancels all work before DEPLOYING
	done      chan struct{}
}

// wake starts a worker for a deployment. It first interrupts the current worker, if there is one, and waits for its end.
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
		if err := s.process(ctx, deploymentID); err != nil && ctx.Err() == nil {
			s.opts.Log.Error("processing a deployment failed", "deployment", deploymentID, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.workers[deploymentID] == w {
			delete(s.workers, deploymentID)
		}
	})
}

// Close stops all workers and waits until they have stopped. Revisions in progress keep their status in the store.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.work.Wait()
}

// Recover continues the work of an earlier process. It starts the agent servers that were in service and waits for them.
// Revisions and removals in progress continue in the background. If an agent server does not start, Recover logs the error,
// and the others are started.
func (s *Server) Recover(ctx context.Context) error {
	var all []Deployment
	err := s.view(func(t tables) (err error) {
		all, err = store.Cut(store.Newest[Deployment](t.deployments, ""), store.Everything, store.Any)
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the deployments: %w", err)
	}
	var serving sync.WaitGroup
	for _, d := range all {
		serving.Go(func() {
			if !d.Deleted && d.ActiveRevisionID != nil {
				if err := s.restart(ctx, d); err != nil {
					s.opts.Log.Error("starting an agent server again failed", "deployment", d.ID, "error", err)
				}
			}
			s.wake(d.ID)
		})
	}
	serving.Wait()
	return ctx.Err()
}

// restart starts the agent server of the active revision again.
func (s *Server) restart(ctx context.Context, d Deployment) error {
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

// stageTimeout is the time limit of one stage.
const stageTimeout = time.Minute

// process removes a deleted deployment, or processes the latest revision of a deployment. Older revisions in progress
// become SKIPPED or INTERRUPTED.
func (s *Server) process(ctx context.Context, id string) error {
	var d Deployment
	var unsettled []Revision
	err := s.update(func(t tables) (err error) {
		d, err = t.find(id)
		if err != nil || d.Deleted {
			return err
		}
		unsettled, err = store.Cut(store.Newest[Revision](t.revisions, id), store.Everything, Revision.unsettled)
		if err != nil || len(unsettled) == 0 {
			return err
		}
		return s.supersede(t, unsettled[1:])
	})
	switch {
	case errors.Is(err, errNoDeployment):
		return nil
	case err != nil:
		return err
	case d.Deleted:
		return s.remove(id)
	case len(unsettled) > 0:
		return s.deploy(ctx, d, &unsettled[0])
	}
	return nil
}

// supersede stores SKIPPED or INTERRUPTED as the status of older revisions.
func (s *Server) supersede(t tables, older []Revision) error {
	for i := range older {
		r, status, message := &older[i], Skipped, "A newer revision came before this one was deployed."
		if r.Status == Building || r.Status == Deploying {
			status, message = Interrupted, "A newer revision came while this one was being worked on."
		}
		if err := s.record(t, r, status, message); err != nil {
			return err
		}
	}
	return nil
}

// remove stops the agent server of a deleted deployment, and then deletes its records. After a crash in between, the next
// start removes the deployment.
func (s *Server) remove(id string) error {
	if err := s.opts.Runtime.Remove(s.ctx, id); err != nil {
		return err
	}
	return s.update(func(t tables) error {
		if err := t.deployments.Delete([]byte(id)); err != nil {
			return err
		}
		return store.Delete(t.revisions, id, store.Any[Revision])
	})
}

// deploy processes a revision until it is DEPLOYED or has failed. If it is interrupted, it stores no further status: the
// next worker decides about the revision.
func (s *Server) deploy(ctx context.Context, d Deployment, r *Revision) error {
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
		if err := s.enter(r, stage.status); err != nil {
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
	return s.enter(r, Deployed)
}

// enter stores a status, unless the revision had already reached it before a restart.
func (s *Server) enter(r *Revision, status Status) error {
	at := slices.Index(inProgress, status)
	if at >= 0 && at <= slices.Index(inProgress, r.Status) {
		return nil
	}
	return s.update(func(t tables) error { return s.record(t, r, status, "") })
}

// longestMessage is the maximum length of a status message, in characters.
const longestMessage = 2000

// record stores the status of a revision. A DEPLOYED revision becomes the active one.
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

// pause waits for the minimum duration of a status.
func (s *Server) pause(ctx context.Context) {
	select {
	case <-time.After(s.opts.Pace):
	case <-ctx.Done():
	}
}

// resolve stores the ID of the exact content of a revision.
func (s *Server) resolve(ctx context.Context, r *Revision) (err error) {
	if r.Content != "" {
		return nil
	}
	r.Content, err = s.opts.Sources.Resolve(ctx, origin(*r))
	if commit, ok := strings.CutPrefix(r.Content, source.Commit); ok {
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

// defaultConfigPath is the default path of the graph configuration file.
const defaultConfigPath = "agent.json"

// build builds a resolved revision. It stores the content, because the origin may be gone after a restart.
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
		archive, err = s.opts.Sources.Fetch(ctx, origin(r), r.Content)
		if err != nil {
			return nil, err
		}
		err = s.update(func(t tables) error { return t.snapshots.Put([]byte(r.Content), archive) })
		if err != nil {
			return nil, fmt.Errorf("storing the snapshot of the source: %w", err)
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
