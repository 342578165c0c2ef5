// Package replay judges the findings of an earlier test run again. It runs the scenarios that showed them. Start with
// [Judge].
//
// The result file decides which scenarios to run, by their names. It never decides what to send, because it may come from
// anywhere: requests come from the step definitions of this version and from the configuration.
package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec/spelling"
	"github.com/agentconform/agentconform/steps/explore"
	"github.com/agentconform/agentconform/steps/suite"
)

// Outcome is the result of judging a finding again.
type Outcome struct {
	Finding reports.Finding
	Verdict reports.Verdict // Failed: it still fails; Passed: it passes now; Inconclusive: it could not be judged
	Reason  string          // the summary of the failure, or the reason why it could not be judged
	// Scenarios is the number of scenarios of the requirement that were run, and Failed how many of them failed.
	Scenarios, Failed int
}

// Find returns the finding whose ID begins with the name, or the findings of the requirement with this ID.
func Find(r *reports.Result, name string) (found []reports.Finding, err error) {
	var owners []string
	for _, f := range r.Findings {
		isID := name != "" && strings.HasPrefix(f.ID, strings.ToLower(name))
		if isID || strings.EqualFold(f.Requirement, name) {
			found = append(found, f)
		}
		if !slices.Contains(owners, f.Requirement) {
			owners = append(owners, f.Requirement)
		}
	}
	isOwner := len(found) > 0 && strings.EqualFold(found[0].Requirement, name)
	switch {
	case len(owners) == 0:
		return nil, errors.New("the result has no findings")
	case len(found) == 0:
		return nil, fmt.Errorf("the result has no finding %q; %sit has findings of %s", name,
			spelling.DidYouMean(spelling.Nearest(strings.ToUpper(name), owners)), strings.Join(owners, ", "))
	case len(found) > 1 && !isOwner:
		return nil, fmt.Errorf("the IDs of %d findings begin with %q; give more of the ID, such as %s", len(found), name,
			found[0].ID)
	}
	return found, nil
}

// Judge runs the scenarios of the findings again in one test run. It sets Select in the options. If findings about all
// responses cannot be judged by that, it judges them once more with more scenarios. It also returns the result of the
// last test run, which is empty if no scenario could be run.
func Judge(ctx context.Context, o suite.Options, was *reports.Result, findings []reports.Finding,
) ([]Outcome, *reports.Result, error) {
	unowned := unownedIn(was)
	tests := make([]test, len(findings))
	for i, f := range findings {
		tests[i] = testOf(f, was, unowned, o.Catalogue)
	}
	outcomes, now, err := judge(ctx, o, was, tests)
	if err != nil {
		return nil, nil, err
	}
	var again []test
	for i, outcome := range outcomes {
		if outcome.Verdict == reports.Inconclusive && len(tests[i].company) > 0 && ctx.Err() == nil {
			tests[i].accompanied = true
			again = append(again, tests[i])
		}
	}
	if len(again) == 0 {
		return outcomes, now, nil
	}
	further, now, err := judge(ctx, o, was, again)
	if err != nil {
		return nil, nil, err
	}
	for _, outcome := range further {
		i := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Finding.ID == outcome.Finding.ID })
		outcomes[i] = outcome
	}
	return outcomes, now, nil
}

// judge runs the scenarios of the tests in one test run.
func judge(ctx context.Context, o suite.Options, was *reports.Result, tests []test) ([]Outcome, *reports.Result, error) {
	o.Select = suite.Selection{}
	o.Once = true
	for i, t := range tests {
		isOfSame := func(other test) bool { return other.finding.Scenario == t.finding.Scenario }
		if !slices.ContainsFunc(tests[:i], isOfSame) {
			o.ExploreCase = append(o.ExploreCase, t.sequence...)
		}
		for _, s := range t.scenarios() {
			o.Select.Keys = append(o.Select.Keys, s.Key())
		}
	}
	slices.Sort(o.Select.Keys)
	o.Select.Keys = slices.Compact(o.Select.Keys)
	now := &reports.Result{}
	if len(o.Select.Keys) > 0 {
		var err error
		now, err = suite.Run(ctx, o)
		if err != nil {
			return nil, nil, err
		}
	}
	outcomes := make([]Outcome, len(tests))
	for i, t := range tests {
		t.unsent = now.Counts.Explored < len(o.ExploreCase)
		outcomes[i].Finding = t.finding
		outcomes[i].Scenarios, outcomes[i].Failed = t.count(now)
		outcomes[i].Verdict, outcomes[i].Reason = t.verdict(was, now)
	}
	return outcomes, now, nil
}

// test describes how a finding is judged again.
type test struct {
	finding reports.Finding
	judge   *features.Scenario   // the scenario that showed the finding first
	others  []*features.Scenario // further failed scenarios of the requirement that have no finding
	// request is the scenario that sends the request, for a rule about all responses. For other rules it is nil. In
	// the earlier test run it passed this number of steps.
	request *features.Scenario
	steps   int
	// users are further scenarios that use the fixture that sent the request, and that did not pass. A fixture sends some
	// requests only if a scenario judges their responses.
	users []*features.Scenario
	// company has scenarios that send similar requests. A rule about all responses compares responses with each other, so
	// the request by itself may show nothing.
	company     []*features.Scenario
	accompanied bool // company is run too
	// sequence is the sequence of an exploration. judge is then a scenario of the requirement that the sequence violated.
	sequence []explore.Operation
	unsent   bool   // at least one operation of the sequences was not sent
	missing  string // the reason if this version cannot judge the finding
}

func (t test) scenarios() []*features.Scenario {
	if t.missing != "" {
		return nil
	}
	all := slices.Concat(t.others, t.users, []*features.Scenario{t.judge})
	if t.request != nil {
		all = append(all, t.request)
	}
	if t.accompanied {
		all = append(all, t.company...)
	}
	return all
}

// mostCompany is the maximum number of scenarios in company.
const mostCompany = 5

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
	t.judge = find(c, f.Requirement, s.Name)
	if t.judge == nil {
		return t
	}
	t.missing = ""
	if !t.judge.Terms.Record {
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
	if x.Scenario == "fixture: the first request" { // every test run sends it
		return t
	}
	t.addSenders(x, was, c)
	if t.request == nil {
		t.missing = fmt.Sprintf("this version has no scenario that sends the request of the finding (%s)", x.Scenario)
	}
	return t
}

// addSenders adds the scenarios that send the request of an exchange, and the largest of the scenarios that send similar
// requests.
func (t *test) addSenders(x reports.Exchange, was *reports.Result, c *features.Catalogue) {
	fixture, isFixture := strings.CutPrefix(x.Scenario, "fixture: ")
	type similar struct {
		scenario *features.Scenario
		requests int
	}
	var company []similar
	operations := operationsIn(was)
	passed := false
	for _, q := range was.Requirements {
		for s := range reports.Each(q.Scenarios) {
			now := find(c, q.ID, s.Name)
			if now == nil || now.Terms.Record {
				continue
			}
			isSender := s.Attribution() == x.Scenario || isFixture && slices.Contains(s.Fixtures, fixture)
			if isSender && !passed {
				t.request = now
				t.steps = passedSteps(s)
				passed = s.Verdict == reports.Passed
				continue
			}
			sendsSame := func(exchange int) bool { return operations[exchange] == x.Operation }
			isSimilar := isSender || slices.ContainsFunc(s.Exchanges, sendsSame)
			switch {
			case isSimilar && s.Verdict == reports.Passed:
				company = append(company, similar{now, len(s.Exchanges)})
			case isSender && len(t.users) < mostCompany:
				t.users = append(t.users, now)
			}
		}
	}
	slices.SortStableFunc(company, func(a, b similar) int { return b.requests - a.requests })
	for _, s := range company[:min(len(company), mostCompany)] {
		t.company = append(t.company, s.scenario)
	}
}

func operationsIn(r *reports.Result) map[int]string {
	all := map[int]string{}
	for x := range reports.Each(r.Exchanges) {
		all[x.ID] = x.Operation
	}
	return all
}

// unownedIn returns the failed scenarios of a result that no finding names, because another scenario showed the finding
// first. Their keys are the requirement and the name.
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

// explored parses the sequence of an exploration. Only operations of the vocabulary are accepted, so that a result file
// cannot cause other requests.
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

// find returns a scenario of an earlier test run in this version, or nil.
func find(c *features.Catalogue, requirement, name string) *features.Scenario {
	q := c.Find(requirement)
	if q == nil {
		return nil
	}
	for _, s := range q.Scenarios {
		if s.Name == name {
			return s
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

// verdict judges the finding by the result of the new test run.
func (t test) verdict(was, now *reports.Result) (reports.Verdict, string) {
	if t.missing != "" {
		return reports.Inconclusive, t.missing
	}
	for _, f := range now.Findings {
		if t.isShownBy(f, was) {
			return reports.Failed, f.Summary
		}
	}
	if t.sequence != nil && t.unsent {
		return reports.Inconclusive, "the sequence could not be sent"
	}
	for _, judge := range append(t.others, t.judge) {
		s := resultOf(now, judge)
		if s.Verdict != reports.Passed && s.Verdict != reports.Failed {
			return reports.Inconclusive, fmt.Sprintf("%s: %s", s.Verdict, s.Reason)
		}
	}
	if t.request != nil {
		s := resultOf(now, t.request)
		wasSent := s.Verdict == reports.Passed || s.Verdict == reports.Failed && passedSteps(s) >= t.steps
		if !wasSent {
			return reports.Inconclusive, fmt.Sprintf("%s, which sends the request, %s: %s",
				t.request.Requirement.ID, s.Verdict, s.Reason)
		}
	}
	profile := t.judge.Requirement.Profile
	for _, half := range now.Target.Rejecting {
		if profile == half || profile == features.EndToEnd {
			half = strings.ReplaceAll(half, "-", " ")
			return reports.Inconclusive, fmt.Sprintf("the %s refuses the credentials of the configuration", half)
		}
	}
	return reports.Passed, ""
}

// count returns how many scenarios of the requirement were run again, and how many of them failed.
func (t test) count(now *reports.Result) (run, failed int) {
	if t.missing != "" {
		return 0, 0
	}
	for _, s := range append(t.others, t.judge) {
		verdict := resultOf(now, s).Verdict
		if verdict == reports.Failed {
			failed++
		}
		if verdict == reports.Passed || verdict == reports.Failed {
			run++
		}
	}
	return run, failed
}

// isShownBy reports whether a new finding shows the finding. It does not if the new finding equals another finding of the
// earlier test run, because that one is judged separately: a rule about all responses may have several findings, and
// other scenarios may have more.
func (t test) isShownBy(f reports.Finding, was *reports.Result) bool {
	isOther := f.ID != t.finding.ID &&
		slices.ContainsFunc(was.Findings, func(g reports.Finding) bool { return g.ID == f.ID })
	if f.Scenario == t.judge.Key() || t.sequence != nil && f.Requirement == t.finding.Requirement {
		if !isOther || !t.judge.Terms.Record {
			return true
		}
	}
	isOfOthers := slices.ContainsFunc(t.others, func(s *features.Scenario) bool { return s.Key() == f.Scenario })
	return isOfOthers && !isOther
}

// resultOf returns the result of a scenario, which is skipped if it is not in the test run.
func resultOf(r *reports.Result, s *features.Scenario) *reports.Scenario {
	found := scenario(r, s.Requirement.ID, s.Key())
	if found == nil {
		return &reports.Scenario{Verdict: reports.Skipped, Reason: "it was not run"}
	}
	return found
}

// scenario returns a scenario of a result by its requirement and key, or nil if there is none.
func scenario(r *reports.Result, requirement, key string) *reports.Scenario {
	q := r.Requirement(requirement)
	if q == nil {
		return nil
	}
	for s := range reports.Each(q.Scenarios) {
		if s.Key() == key {
			return s
		}
	}
	return nil
}
