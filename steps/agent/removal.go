package agent

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// RemoveThreads removes threads at agent servers with DELETE /threads/{thread_id}, a vendor extension, as the users who
// created them. It calls report with the new ledger entry of each thread, from several goroutines. At each address it
// first tries a single thread: 404 or 405 for a thread that exists means that the server does not support DELETE, and
// nothing more is sent to that address. When the context ends, the remaining threads are reported as not removed.
func RemoveThreads(
	ctx context.Context, t *target.Target, threads []reports.LedgerEntry, report func(reports.LedgerEntry),
) {
	byAddress := map[string][]reports.LedgerEntry{}
	for _, e := range threads {
		byAddress[e.Address] = append(byAddress[e.Address], e)
	}
	var wait sync.WaitGroup
	for _, all := range byAddress {
		wait.Go(func() { removeAt(ctx, t, all, report) })
	}
	wait.Wait()
}

func removeAt(ctx context.Context, t *target.Target, all []reports.LedgerEntry, report func(reports.LedgerEntry)) {
	var unclear []reports.LedgerEntry // either removed before, or the server hides them and does not support DELETE
	for taken := false; len(all) > 0 && !taken; all = all[1:] {
		var e reports.LedgerEntry
		e, taken = removeThread(ctx, t, all[0], true)
		switch {
		case e.Unremovable:
			for _, other := range append(unclear, all...) {
				other.Removed, other.Reason, other.Unremovable = false, e.Reason, true
				report(other)
			}
			return
		case e.Removed && !taken:
			unclear = append(unclear, e)
		default:
			report(e)
		}
	}
	for _, e := range unclear {
		report(e)
	}
	var wait sync.WaitGroup
	for _, e := range all {
		wait.Go(func() {
			e, _ := removeThread(ctx, t, e, false)
			report(e)
		})
	}
	wait.Wait()
}

// removeThread removes a thread. It returns its new ledger entry, and reports whether the server is known to support
// DELETE. A thread without a known owner was created without valid credentials: removeThread tries it without
// credentials first, and then as the first user.
func removeThread(
	ctx context.Context, t *target.Target, e reports.LedgerEntry, first bool,
) (how reports.LedgerEntry, taken bool) {
	how = e
	how.Removed, how.Reason, how.Unremovable = false, "", false
	callers := []target.Caller{t.CallerWith(e.Owner)}
	if e.Owner == "" && len(t.Config.Users) > 0 {
		callers = append(callers, t.Owner())
	}
	var a *exchange.Response
	for _, who := range callers {
		var err error
		if a, err = deleteThread(ctx, t, who, e); err != nil {
			how.Reason = "DELETE /threads/{thread_id}: " + exchange.Reason(err)
			return how, false
		}
		how.Removed = a.OK()
		if how.Removed {
			return how, true
		}
	}
	if missing(a) && (!first || !isThere(ctx, t, e, callers[len(callers)-1])) {
		how.Removed = true
		return how, !first
	}
	unknown := []int{http.StatusMethodNotAllowed, http.StatusNotImplemented}
	how.Unremovable = first && (missing(a) || slices.Contains(unknown, a.Status))
	how.Reason = t.Redact.Excerpt("DELETE /threads/{thread_id}: " + outcome.SeenShort(a))
	return how, false
}

func missing(a *exchange.Response) bool {
	return a.Status == http.StatusNotFound || a.Status == http.StatusGone
}

// isThere reports whether a thread can still be read. It tries GET of the thread, a vendor extension, and GET of its
// state, which a thread without a run need not have.
func isThere(ctx context.Context, t *target.Target, e reports.LedgerEntry, who target.Caller) bool {
	return slices.ContainsFunc([]string{ThreadPath(e.ID), StatePath(e.ID)}, func(path string) bool {
		a, err := t.Client.Do(ctx, t.ToAgent(e.Address, who, http.MethodGet, path, nil))
		return err == nil && a.OK()
	})
}

// deleteThread sends the request, and repeats it while the thread is busy (409).
func deleteThread(
	ctx context.Context, t *target.Target, who target.Caller, e reports.LedgerEntry,
) (a *exchange.Response, err error) {
	err = t.RetryFor(ctx, t.Config.Timeouts.Request, func() (bool, error) {
		a, err = t.Client.Do(ctx, t.ToAgent(e.Address, who, http.MethodDelete, ThreadPath(e.ID), nil))
		return err == nil && a.Status != http.StatusConflict, err
	})
	return a, err
}

// NoteThread enters a thread in the ledger. A thread that existed before the test run is not entered, so that it is not
// removed: a target may return an existing thread for a creation.
func (s *Server) NoteThread(ctx context.Context, t *Thread) error {
	existing, err := s.threadsBefore(ctx, t.Owner)
	if err != nil {
		return err
	}
	if existing[exchange.IDKey(t.ID)] {
		note := reports.Note{Kind: reports.NoteRemoval,
			Text: "POST /threads returned a thread that existed before this test run; the suite does not remove it"}
		if t.Response != nil {
			note.Exchange = t.Response.ID
		}
		s.target.Note(note)
		return nil
	}
	return s.note(ctx, reports.LedgerEntry{Kind: evidence.Thread, ID: t.ID, Owner: t.Owner.Key})
}

// noteRun enters an accepted run in the ledger. If the target created the thread with the run, it enters that too.
func (s *Server) noteRun(ctx context.Context, who target.Caller, g *GraphRun) error {
	if g.ID == "" {
		return nil
	}
	if g.Thread.Response == nil {
		if err := s.NoteThread(ctx, &Thread{ID: g.Thread.ID, Owner: who}); err != nil {
			return err
		}
	}
	return s.note(ctx, reports.LedgerEntry{Kind: evidence.Run, ID: g.ID, Thread: g.Thread.ID, Owner: who.Key})
}

func (s *Server) note(ctx context.Context, e reports.LedgerEntry) error {
	e.Address, e.Deployment, e.CreatedBy = s.Base, s.deployment, evidence.Scenario(ctx)
	return s.target.Ledger.Add(e)
}

// FirstList is the list of a user's threads before the test run created one for that user.
type FirstList struct {
	Rows     Listing
	Response *exchange.Response // nil if the list was not read
}

// threadsBefore returns the keys of the threads that a user had before the test run created one. It returns nil if the
// server does not list threads, or if the test run created the deployment.
func (s *Server) threadsBefore(ctx context.Context, who target.Caller) (map[string]bool, error) {
	first, err := s.ListBeforeThreads(ctx, who)
	if err != nil || s.deployment != "" || first.Response == nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, row := range first.Rows.All() {
		ids[exchange.IDKey(strings.Clone(row.Get("thread_id").String()))] = true
	}
	return ids, nil
}

// ListBeforeThreads returns the list of a user's threads before the test run created one for that user. At a deployment of
// the test run, nobody has an earlier thread: it is read only at the agent server under test, and not for the owner. The
// owner has a thread before another user's list is read.
func (s *Server) ListBeforeThreads(ctx context.Context, who target.Caller) (FirstList, error) {
	isNew := s.deployment != "" && (!s.judged || who.Key == s.target.Owner().Key)
	if isNew || who.Key == "" {
		return FirstList{}, nil
	}
	name := "the threads of " + who.Key + " before the first creation"
	return shared.Get(ctx, s.maker, name, func(ctx context.Context) (FirstList, error) {
		if who.Key != s.target.Owner().Key {
			_, _ = s.SharedCompletedRun(ctx) // other scenarios judge its error
		}
		rows, a, err := s.List(ctx, who, nil)
		if err != nil {
			return FirstList{}, context.Cause(ctx) // other scenarios judge the list
		}
		return FirstList{rows, a}, nil
	})
}
