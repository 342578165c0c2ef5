package doctor

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// tryGraph runs the conformance graph once for each word of its contract, as a run does before the scenarios that need
// it, and removes the threads.
func (x *examiner) tryGraph(ctx context.Context) {
	const subject = "graph"
	switch {
	case len(x.problems()) > 0:
		return
	case x.target.Config.AgentTarget == "":
		x.add(Noted, subject, "not tried: the URL of the agent server is not known", "set agent_target")
		return
	case x.target.AgentRefusal() != 0:
		x.add(Noted, subject, "not tried: no user is configured", configureUsers)
		return
	}
	s, err := x.agents.AgentServer(ctx)
	if err != nil {
		x.add(Problem, subject, x.target.Redact.Excerpt(err.Error()), "")
		return
	}
	defer x.removeThreads(ctx)
	for _, w := range config.GraphWords {
		word, err := subject+": "+w, s.Understood(ctx, w)
		if err == nil {
			x.add(Fine, word, "understood", "")
			continue
		}
		found := x.target.Redact.Excerpt(err.Error())
		var o *outcome.Outcome
		switch {
		case !errors.As(err, &o) || !o.IsBy(reports.ByGraph): // the others lack the same
			x.add(Problem, subject, found, "")
			return
		case w == agent.Echo:
			x.add(Problem, word, found, "correct the graph: everything about runs needs this")
			return
		}
		x.add(Noted, word, found, "correct the graph: what needs this is not judged")
	}
}

// removeThreads removes what was created.
func (x *examiner) removeThreads(ctx context.Context) {
	threads := x.target.Ledger.Left(evidence.Thread)
	all := reports.Count(len(threads), "thread")
	var mu sync.Mutex
	left, why := 0, ""
	agent.RemoveThreads(ctx, x.target, threads, func(e reports.LedgerEntry) {
		mu.Lock()
		defer mu.Unlock()
		if e.Reason != "" {
			left, why = left+1, e.Reason
		}
	})
	if left > 0 {
		x.add(Noted, "threads", x.target.Redact.Excerpt(fmt.Sprintf("%d of %s not removed: %s", left, all, why)), "")
		return
	}
	x.add(Fine, "threads", all+" created and removed", "")
}
