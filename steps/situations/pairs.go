package situations

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// Pair is an event with a check.
type Pair struct {
	Event       string `json:"event"` // as the features name it: "a thread on which a run has failed"
	Check       string `json:"check"`
	Requirement string `json:"requirement,omitempty"` // requirement that owns the check
	Scenario    string `json:"scenario,omitempty"`    // key of the scenario; "" if the features have none
	Reason      string `json:"reason,omitempty"`      // the reason why the pair is left out; "" if it is not
}

// The prefixes of the steps that name an event.
const (
	threadPrefix     = "a thread on which "
	deploymentPrefix = "a deployment of which "
)

// Selection has the pairs of an event and a check in the selected scenarios, as steps of the features.
type Selection map[[2]string]bool

// Select returns the pairs in the scenarios.
func Select(scenarios []*features.Scenario) Selection {
	selected := Selection{}
	for _, s := range scenarios {
		if event, check, is := pairOf(s); is {
			selected[[2]string{event, check}] = true
		}
	}
	return selected
}

func (s Selection) has(event, check string) bool { return s[[2]string{event, check}] }

// needs reports whether a check of a thread must be made for the selected scenarios. Rollbacks are judged only if a
// further run without rollback works, and the checks of the further run need that run.
func (s Selection) needs(e ThreadEvent, c ThreadCheck) bool {
	if c.stage == reads {
		return s.has(threadPrefix+e.Name, c.Step)
	}
	return slices.ContainsFunc(ThreadChecks, func(other ThreadCheck) bool {
		return other.stage >= c.stage && s.has(threadPrefix+e.Name, other.Step)
	})
}

// pairOf returns the steps with the event and the check of a scenario about a situation.
func pairOf(s *features.Scenario) (event, check string, is bool) {
	for _, step := range s.Steps {
		if strings.HasPrefix(step.Text, threadPrefix) || strings.HasPrefix(step.Text, deploymentPrefix) {
			event = step.Text
		}
	}
	return event, s.Steps[len(s.Steps)-1].Text, event != "" && s.Is(features.TagSituation)
}

// Pairs returns each event with each check of its half, and the scenario about both.
func Pairs(c *features.Catalogue) []Pair {
	scenarios := map[[2]string]*features.Scenario{}
	owners := map[string]string{}
	for _, s := range c.Scenarios() {
		if event, check, is := pairOf(s); is {
			scenarios[[2]string{event, check}] = s
			owners[check] = s.Requirement.ID
		}
	}
	var all []Pair
	add := func(event, check, reason string) {
		p := Pair{Event: event, Check: check, Requirement: owners[check], Reason: reason}
		if s := scenarios[[2]string{event, check}]; s != nil {
			p.Scenario = s.Key()
		}
		all = append(all, p)
	}
	for _, e := range DeploymentEvents {
		for _, check := range DeploymentChecks {
			add(deploymentPrefix+e.Name, check.Step, check.leftOut(e))
		}
	}
	for _, e := range ThreadEvents {
		for _, check := range ThreadChecks {
			add(threadPrefix+e.Name, check.Step, check.leftOut(e))
		}
	}
	return all
}
