package overview

import (
	"fmt"

	"github.com/agentconform/agentconform/reports"
)

// Support is the result of a test run for a capability.
type Support struct {
	*reports.Capability
	// Class summarizes the requirements that apply to the target. If any of them decide the verdict, only these count. It
	// is Failed or CouldNotTell if one of them is, in this order, Passed if all passed, and otherwise NotTested.
	Class   Class
	Numbers map[Class]int // numbers of its requirements, by word
	All     int           // the number of its requirements that apply to the target
}

// Counts returns the numbers of the requirements: "7 passed, 1 failed".
func (s Support) Counts() Counts { return CountsOf(s.Numbers) }

// Tested returns the number of requirements that passed or failed.
func (s Support) Tested() int { return s.Numbers[Passed] + s.Numbers[Failed] }

// Share returns how many of the applicable requirements passed: "7/8".
func (s Support) Share() string { return fmt.Sprintf("%d/%d", s.Numbers[Passed], s.All) }

// Support returns the capabilities of the result, in its order. If only the agent server was judged, it returns those of
// the agent server.
func (o Overview) Support() (all []Support) {
	agentOnly := o.agentOnly()
	requirements := map[string]*reports.Requirement{}
	for q := range reports.Each(o.Result.Requirements) {
		requirements[q.ID] = q
	}
	for c := range reports.Each(o.Result.Capabilities) {
		if agentOnly && c.Profile != "agent-server" {
			continue
		}
		s := Support{Capability: c, Numbers: map[Class]int{}}
		deciding, others := map[Class]int{}, map[Class]int{}
		for _, id := range c.Requirements {
			q := requirements[id]
			switch {
			case q == nil: // it was not selected
				s.Numbers[NotTested]++
				deciding[NotTested]++
				s.All++
			case isInapplicable(q):
				s.Numbers[NotTested]++
			default:
				s.Numbers[Word(q.Verdict)]++
				s.All++
				if q.Decides() {
					deciding[Word(q.Verdict)]++
				} else {
					others[Word(q.Verdict)]++
				}
			}
		}
		if len(deciding) == 0 {
			deciding = others
		}
		s.Class = classOfAll(deciding)
		all = append(all, s)
	}
	return all
}

// classOfAll returns the class of a capability for the number of its requirements by class.
func classOfAll(numbers map[Class]int) Class {
	switch {
	case numbers[Failed] > 0:
		return Failed
	case numbers[CouldNotTell] > 0:
		return CouldNotTell
	case numbers[Passed] > 0 && numbers[NotTested] == 0:
		return Passed
	}
	return NotTested
}

// SupportTable returns the capabilities with a result. A capability has a result even if only some of its requirements
// were tested. untested has the names of the others.
func (o Overview) SupportTable() (rows []Support, untested []string) {
	for _, s := range o.Support() {
		if s.Class == NotTested && s.Tested() == 0 {
			untested = append(untested, s.Name)
		} else {
			rows = append(rows, s)
		}
	}
	return rows, untested
}
