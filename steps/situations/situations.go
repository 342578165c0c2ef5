// Package situations tries the rules of the interface again after something has happened. A server often keeps a rule for
// a new thread or deployment and breaks it later: after a run has failed, after a rollback, after an update.
//
// Start with [DeploymentEvents] and [DeploymentChecks]: what may happen to a deployment, and what must be true of it then.
// [ThreadEvents] and [ThreadChecks] are the same for threads. The features have one scenario for each event with each check,
// under the requirement that the check belongs to. All scenarios of an event share one deployment or two threads: the
// event happens once, all checks are made in their order, and each scenario takes the outcome of its check.
package situations

import (
	"github.com/agentconform/agentconform/steps/agent"
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

// outcomes are the outcomes of checks, by their sentences.
type outcomes map[string]error
