package forecast

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// demand is what a scenario needs of the budget.
type demand struct {
	scenario *features.Scenario
	shared   map[string]int // fixtures that cost deployments
	alone    int            // deployments that it creates for itself
	worth    float64        // its part of the weight of its requirement
	form     bool           // it is about forms and errors
}

// Spend gives the deployments of max_deployments to what judges the most for them, by importance: security, rollback and data before
// forms and errors ([reports.Gravity]), MUST before SHOULD. What is over is left out before the run, so that the seed and
// the pace of the target decide nothing.
func (f *Forecast) Spend(scenarios []*features.Scenario) {
	most := f.config.MaxDeployments
	if most == 0 {
		return
	}
	var open []*demand
	for _, s := range scenarios {
		if f.Applies(s) == nil {
			open = append(open, f.demandOf(s))
		}
	}
	paid, left := map[string]bool{}, most
	granted := func(d *demand) bool { return d.missing(paid) == 0 }
	for open = slices.DeleteFunc(open, granted); ; open = slices.DeleteFunc(open, granted) {
		best := best(open, paid, left)
		if best == nil {
			break
		}
		left -= best.missing(paid)
		for name := range best.shared {
			paid[name] = true
		}
		best.alone = 0
	}
	f.over = map[string]*outcome.Outcome{}
	for _, d := range open {
		f.over[d.scenario.Key()] = outcome.OverBudget("max_deployments", "the budget is used up by more important scenarios: raise max_deployments (now %d)", most)
	}
}

// best is the demand whose deployments let the most be judged, for each deployment of it; nil where none can be afforded.
func best(open []*demand, paid map[string]bool, left int) (chosen *demand) {
	var grave, form float64
	known := map[string]bool{}
	for _, d := range open {
		n := d.missing(paid)
		bundle := strings.Join(slices.Sorted(maps.Keys(d.shared)), "\n")
		if n > left || d.alone == 0 && known[bundle] {
			continue
		}
		known[bundle] = known[bundle] || d.alone == 0
		with := maps.Clone(paid)
		for name := range d.shared {
			with[name] = true
		}
		var g, f float64
		for _, other := range open {
			switch {
			case other != d && other.missing(with) > 0:
			case other.form:
				f += other.worth / float64(n)
			default:
				g += other.worth / float64(n)
			}
		}
		if chosen == nil || g > grave || g == grave && f > form {
			chosen, grave, form = d, g, f
		}
	}
	return chosen
}

// graver is the weight of a requirement by its subject, where that is not 1: one about security outweighs several about data.
var graver = map[string]float64{"isolation": 16, "security": 16, "rollback": 4}

// missing is how many deployments are still to be paid for the demand.
func (d *demand) missing(paid map[string]bool) int {
	n := d.alone
	for name, cost := range d.shared {
		if !paid[name] {
			n += cost
		}
	}
	return n
}

func (f *Forecast) demandOf(s *features.Scenario) *demand {
	q := s.Requirement
	d := &demand{scenario: s, shared: map[string]int{}, form: reports.Gravity(q.Subject) > reports.Gravity("")}
	d.worth = cmp.Or(graver[q.Subject], 1) / float64(len(q.Scenarios))
	if q.Level == reports.Must {
		d.worth *= 2
	}
	f.upToGap(s, func(def *common.Definition) {
		for _, c := range def.Costs {
			switch {
			case c.Fixture == "":
				d.alone += c.Deployments
			case c.Deployments > 0:
				d.shared[c.Fixture] = c.Deployments
			}
		}
	})
	return d
}
