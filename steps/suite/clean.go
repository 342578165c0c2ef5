package suite

import (
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

// CleanUpTime limits the removal of the objects that a test run created. A test run must end even if the target does not
// respond.
const CleanUpTime = 30 * time.Second

// clean removes the deployments and threads of the test run, if the target supports that. It also runs after an
// interrupt. It removes threads after the estimated end of their runs, because some servers permanently lose a worker if
// the thread of a run in progress is removed. Entries that were not removed stay in the ledger, with the reason.
func (r *run) clean(ctx context.Context) {
	reason := r.unreachable
	if r.Keep {
		reason = "--keep was given"
	}
	if reason != "" {
		for _, e := range r.target.Ledger.Left(evidence.Deployment, evidence.Thread) {
			r.noteRemoval(ended(e, reason))
		}
		return
	}
	r.removeAll(ctx, func(reports.LedgerEntry) bool { return true })
}

// removeAll removes the deployments and threads of the ledger that match.
func (r *run) removeAll(ctx context.Context, match func(reports.LedgerEntry) bool) {
	if r.Keep {
		return
	}
	matching := func(kind string) []reports.LedgerEntry {
		return slices.DeleteFunc(r.target.Ledger.Left(kind), func(e reports.LedgerEntry) bool { return !match(e) })
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), CleanUpTime,
		fmt.Errorf("cleaning up has ended after %s", CleanUpTime))
	defer cancel()
	ctx = evidence.WithScenario(ctx, "cleaning up", len(r.Catalogue.Scenarios())+1)
	x := &remover{target: r.target, plane: r.plane, report: r.noteRemoval}
	x.deployments(ctx, matching(evidence.Deployment))
	threads := matching(evidence.Thread) // without those that were removed with their deployment
	if len(threads) == 0 {
		return
	}
	_ = client.Sleep(ctx, min(time.Until(r.agents.RunsEnd()), CleanUpTime/2)) // if ctx ends, the removal fails
	x.threads(ctx, threads)
}

// noteRemoval writes the result of a removal to the ledger. If that fails, the ledger lists an object that was already
// removed, which does no harm.
func (r *run) noteRemoval(e reports.LedgerEntry) { _ = r.target.Ledger.Tried(e) }

// ended returns an entry with the result of its removal. problem is "" if the object was removed.
func ended(e reports.LedgerEntry, problem string) reports.LedgerEntry {
	e.Removed, e.Reason, e.Unremovable = problem == "", problem, false
	return e
}

// remover removes objects of test runs, at the addresses of the ledger entries if these are allowed.
type remover struct {
	target *target.Target
	plane  *plane.Plane
	report func(reports.LedgerEntry) // called by many goroutines
	// The maps are by deployment. They are for entries that may come from anywhere, and nil for entries of this test run.
	gone  map[string]bool   // whether the deployment was removed, and its threads with it
	named map[string]string // the agent server in the response of the control plane, or ""
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

// threads removes threads. It reports those that were removed with their deployment, and those at addresses that do not
// respond or are not allowed, without a request.
func (x *remover) threads(ctx context.Context, all []reports.LedgerEntry) {
	var remaining []reports.LedgerEntry
	for _, e := range all {
		if x.gone[e.Deployment] {
			x.report(ended(e, ""))
			continue
		}
		problem := x.target.Client.Down.Cause(e.Address)
		if problem == "" {
			problem = x.refused(ctx, e)
		}
		if problem != "" {
			x.report(ended(e, problem))
			continue
		}
		remaining = append(remaining, e)
	}
	agent.RemoveThreads(ctx, x.target, remaining, x.report)
}

// Clean removes the objects of earlier test runs. It calls each with the result for each entry. No entry may be
// [Elsewhere].
//
// The ledger may be from someone else. Credentials are sent only to the configured addresses, and to the agent server
// that the configured control plane returns for the deployment of a thread.
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
		if e.Kind == evidence.Deployment && e.Removed {
			x.gone[e.ID] = true
		}
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

// Elsewhere reports whether an entry of a ledger does not belong to the configured target. It may be a deployment of
// another control plane, or a thread that is neither at the configured agent server nor at an agent server that the
// configured control plane deployed.
func Elsewhere(c *config.Config, e evidence.Left) bool {
	atPlane := c.Target != "" && e.Target == c.Target
	if e.Kind == evidence.Deployment {
		return !atPlane
	}
	return (c.AgentTarget == "" || e.Address != c.AgentTarget) && (!atPlane || e.Deployment == "")
}

// refused returns the reason why no credentials are sent to the address of a thread, or "". It requests the address from
// the control plane, once for all threads of a deployment, because the address in the ledger may be forged.
func (x *remover) refused(ctx context.Context, e reports.LedgerEntry) (problem string) {
	c := x.target.Config
	if x.named == nil || c.AgentTarget != "" && e.Address == c.AgentTarget {
		return ""
	}
	base, isKnown := x.named[e.Deployment]
	if !isKnown {
		a, err := x.plane.Get(ctx, plane.DeploymentPath(e.Deployment), "")
		if err != nil {
			return err.Error()
		}
		base, err = x.target.Client.Names.Base(a.Get(c.AgentURLFrom).String())
		if err != nil || !a.OK() {
			base = ""
		}
		x.named[e.Deployment] = base
	}
	if base == "" || base != e.Address {
		return fmt.Sprintf("its address %s is not what %s names for the deployment %s", e.Address, c.Target, e.Deployment)
	}
	return ""
}
