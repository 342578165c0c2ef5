// Package replay judges findings of an earlier run again: a run of the scenarios that showed them.
//
// The result file says which scenarios to run, by their names. It never says what to send: requests come from the
// definitions of this version and the configuration alone, since a result file may come from anywhere.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/suite"
)

// Answer says of a finding what became of it.
type Answer struct {
	Finding reports.Finding
	Verdict reports.Verdict // Failed: it still fails; Passed: it passes now; Inconclusive: that cannot be told
	Reason  string          // what was seen, or why it cannot be told
}

// Find returns the findings that a name stands for: the id of one, or the ID of a requirement.
func Find(r *reports.Result, name string) (found []reports.Finding, err error) {
	var all []string
	for _, f := range r.Findings {
		if f.ID == name || strings.EqualFold(f.Requirement, name) {
			found = append(found, f)
		}
		all = append(all, f.ID+" ("+f.Requirement+")")
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the result has no finding with the ID %q and none of a requirement with this ID; it has %s",
			name, cmp.Or(strings.Join(all, ", "), "no findings"))
	}
	return found, nil
}

// Judge runs the scenarios of the findings again, all in one run. The options are those of a run; Select is set
// here. It also returns the result of this run, which is empty where no scenario could be run.
func Judge(ctx context.Context, o suite.Options, was *reports.Result, findings []reports.Finding,
) ([]Answer, *reports.Result, error) {
	tests, answers := make([]test, len(findings)), make([]Answer, len(findings))
	o.Select, o.Once = suite.Selection{}, true
	unowned := unownedIn(was)
	for i, f := range findings {
		tests[i] = testOf(f, was, unowned, o.Catalogue)
		isOfSame := func(g reports.Finding) bool { return g.Scenario == f.Scenario }
		if !slices.ContainsFunc(findings[:i], isOfSame) {
			o.ExploreCase = append(o.ExploreCase, tests[i].sequence...)
		}
		if tests[i].missing == "" {
			for _, s := range append(tests[i].others, tests[i].judge, tests[i].shows) {
				if s != nil {
					o.Select.Keys = append(o.Select.Keys, s.Key())
				}
			}
		}
	}
	slices.Sort(o.Select.Keys)
	o.Select.Keys = slices.Compact(o.Select.Keys)
	now := &reports.Result{}
	if len(o.Select.Keys) > 0 {
		var err error
		if now, err = suite.Run(ctx, o); err != nil {
			return nil, nil, err
		}
	}
	for i, t := range tests {
		t.unsent = now.Counts.Explored < len(o.ExploreCase)
		answers[i].Finding = findings[i]
		answers[i].Verdict, answers[i].Reason = t.verdict(was, now)
	}
	return answers, now, nil
}

// test is how a finding is judged again.
type test struct {
	finding reports.Finding
	judge   *features.Scenario   // that found it first
	others  []*features.Scenario // of the requirement that failed too, and have no finding of their own
	// shows is the scenario that makes the request which a rule about all answers of a run judges, and had got as far as
	// steps; nil for other rules.
	shows *features.Scenario
	steps int
	// sequence is what exploration had sent; judge is then a scenario of the requirement that it broke.
	sequence []explore.Operation
	unsent   bool   // not all of the sequences was sent, of this finding or another
	missing  string // why it cannot be judged by this version
}

func testOf(f reports.Finding, was *reports.Result, unowned map[string]bool, c *features.Catalogue) test {
	t := test{finding: f, missing: "this version has no scenario of " + f.Requirement + " that found it"}
	s := scenario(was, f.Requirement, f.Scenario)
	if s == nil {
		return t
	}
	if explore.IsURI(s.URI) {
		t.judge, t.sequence, t.missing = explored(c, f.Requirement, s)
		return t
	}
	if t.judge = find(c, f.Requirement, s.Name); t.judge == nil {
		return t
	}
	t.missing = ""
	if !t.judge.Is(features.TagLast) {
		for _, s := range c.Find(f.Requirement).Scenarios {
			if unowned[f.Requirement+" "+s.Name] {
				t.others = append(t.others, s)
			}
		}
		return t
	}
	x, err := was.Exchange(f.Exchange)
	if err != nil {
		t.missing = "the result has no exchange that shows it"
		return t
	}
	fixture, used := strings.CutPrefix(x.Scenario, "fixture: ")
	if fixture == "the first request" { // every run makes it
		return t
	}
	passed := false
	for _, q := range was.Requirements {
		for s := range reports.Each(q.Scenarios) {
			now := find(c, q.ID, s.Name)
			if now == nil || passed || s.Key()+" "+s.Name != x.Scenario && !(used && slices.Contains(s.Fixtures, fixture)) {
				continue
			}
			t.shows = now
			t.steps = passedSteps(s)
			passed = s.Verdict == reports.Passed
		}
	}
	if t.shows == nil {
		t.missing = fmt.Sprintf("this version has no scenario that makes the request which shows it (%s)", x.Scenario)
	}
	return t
}

// unownedIn are the scenarios of a result that failed and that no finding names: a finding names the first one that
// showed it. They are told by requirement and name.
func unownedIn(was *reports.Result) map[string]bool {
	named, all := map[string]bool{}, map[string]bool{}
	for _, f := range was.Findings {
		named[f.Requirement+" "+f.Scenario] = true
	}
	for q := range reports.Each(was.Requirements) {
		for s := range reports.Each(q.Scenarios) {
			if s.Verdict == reports.Failed && !named[q.ID+" "+s.Key()] {
				all[q.ID+" "+s.Name] = true
			}
		}
	}
	return all
}

// explored reads the operations of a sequence that exploration has found, in the words of the vocabulary: a result
// cannot have others sent.
func explored(c *features.Catalogue, requirement string, s *reports.Scenario) (
	judge *features.Scenario, all []explore.Operation, missing string,
) {
	var text strings.Builder
	for _, step := range s.Steps {
		fmt.Fprintf(&text, "%s %s\n", step.Keyword, step.Text)
	}
	all, err := explore.Parse(text.String())
	q := c.Find(requirement)
	if err != nil || q == nil {
		return nil, nil, fmt.Sprintf("this version does not know the sequence: %v", err)
	}
	return q.Scenarios[0], all, ""
}

// find finds a scenario of an earlier run in this version.
func find(c *features.Catalogue, requirement, name string) *features.Scenario {
	if q := c.Find(requirement); q != nil {
		for _, s := range q.Scenarios {
			if s.Name == name {
				return s
			}
		}
	}
	return nil
}

func passedSteps(s *reports.Scenario) (n int) {
	for _, step := range s.Steps {
		if step.Verdict == reports.Passed {
			n++
		}
	}
	return n
}

// verdict says what became of the finding. A rule about all answers of a run finds other known findings too, and so do
// other scenarios: each of them is judged by itself.
func (t test) verdict(was, now *reports.Result) (reports.Verdict, string) {
	if t.missing != "" {
		return reports.Inconclusive, t.missing
	}
	for _, f := range now.Findings {
		isAnother := f.ID != t.finding.ID &&
			slices.ContainsFunc(was.Findings, func(g reports.Finding) bool { return g.ID == f.ID })
		ofJudge := f.Scenario == t.judge.Key() || t.sequence != nil && f.Requirement == t.finding.Requirement
		ofOthers := slices.ContainsFunc(t.others, func(s *features.Scenario) bool { return s.Key() == f.Scenario })
		if ofJudge && !(isAnother && t.judge.Is(features.TagLast)) || ofOthers && !isAnother {
			return reports.Failed, fmt.Sprintf("expected %s, got %s", f.Expected, f.Actual)
		}
	}
	if t.sequence != nil && t.unsent {
		return reports.Inconclusive, "the sequence could not be sent"
	}
	for _, judge := range append(t.others, t.judge) {
		if s := told(now, judge); s.Verdict != reports.Passed && s.Verdict != reports.Failed {
			return reports.Inconclusive, fmt.Sprintf("%s: %s", s.Verdict, s.Reason)
		}
	}
	if t.shows != nil {
		if s := told(now, t.shows); s.Verdict != reports.Passed && (s.Verdict != reports.Failed || passedSteps(s) < t.steps) {
			return reports.Inconclusive, fmt.Sprintf("%s, which is to show it, %s: %s",
				t.shows.Requirement.ID, s.Verdict, s.Reason)
		}
	}
	for _, half := range now.Target.Rejecting {
		if profile := t.judge.Requirement.Profile; profile == half || profile == features.EndToEnd {
			half = strings.ReplaceAll(half, "-", " ")
			return reports.Inconclusive, fmt.Sprintf("the %s refuses the credentials of the configuration", half)
		}
	}
	return reports.Passed, ""
}

// told is what a run says of a scenario.
func told(r *reports.Result, s *features.Scenario) *reports.Scenario {
	return cmp.Or(scenario(r, s.Requirement.ID, s.Key()), &reports.Scenario{Verdict: reports.Skipped,
		Reason: "it was not run"})
}

// scenario returns a scenario of a result by its requirement and key; nil where there is none.
func scenario(r *reports.Result, requirement, key string) *reports.Scenario {
	q := cmp.Or(r.Requirement(requirement), &reports.Requirement{})
	for s := range reports.Each(q.Scenarios) {
		if s.Key() == key {
			return s
		}
	}
	return nil
}
