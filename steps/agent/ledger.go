package agent

import (
	"context"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// NoteThread enters a thread in the ledger. One that was there before its creation was sent is not the run's to remove: a target
// may answer a creation with an existing thread.
func NoteThread(ctx context.Context, s *Server, t *Thread) error {
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
		if err := NoteThread(ctx, s, created); err != nil {
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
