package agent

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Removal is how the removal of a thread ended.
type Removal struct {
	Problem string // why it was not removed; empty if it was
	Never   bool   // the target does not remove threads
}

// RemoveThreads removes threads at agent servers with DELETE /threads/{thread_id}, a vendor extension, as the users who
// created them, and reports each, from several goroutines. The first one of an address is tried alone: if it is answered with 404 or
// 405 although the thread is there, the server does not take DELETE, and nothing more is sent to that address. Others are
// removed concurrently. What has no time left before the context ends is reported as not removed.
func RemoveThreads(ctx context.Context, t *target.Target, threads []reports.LedgerEntry, report func(reports.LedgerEntry, Removal)) {
	x := remover{t}
	byAddress := map[string][]reports.LedgerEntry{}
	for _, e := range threads {
		byAddress[e.Address] = append(byAddress[e.Address], e)
	}
	var wait sync.WaitGroup
	for _, all := range byAddress {
		wait.Go(func() { x.removeAt(ctx, all, report) })
	}
	wait.Wait()
}

type remover struct{ target *target.Target }

// removeAt removes the threads of one address.
func (x remover) removeAt(ctx context.Context, all []reports.LedgerEntry, report func(reports.LedgerEntry, Removal)) {
	var unclear []reports.LedgerEntry // removed before, or not shown by a server that does not take DELETE
	for len(all) > 0 {
		r, taken := x.removeThread(ctx, all[0], true)
		if r.Never {
			for _, e := range append(unclear, all...) {
				report(e, r)
			}
			return
		}
		if r.Problem == "" && !taken {
			unclear = append(unclear, all[0])
		} else {
			report(all[0], r)
		}
		all = all[1:]
		if taken {
			break
		}
	}
	for _, e := range unclear {
		report(e, Removal{})
	}
	var wait sync.WaitGroup
	for _, e := range all {
		wait.Go(func() {
			r, _ := x.removeThread(ctx, e, false)
			report(e, r)
		})
	}
	wait.Wait()
}

// removeThread tells how the removal ended, and whether the server is known to take DELETE. A thread without a known owner is
// tried without credentials first, since it was created by a caller without valid ones, and then as the first user.
func (x remover) removeThread(ctx context.Context, e reports.LedgerEntry, first bool) (r Removal, taken bool) {
	callers := []target.Caller{x.target.CallerWith(e.Owner)}
	if e.Owner == "" && len(x.target.Config.Users) > 0 {
		callers = append(callers, x.target.Owner())
	}
	var a *client.Answer
	for _, who := range callers {
		var err error
		if a, err = x.deleteThread(ctx, who, e); err != nil {
			return Removal{Problem: "DELETE /threads/{thread_id}: " + client.Reason(err)}, false
		}
		if a.OK() {
			return Removal{}, true
		}
	}
	if missing(a) && (!first || !x.isThere(ctx, e, callers[len(callers)-1])) {
		return Removal{}, !first
	}
	never := first && (missing(a) || a.Status == http.StatusMethodNotAllowed || a.Status == http.StatusNotImplemented)
	return Removal{x.target.Redact.Excerpt("DELETE /threads/{thread_id}: " + outcome.SeenShort(a)), never}, false
}

func missing(a *client.Answer) bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusGone
}

// isThere tells whether a thread can still be read: itself, which is a vendor extension, or its state, which a thread without a
// run need not have.
func (x remover) isThere(ctx context.Context, e reports.LedgerEntry, who target.Caller) bool {
	return slices.ContainsFunc([]string{ThreadPath(e.ID), StatePath(e.ID)}, func(path string) bool {
		a, err := x.target.Client.Do(ctx, x.target.ToAgent(e.Address, who, http.MethodGet, path, nil))
		return err == nil && a.OK()
	})
}

// deleteThread sends the request, again and again while the thread is busy (409).
func (x remover) deleteThread(ctx context.Context, who target.Caller, e reports.LedgerEntry) (a *client.Answer, err error) {
	err = x.target.RetryFor(ctx, x.target.Config.Timeouts.Request, func() (bool, error) {
		a, err = x.target.Client.Do(ctx, x.target.ToAgent(e.Address, who, http.MethodDelete, ThreadPath(e.ID), nil))
		return err == nil && a.Status != http.StatusConflict, err
	})
	return a, err
}
