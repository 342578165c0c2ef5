package situations

import (
	"strings"

	"github.com/agentconform/agentconform/features"
)

// Pair is an event with a check.
type Pair struct {
	Event       string `json:"event"`
	Check       string `json:"check"`
	Requirement string `json:"requirement,omitempty"` // that owns the check
	Scenario    string `json:"scenario,omitempty"`    // its key; "" if the features have none
	Reason      string `json:"reason,omitempty"`      // why the pair is left out; "" if it is not
}

// Pairs returns each event with each check, and the scenario of the features about the two.
func Pairs(c *features.Catalogue) []Pair {
	scenarios := map[[2]string]*features.Scenario{}
	owners := map[string]string{}
	for _, s := range c.Scenarios() {
		for _, step := range s.Steps {
			event, isSituation := strings.CutPrefix(step.Text, givenThread)
			if isSituation {
				check := s.Steps[len(s.Steps)-1].Text
				scenarios[[2]string{event, check}] = s
				owners[check] = s.Requirement.ID
			}
		}
	}
	var all []Pair
	for _, e := range Events {
		for _, check := range Checks {
			p := Pair{Event: e.Name, Check: check.Sentence, Requirement: owners[check.Sentence], Reason: check.leftOut(e)}
			if s := scenarios[[2]string{e.Name, check.Sentence}]; s != nil {
				p.Scenario = s.Key()
			}
			all = append(all, p)
		}
	}
	return all
}

// givenThread begins the step that names an event.
const givenThread = "a thread on which "
