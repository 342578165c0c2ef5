package agent

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// noteThread enters a thread in the ledger. One that was there before its creation was sent is not the run's to remove: a target
// may answer a creation with an existing thread.
func noteThread(ctx context.Context, s *Server, t *Thread) error {
	if existedBefore(t.Answer) {
		return nil
	}
	return s.target.Ledger.Add(reports.LedgerEntry{Kind: evidence.Thread, ID: t.ID, Address: s.Base, Deployment: s.deployment,
		Owner: s.target.CredentialKey(t.Owner), CreatedBy: evidence.Scenario(ctx)})
}

// noteRun enters an accepted run in the ledger. If its thread was not created by the suite, the target has created it now.
func noteRun(ctx context.Context, s *Server, who target.Caller, g *GraphRun) error {
	if g.ID == "" {
		return nil
	}
	if t := g.Thread; t.Answer == nil {
		created := &Thread{ID: t.ID, Owner: who}
		if err := noteThread(ctx, s, created); err != nil {
			return err
		}
	}
	return s.target.Ledger.Add(reports.LedgerEntry{Kind: evidence.Run, ID: g.ID, Thread: g.Thread.ID, Address: s.Base, Deployment: s.deployment,
		Owner: s.target.CredentialKey(who), CreatedBy: evidence.Scenario(ctx)})
}

// clockStep is how exact the times of an answer are: a Date header has whole seconds.
const clockStep = 2 * time.Second

// existedBefore tells whether the answer to a creation shows a time of creation before the request, both by the target's clock.
func existedBefore(a *client.Answer) bool {
	if a == nil {
		return false
	}
	date, err1 := http.ParseTime(a.Header.Get("Date"))
	created, err2 := time.Parse(time.RFC3339Nano, a.Get("created_at").String())
	return err1 == nil && err2 == nil && created.Before(date.Add(-a.Took-clockStep))
}

// Removal is how the removal of a thread ended.
type Removal struct {
	Problem string // why it was not removed; empty if it was
	Never   bool   // the target does not remove threads
}

// RemoveThreads removes threads at agent servers with DELETE /threads/{thread_id}, a vendor extension, as the users who
// created them, and reports each, from several goroutines. The first one of an address is tried alone: if it is answered with 404 or
// 405 although the thread is there, the server does not take DELETE, and nothing more is sent to that address. Others are
// removed concurrently, so many at once. What has no time left before the context ends is reported as not removed.
func (as *Agents) RemoveThreads(ctx context.Context, threads []reports.LedgerEntry, atOnce int, report func(reports.LedgerEntry, Removal)) {
	byAddress := map[string][]reports.LedgerEntry{}
	for _, e := range threads {
		byAddress[e.Address] = append(byAddress[e.Address], e)
	}
	slots := make(chan struct{}, max(atOnce, 1))
	var wait sync.WaitGroup
	for _, all := range byAddress {
		wait.Go(func() { as.removeAt(ctx, all, slots, report) })
	}
	wait.Wait()
}

// removeAt removes the threads of one address.
func (as *Agents) removeAt(ctx context.Context, all []reports.LedgerEntry, slots chan struct{}, report func(reports.LedgerEntry, Removal)) {
	for len(all) > 0 {
		slots <- struct{}{}
		r, taken := as.removeThread(ctx, all[0], true)
		<-slots
		if r.Never {
			for _, e := range all {
				report(e, r)
			}
			return
		}
		report(all[0], r)
		all = all[1:]
		if taken {
			break
		}
	}
	var wait sync.WaitGroup
	for _, e := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			r, _ := as.removeThread(ctx, e, false)
			report(e, r)
		})
	}
	wait.Wait()
}

// removeThread tells how the removal ended, and whether the server is known to take DELETE. A thread without a known owner is
// tried without credentials first, since it was created by a caller without valid ones, and then as the first user.
func (as *Agents) removeThread(ctx context.Context, e reports.LedgerEntry, first bool) (r Removal, taken bool) {
	callers := []target.Caller{as.target.CallerWith(e.Owner)}
	if e.Owner == "" && len(as.target.Config.Users) > 0 {
		callers = append(callers, as.target.Owner())
	}
	var a *client.Answer
	for _, who := range callers {
		var err error
		if a, err = as.deleteThread(ctx, who, e); err != nil {
			return Removal{Problem: err.Error()}, false
		}
		if a.OK() {
			return Removal{}, true
		}
	}
	if missing(a) && (!first || !as.isThere(ctx, e, callers[len(callers)-1])) {
		return Removal{}, !first
	}
	never := first && (missing(a) || a.Status == http.StatusMethodNotAllowed || a.Status == http.StatusNotImplemented)
	return Removal{as.target.Redact.Excerpt("DELETE /threads/{thread_id}: " + outcome.SeenShort(a)), never}, false
}

func missing(a *client.Answer) bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusGone
}

// isThere tells whether a thread can still be read: itself, which is a vendor extension, or its state, which a thread without a
// run need not have.
func (as *Agents) isThere(ctx context.Context, e reports.LedgerEntry, who target.Caller) bool {
	return slices.ContainsFunc([]string{threadPath(e.ID), StatePath(e.ID)}, func(path string) bool {
		a, err := as.target.Client.Do(ctx, as.target.ToAgent(e.Address, who, http.MethodGet, path, nil))
		return err == nil && a.OK()
	})
}

// deleteThread sends the request, again and again while the thread is busy (409).
func (as *Agents) deleteThread(ctx context.Context, who target.Caller, e reports.LedgerEntry) (a *client.Answer, err error) {
	err = as.target.RetryFor(ctx, as.target.Config.Timeouts.Request, func() (bool, error) {
		a, err = as.target.Client.Do(ctx, as.target.ToAgent(e.Address, who, http.MethodDelete, threadPath(e.ID), nil))
		return err == nil && a.Status != http.StatusConflict, err
	})
	return a, err
}
