// Package situations tries the rules of the interface again after something has happened. A server often keeps a rule for
// a new thread or deployment and breaks it later: after a run has failed, after a rollback, after an update.
//
// Start with [DeploymentEvents] and [DeploymentChecks]: what may happen to a deployment, and what must be true of it then.
// [ThreadEvents] and [ThreadChecks] are the same for threads. The features have one scenario for each event with each check,
// under the requirement that the check belongs to. All scenarios of an event share one deployment or two threads: the
// event happens once, all checks are made in their order, and each scenario takes the outcome of its check.
package situations

import (
	"errors"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Situations brings events about, for all scenarios of a test run.
type Situations struct {
	Target   *target.Target
	Plane    *plane.Plane
	Agents   *agent.Agents
	Selected Selection // the checks that scenarios of the test run need
}

// didNotHappen skips a scenario whose event could not be brought about: the rules are judged without it.
func didNotHappen(err error) *outcome.Outcome {
	return outcome.Inapplicable("situations", "the event could not be brought about: %v", err)
}

// isUndecided reports whether an error shows nothing about the target. An error of the suite itself must be seen.
func isUndecided(err error) bool {
	o, is := errors.AsType[*outcome.Outcome](err)
	return is && o.Verdict == reports.Inconclusive && !o.IsBy(reports.BySuite)
}

// isPrevented reports whether the target has prevented an event by a response. Other requirements judge that response.
func isPrevented(err error) bool {
	if _, isUnanswered := errors.AsType[*exchange.NoResponse](err); isUnanswered {
		return false
	}
	return outcome.Is(outcome.AsPrecondition(err), reports.Blocked)
}

// outcomes are the outcomes of checks, by their sentences.
type outcomes map[string]error
