package suite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// CleanUpTime bounds the removal of what a run created: the run must end also if the target does not answer.
const CleanUpTime = 30 * time.Second

// clean removes the run's deployments and threads where the target can, threads only when their runs have had their
// time: a server in the field loses a worker for good if the thread of the run that it executes is removed. What could
// not be removed, or is to be kept, stays in the ledger, with the reason. It also runs after an interrupt.
func (r *run) clean(ctx context.Context) {
	stays := r.unreachable
	if r.Keep {
		stays = "--keep was given"
	}
	if stays != "" {
		for _, e := range r.target.Ledger.Left(evidence.Deployment, evidence.Thread) {
			r.noteRemoval(ended(e, stays))
		}
		return
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), CleanUpTime,
		fmt.Errorf("cleaning up has ended after %s", CleanUpTime))
	defer cancel()
	ctx = evidence.WithScenario(ctx, "cleaning up", len(r.Catalogue.Scenarios())+1)
	x := &remover{target: r.target, plane: r.plane, report: r.noteRemoval}
	// What is removed with its deployment or thread is not there any more the second time.
	x.deployments(ctx, r.target.Ledger.Left(evidence.Deployment))
	if threads := r.target.Ledger.Left(evidence.Thread); len(threads) > 0 {
		_ = client.Sleep(ctx, min(time.Until(r.agents.RunsEnd()), CleanUpTime/2)) // if ctx ends, so does what follows
		x.threads(ctx, threads)
	}
}

// noteRemoval notes how the removal ended. If the line cannot be written, the ledger lists something that is removed
// already, which does no harm.
func (r *run) noteRemoval(e reports.LedgerEntry) { _ = r.target.Ledger.Tried(e) }

// ended is an entry with how its removal ended: the problem is empty if it was removed.
func ended(e reports.LedgerEntry, problem string) reports.LedgerEntry {
	e.Removed, e.Reason, e.Unremovable = problem == "", problem, false
	return e
}

// remover removes what runs have created, at the addresses of the entries: these must be allowed.
type remover struct {
	target *target.Target
	plane  *plane.Plane
	report func(reports.LedgerEntry) // called by many goroutines
	// Of entries that may come from anywhere, by deployment; nil for those of this run:
	gone  map[string]bool   // it was removed, and with it its threads
	named map[string]string // the agent server that the control plane names; empty: none
}

// deployments removes deployments of the configured control plane.
func (x *remover) deployments(ctx context.Context, all []reports.LedgerEntry) {
	var wait sync.WaitGroup
	for _, e := range all {
		wait.Go(func() {
			problem := x.target.Client.Down.Cause(x.target.Config.Target)
			if problem == "" {
				problem = x.plane.Remove(ctx, e.ID)
			}
			x.report(ended(e, problem))
		})
	}
	wait.Wait()
}

// threads removes threads, without the addresses at which nothing answers any more, or to which nothing is sent.
func (x *remover) threads(ctx context.Context, all []reports.LedgerEntry) {
	all = slices.DeleteFunc(all, func(e reports.LedgerEntry) bool {
		problem := ""
		if !x.gone[e.Deployment] {
			problem = cmp.Or(x.target.Client.Down.Cause(e.Address), x.refused(ctx, e))
		}
		isOver := x.gone[e.Deployment] || problem != ""
		if isOver {
			x.report(ended(e, problem))
		}
		return isOver
	})
	agent.RemoveThreads(ctx, x.target, all, x.report)
}

// Clean removes what earlier runs left at the target, and reports each: removed, or why not. Nothing of it may be
// [Elsewhere].
//
// The entries may come from a file that anybody has written: credentials are sent to the configured addresses only, and
// to the agent server that the configured control plane names for the deployment of a thread.
func Clean(ctx context.Context, c *config.Config, left []evidence.Left, each func(reports.LedgerEntry)) error {
	t, err := target.New(target.Options{Config: c, Concurrency: DefaultConcurrency})
	if err != nil {
		return err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	var mu sync.Mutex
	x := &remover{target: t, plane: plane.New(t, shared.NewMaker(ctx), time.Now()), gone: map[string]bool{},
		named: map[string]string{}}
	x.report = func(e reports.LedgerEntry) {
		mu.Lock()
		defer mu.Unlock()
		x.gone[e.ID] = x.gone[e.ID] || e.Kind == evidence.Deployment && e.Removed
		each(e)
	}
	var deployments, threads []reports.LedgerEntry
	for _, e := range left {
		if e.Kind == evidence.Deployment {
			deployments = append(deployments, e.LedgerEntry)
		} else {
			threads = append(threads, e.LedgerEntry)
		}
	}
	x.deployments(ctx, deployments)
	x.threads(ctx, threads)
	return context.Cause(ctx)
}

// Elsewhere tells whether an entry of a ledger is not at the configured target: a deployment of another control plane,
// or a thread neither at the configured agent server nor at one of a deployment of the configured control plane.
func Elsewhere(c *config.Config, e evidence.Left) bool {
	atPlane := c.Target != "" && e.Target == c.Target
	if e.Kind == evidence.Deployment {
		return !atPlane
	}
	return (c.AgentTarget == "" || e.Address != c.AgentTarget) && (!atPlane || e.Deployment == "")
}

// refused says why no credentials are sent to the address of a thread. The control plane is asked for the address of
// the deployment, once for all its threads: that in the ledger proves nothing.
func (x *remover) refused(ctx context.Context, e reports.LedgerEntry) (problem string) {
	c := x.target.Config
	if x.named == nil || c.AgentTarget != "" && e.Address == c.AgentTarget {
		return ""
	}
	base, asked := x.named[e.Deployment]
	if !asked {
		a, err := x.plane.Get(ctx, plane.DeploymentPath(e.Deployment), "")
		if err != nil {
			return err.Error()
		}
		if base, err = x.target.Client.Names.Base(a.Get(c.AgentURLFrom).String()); err != nil || !a.OK() {
			base = ""
		}
		x.named[e.Deployment] = base
	}
	if base == "" || base != e.Address {
		return fmt.Sprintf("its address %s is not what %s names for the deployment %s", e.Address, c.Target, e.Deployment)
	}
	return ""
}
