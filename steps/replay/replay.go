package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/forecast"
	"github.com/agentconform/agentconform/steps/suite"
)

// Answer says of a finding what became of it.
type Answer struct {
	Finding reports.Finding
	Verdict reports.Verdict // Failed: it still fails; Passed: it passes now; Inconclusive: that cannot be told
	Reason  string          // what was seen, or why it cannot be told
}

// mostRuns bounds how often a scenario is run that observes nothing: a race that is not won.
const mostRuns = 3

// Judge runs the scenarios of the findings again, all in one run, and those that were inconclusive up to twice more. The
// options are those of a run; Select and Journal are set here. It also returns what could not be removed at the target.
func Judge(ctx context.Context, o suite.Options, was *reports.Result, findings []reports.Finding) ([]Answer, []reports.LedgerEntry, error) {
	all := pairs(o.Catalogue, was)
	answers := make([]Answer, len(findings))
	open := map[int]*test{} // by index of the finding
	for i, f := range findings {
		answers[i] = Answer{Finding: f, Verdict: reports.Inconclusive}
		if t := plan(f, was, all); t.missing != "" {
			answers[i].Reason = t.missing
		} else {
			open[i] = t
		}
	}
	var left []reports.LedgerEntry
	id := o.ID
	for run := 1; run <= mostRuns && len(open) > 0; run++ {
		o.ID, o.Journal, o.Select = fmt.Sprintf("%s-%d", id, run), reports.NewMemory(), forecast.Selection{Keys: keys(open)}
		now, err := suite.Run(ctx, o)
		if err != nil {
			return nil, left, err
		}
		for _, e := range now.Ledger {
			if e.Kind == "deployment" && !e.Removed {
				left = append(left, e)
			}
		}
		for i, t := range open {
			var again bool
			if answers[i], again = t.judge(was, now); !again {
				delete(open, i)
			}
		}
	}
	return answers, left, nil
}

func keys(open map[int]*test) (all []string) {
	for _, t := range open {
		for _, s := range t.judges {
			all = append(all, s.Key())
		}
		if t.shows != nil {
			all = append(all, t.shows.Key())
		}
	}
	return all
}

// judge says what became of the finding, and whether another run may tell where this one cannot.
func (t *test) judge(was, now *reports.Result) (a Answer, again bool) {
	a = Answer{Finding: t.finding, Verdict: reports.Passed}
	for _, f := range now.Findings {
		if f.ID == t.finding.ID || t.isJudgedBy(f) && !(t.seesAll() && isAmong(was.Findings, f)) {
			a.Verdict, a.Reason = reports.Failed, fmt.Sprintf("expected %s, got %s", f.Expected, f.Actual)
			return a, false
		}
	}
	for _, s := range t.judges {
		r := scenario(now, s)
		if r.Verdict != reports.Passed && r.Verdict != reports.Failed {
			a.Verdict, a.Reason = reports.Inconclusive, fmt.Sprintf("%s: %s", r.Verdict, r.Reason)
			return a, slices.ContainsFunc(r.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByObservation })
		}
	}
	if t.shows != nil {
		if r := scenario(now, t.shows); r.Verdict != reports.Passed && (r.Verdict != reports.Failed || passedSteps(*r) < t.steps) {
			a.Verdict, a.Reason = reports.Inconclusive, fmt.Sprintf("%s, which is to show it, %s: %s", t.shows.Requirement.ID, r.Verdict, r.Reason)
			return a, r.Verdict == reports.Inconclusive
		}
	}
	for _, half := range now.Target.Rejecting {
		if t.judges[0].Requirement.Profile == half || t.judges[0].Requirement.Profile == features.EndToEnd {
			a.Verdict, a.Reason = reports.Inconclusive, fmt.Sprintf("the %s refuses the credentials of the configuration", strings.ReplaceAll(half, "-", " "))
		}
	}
	return a, false
}

// seesAll tells whether the rule looks at all answers of a run: it tells of all its findings at once, each of which is
// judged by itself. Other scenarios end with the first.
func (t *test) seesAll() bool { return t.judges[0].Is(features.TagLast) }

func (t *test) isJudgedBy(f reports.Finding) bool {
	return slices.ContainsFunc(t.judges, func(s *features.Scenario) bool { return s.Key() == f.Scenario })
}

func isAmong(all []reports.Finding, f reports.Finding) bool {
	return slices.ContainsFunc(all, func(g reports.Finding) bool { return g.ID == f.ID })
}

// scenario finds a scenario in the result of a run that selected it.
func scenario(r *reports.Result, s *features.Scenario) *reports.Scenario {
	for i := range r.Requirements {
		for j := range r.Requirements[i].Scenarios {
			if found := &r.Requirements[i].Scenarios[j]; key(*found) == s.Key() {
				return found
			}
		}
	}
	return &reports.Scenario{Verdict: reports.Skipped, Reason: "it was not run"}
}
