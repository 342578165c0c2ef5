package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
)

// Find returns the findings that a name stands for: the id of one, or the ID of a requirement.
func Find(r *reports.Result, name string) ([]reports.Finding, error) {
	var found []reports.Finding
	var all []string
	for _, f := range r.Findings {
		if f.ID == name || strings.EqualFold(f.Requirement, name) {
			found = append(found, f)
		}
		all = append(all, f.ID+" ("+f.Requirement+")")
	}
	if len(all) == 0 {
		all = []string{"no findings"}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the result has no finding with the ID %q and none of a requirement with this ID; it has %s", name, strings.Join(all, ", "))
	}
	return found, nil
}

// test is how a finding is judged again.
type test struct {
	finding reports.Finding
	judges  []*features.Scenario // of the finding's requirement
	// shows is the scenario that brings about the answer which a rule about all answers of a run judges; nil for other
	// rules. It had got as far as steps.
	shows   *features.Scenario
	steps   int
	missing string // why it cannot be judged by this version
}

// pair is a scenario of the earlier run and the same one of this version; nil where that has none of its name.
type pair struct {
	requirement string
	was         reports.Scenario
	now         *features.Scenario
}

func pairs(c *features.Catalogue, was *reports.Result) (all []pair) {
	type name struct{ requirement, scenario string }
	known := map[name]*features.Scenario{}
	for _, s := range c.Scenarios() {
		known[name{s.Requirement.ID, s.Name}] = s
	}
	for _, q := range was.Requirements {
		for _, s := range q.Scenarios {
			all = append(all, pair{q.ID, s, known[name{q.ID, s.Name}]})
		}
	}
	return all
}

// plan says how a finding of the earlier run is judged again.
func plan(f reports.Finding, was *reports.Result, all []pair) *test {
	t := &test{finding: f}
	for _, s := range all {
		if s.requirement != f.Requirement || s.was.Verdict != reports.Failed || isOfAnother(f, was, key(s.was)) {
			continue
		}
		if s.now == nil {
			t.missing = fmt.Sprintf("this version has no scenario %q of %s", s.was.Name, f.Requirement)
			return t
		}
		t.judges = append(t.judges, s.now)
	}
	if len(t.judges) == 0 {
		t.missing = "the result has no failed scenario of " + f.Requirement
	} else if t.seesAll() {
		t.findEvidence(was, all)
	}
	return t
}

// isOfAnother reports whether a scenario shows another finding of the requirement than this one.
func isOfAnother(f reports.Finding, was *reports.Result, key string) bool {
	return f.Scenario != "" && key != f.Scenario && slices.ContainsFunc(was.Findings, func(g reports.Finding) bool {
		return g.Requirement == f.Requirement && g.Scenario == key
	})
}

// findEvidence finds the scenario that made the exchange which shows the finding, or else one that used the fixture which
// made it.
func (t *test) findEvidence(was *reports.Result, all []pair) {
	x, err := was.Exchanges.Get(t.finding.Exchange)
	if err != nil {
		t.missing = "the result has no exchange that shows it"
		return
	}
	if x.Scenario == firstRequest {
		return // every run makes it
	}
	best := notUsed
	for _, s := range all {
		if s.now == nil {
			continue
		}
		if key(s.was)+" "+s.was.Name == x.Scenario {
			if !slices.Contains(t.judges, s.now) { // which makes its own requests
				t.shows, t.steps = s.now, passedSteps(s.was)
			}
			return
		}
		if r := rank(s.was, strings.TrimPrefix(x.Scenario, "fixture: ")); r < best {
			best, t.shows, t.steps = r, s.now, passedSteps(s.was)
		}
	}
	if t.shows == nil {
		t.missing = fmt.Sprintf("this version has no scenario that makes the request which shows it (%s)", x.Scenario)
	}
}

// notUsed ranks what does not use a fixture.
const notUsed = 1 << 20

// rank prefers of the scenarios that used a fixture those that passed, and of these the ones that need least.
func rank(s reports.Scenario, fixture string) int {
	switch {
	case !slices.Contains(s.Fixtures, fixture):
		return notUsed
	case s.Verdict != reports.Passed:
		return notUsed - 1
	}
	return len(s.Fixtures)
}

// firstRequest is the first request of every run: it shows whether the target answers.
const firstRequest = "fixture: the first request"

func key(s reports.Scenario) string { return fmt.Sprintf("%s:%d", s.URI, s.Line) }

// passedSteps is how far a scenario got.
func passedSteps(s reports.Scenario) (n int) {
	for _, step := range s.Steps {
		if step.Verdict == reports.Passed {
			n++
		}
	}
	return n
}
