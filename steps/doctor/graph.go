package doctor

import (
	"context"
	"errors"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agent/removal"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// tryGraph runs the conformance graph once for each word of its contract, as a run does before the scenarios that need it. The
// error is that of the context.
func (x *examiner) tryGraph(ctx context.Context, e *Examination) error {
	const subject = "graph"
	switch {
	case len(e.problems()) > 0:
		return nil
	case x.target.Config.AgentTarget == "":
		e.add(Noted, subject, "not tried: the URL of the agent server is not known", "set agent_target")
		return nil
	case x.target.AgentRefusal() != 0:
		e.add(Noted, subject, "not tried: no user is configured", configureUsers)
		return nil
	}
	s, err := x.agents.AgentServer(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, len(agent.Words))
	var wait sync.WaitGroup
	for i, w := range agent.Words {
		wait.Go(func() { errs[i] = s.Understood(ctx, w) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, w := range agent.Words {
		if !x.reportWord(e, w, errs[i]) {
			break // the others lack the same
		}
	}
	x.removeThreads(ctx, e)
	return nil
}

// reportWord tells whether what was found is about the word alone.
func (x *examiner) reportWord(e *Examination, w agent.Word, err error) bool {
	subject := "graph: " + string(w)
	var o *outcome.Outcome
	switch {
	case err == nil:
		e.add(Fine, subject, "understood", "")
	case errors.As(err, &o) && o.IsBy(reports.ByGraph) && w != agent.Echo:
		e.add(Noted, subject, x.target.Redact.Excerpt(err.Error()), "correct the graph: what needs this is not judged")
	case errors.As(err, &o) && o.IsBy(reports.ByGraph):
		e.add(Problem, subject, x.target.Redact.Excerpt(err.Error()), "correct the graph: everything about runs needs this")
		return false
	default:
		e.add(Problem, "graph", x.target.Redact.Excerpt(err.Error()), "")
		return false
	}
	return true
}

// removeThreads removes what was created.
func (x *examiner) removeThreads(ctx context.Context, e *Examination) {
	var threads []reports.LedgerEntry
	for _, created := range x.target.Ledger.Entries() {
		if created.Kind == evidence.Thread {
			threads = append(threads, created)
		}
	}
	var mu sync.Mutex
	left, why := 0, ""
	removal.Threads(ctx, x.target, threads, func(_ reports.LedgerEntry, how removal.Result) {
		mu.Lock()
		defer mu.Unlock()
		if how.Problem != "" {
			left, why = left+1, how.Problem
		}
	})
	if left > 0 {
		e.add(Noted, "threads", x.target.Redact.Excerpt(reports.Count(left, "thread")+" of "+reports.Count(len(threads), "thread")+" not removed: "+why), "")
		return
	}
	e.add(Fine, "threads", reports.Count(len(threads), "thread")+" created and removed", "")
}
