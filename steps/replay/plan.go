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

// planner finds in the catalogue what the result names.
type planner struct {
	catalogue *features.Catalogue
	was       *reports.Result
}

func (p *planner) plan(f reports.Finding) *test {
	t := &test{finding: f}
	i := slices.IndexFunc(p.was.Requirements, func(q reports.Requirement) bool { return q.ID == f.Requirement })
	if i < 0 {
		t.missing = "the result has no requirement " + f.Requirement
		return t
	}
	for _, s := range p.was.Requirements[i].Scenarios {
		if s.Verdict != reports.Failed || p.ofAnother(f, key(s)) {
			continue
		}
		now := p.find(f.Requirement, s.Name)
		if now == nil {
			t.missing = fmt.Sprintf("this version has no scenario %q of %s", s.Name, f.Requirement)
			return t
		}
		t.judges = append(t.judges, now)
	}
	if len(t.judges) == 0 {
		t.missing = "the result has no failed scenario of it"
	} else if t.judges[0].Is(features.TagLast) {
		p.findEvidence(t)
	}
	return t
}

// ofAnother tells whether a scenario shows another finding of the requirement than this one.
func (p *planner) ofAnother(f reports.Finding, key string) bool {
	return f.Scenario != "" && key != f.Scenario && slices.ContainsFunc(p.was.Findings, func(g reports.Finding) bool {
		return g.Requirement == f.Requirement && g.Scenario == key
	})
}

func (p *planner) find(requirement, name string) *features.Scenario {
	for _, s := range p.catalogue.Scenarios() {
		if s.Requirement.ID == requirement && s.Name == name {
			return s
		}
	}
	return nil
}

// findEvidence finds the scenario that made the exchange which shows the finding, or else one that used the fixture which
// made it.
func (p *planner) findEvidence(t *test) {
	x, err := p.was.Exchanges.Get(t.finding.Exchange)
	if err != nil {
		t.missing = "the result has no exchange that shows it"
		return
	}
	if x.Scenario == firstRequest {
		return // every run makes it
	}
	fixture, _ := strings.CutPrefix(x.Scenario, "fixture: ")
	var used *reports.Scenario
	for _, q := range p.was.Requirements {
		for _, s := range q.Scenarios {
			now := p.find(q.ID, s.Name)
			if now == nil {
				continue
			}
			if key(s)+" "+s.Name == x.Scenario {
				if slices.Contains(t.judges, now) {
					return // it makes its own requests
				}
				t.shows, t.steps = now, passedSteps(s)
				return
			}
			if slices.Contains(s.Fixtures, fixture) && (used == nil || rank(s) < rank(*used)) {
				used, t.shows, t.steps = &s, now, passedSteps(s)
			}
		}
	}
	if t.shows == nil {
		t.missing = fmt.Sprintf("this version has no scenario that makes the request which shows it (%s)", x.Scenario)
	}
}

// rank prefers scenarios that passed, and of these the ones that need least.
func rank(s reports.Scenario) int {
	if s.Verdict != reports.Passed {
		return 1000
	}
	return len(s.Fixtures)
}

// firstRequest is what every run asks first, to see whether the target is there.
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
