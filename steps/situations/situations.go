// Package situations tests the rules of the interface again after an event. A server often keeps a rule for a new thread
// or deployment and breaks it later: after a run has failed, after a rollback, after an update.
//
// Start with [DeploymentEvents] and [DeploymentChecks]: the events that can happen to a deployment, and the conditions
// that it must satisfy after each of them. [ThreadEvents] and [ThreadChecks] are the same for threads. The features have
// one scenario for each event with each check, under the requirement that owns the check. All scenarios of an event share
// one deployment or two threads. The event happens once, all checks are made in their order, and each scenario returns
// the outcome of its check.
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

// Situations makes events happen, for all scenarios of a test run.
type Situations struct {
	Target   *target.Target
	Plane    *plane.Plane
	Agents   *agent.Agents
	Selected Selection // the checks that scenarios of the test run need
}

// didNotHappen skips a scenario whose event did not happen. Other scenarios judge the rule without the event.
func didNotHappen(err error) *outcome.Outcome {
	return outcome.Inapplicable("situations", "the event could not be brought about: %v", err)
}

// isUndecided reports whether an error shows nothing about the target. This is never so for an error of the suite itself.
func isUndecided(err error) bool {
	o, is := errors.AsType[*outcome.Outcome](err)
	return is && o.Verdict == reports.Inconclusive && !o.IsBy(reports.BySuite)
}

// isPrevented reports whether a response of the target has prevented an event. Other requirements judge that response.
func isPrevented(err error) bool {
	if _, isUnanswered := errors.AsType[*exchange.NoResponse](err); isUnanswered {
		return false
	}
	return outcome.Is(outcome.AsPrecondition(err), reports.Blocked)
}

// outcomes are the outcomes of checks, by their steps.
type outcomes map[string]error
