package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// tryGraph runs the conformance graph once for each word of its contract, as the preflight of a test run does, and
// removes the threads.
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
		word := subject + ": " + w
		err := s.Understood(ctx, w)
		if err == nil {
			x.add(Fine, word, "understood", "")
			if w == agent.Whoami {
				x.examineIdentity(ctx, s)
			}
			continue
		}
		found := x.target.Redact.Excerpt(err.Error())
		o, isOutcome := errors.AsType[*outcome.Outcome](err)
		switch {
		case !isOutcome || !o.IsBy(reports.ByGraph): // the graph is not the cause, so the other words would fail as well
			if w == agent.Echo { // no run works
				word = subject
			}
			x.add(Problem, word, found, "")
			return
		case w == agent.Echo:
			x.add(Problem, word, found, "correct the graph: all requirements about runs need this word")
			return
		}
		x.add(Noted, word, found, "correct the graph: requirements that need this word are not judged")
	}
}

// examineIdentity compares the identity in a report of the first user's run with the configured identities, and adds a
// note if it differs. If no run can be started, the trial of the words reports that.
func (x *examiner) examineIdentity(ctx context.Context, s *agent.Server) {
	users := x.target.Config.JudgedUsers()
	if len(users) == 0 || users[0].Identity == "" {
		return
	}
	run, err := s.RunAlone(ctx, x.target.Owner(), agent.Order{Words: agent.Whoami})
	if err != nil || messages.ReportsField(run.Said(), "identity", users[0].Identity) {
		return
	}
	found := fmt.Sprintf("a run of users.0 does not report %q, got %s: AS-AUTH-6 will fail", users[0].Identity, run.Said())
	remedy := "correct users.0.identity, users.0.token or the graph"
	for i, other := range users[1:] {
		if other.Identity != "" && messages.ReportsField(run.Said(), "identity", other.Identity) {
			remedy = fmt.Sprintf("exchange the tokens of users.0 and users.%d if they are in the wrong order", i+1)
		}
	}
	x.add(Noted, "users.0.identity", x.target.Redact.Excerpt(found), remedy)
}

// removeThreads removes the threads that tryGraph created.
func (x *examiner) removeThreads(ctx context.Context) {
	threads := x.target.Ledger.Left(evidence.Thread)
	all := reports.Count(len(threads), "thread")
	agent.RemoveThreads(ctx, x.target, threads, func(e reports.LedgerEntry) {
		_ = x.target.Ledger.Tried(e) // the ledger has no file
	})
	remaining := x.target.Ledger.Left(evidence.Thread)
	if len(remaining) > 0 {
		found := fmt.Sprintf("%d of %s not removed: %s", len(remaining), all, remaining[0].Reason)
		x.add(Noted, "threads", x.target.Redact.Excerpt(found), "")
		return
	}
	x.add(Fine, "threads", all+" created and removed", "")
}
