package suite

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// requirement returns the result of a requirement: the worst verdict of its scenarios. If it has passed, its reason has
// the remarks of all scenarios.
func (r *run) requirement(of *features.Requirement, scenarios []*features.Scenario) reports.Requirement {
	q := of.InResult()
	q.Binding = r.binding(of)
	q.Claimed = features.Claims(r.target.Config.Supports).Promised(of)
	for i, s := range scenarios {
		scenario := r.scenario(s)
		q.Scenarios = append(q.Scenarios, scenario)
		if i == 0 || reports.Worse(q.Verdict, scenario.Verdict) != q.Verdict {
			q.Verdict = scenario.Verdict
			q.Reason = scenario.Reason
			q.Skip = scenario.Skip
			q.BlockedBy = scenario.BlockedBy
		}
	}
	if q.Verdict == reports.Passed {
		q.Reason = remarks(q.Scenarios)
	}
	return q
}

// remarks returns the remarks of all scenarios that have passed, each once.
func remarks(scenarios []reports.Scenario) string {
	var all []string
	for _, s := range scenarios {
		if s.Verdict == reports.Passed && s.Reason != "" && !slices.Contains(all, s.Reason) {
			all = append(all, s.Reason)
		}
	}
	return strings.Join(all, "; ")
}

func (r *run) scenario(s *features.Scenario) reports.Scenario {
	v, name := r.verdicts[s.Key()], s.Attribution()
	scenario := s.InResult()
	scenario.Verdict = v.Verdict
	scenario.Reason = r.target.Redact.Excerpt(v.Reason)
	scenario.Skip = v.Skip
	scenario.BlockedBy = r.blockers(v.Outcome)
	scenario.DurationMS = v.took.Milliseconds()
	for i := range scenario.Steps {
		switch {
		case i < v.step:
			scenario.Steps[i].Verdict = reports.Passed
		case i == v.step:
			scenario.Steps[i].Verdict = v.Verdict
		}
	}
	scenario.Exchanges = evidence.IDs(r.target.Collector.SentBy(name))
	scenario.Fixtures = r.maker.Uses(name)
	return scenario
}

// blockers returns the causes of a blocked or inconclusive scenario, each once.
func (r *run) blockers(o *outcome.Outcome) []reports.Blocker {
	if o.Verdict != reports.Blocked && o.Verdict != reports.Inconclusive {
		return nil
	}
	var all []reports.Blocker
	for _, b := range o.BlockedBy {
		b.Name = r.target.Redact.Text(b.Name)
		if !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	return all
}
