package replay

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/explore"
)

func TestVerdict(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	get, contract, list := c.Find("CP-GET-1").Scenarios[0], c.Find("CP-CONTRACT-list-revisions").Scenarios[0], c.Find("CP-LIST-1").Scenarios[0]
	simple := test{finding: reports.Finding{ID: "a"}, judge: get}
	several := test{finding: reports.Finding{ID: "a"}, judge: get, others: []*features.Scenario{list}}
	sequence := []explore.Operation{{}}
	closing := test{finding: reports.Finding{ID: "a"}, judge: contract, request: list, steps: 2}
	was := &reports.Result{Findings: []reports.Finding{{ID: "a"}, {ID: "known"}}}
	as := func(s *features.Scenario, verdict reports.Verdict, steps int) reports.Requirement {
		result := reports.Scenario{URI: s.URI, Line: s.Line, Verdict: verdict, Reason: "so", Steps: make([]reports.Step, 3)}
		for i := range steps {
			result.Steps[i].Verdict = reports.Passed
		}
		return reports.Requirement{ID: s.Requirement.ID, Scenarios: []reports.Scenario{result}}
	}
	shown := func(id string, s *features.Scenario, more ...reports.Requirement) reports.Result {
		return reports.Result{Findings: []reports.Finding{{ID: id, Scenario: s.Key(), Summary: "it is wrong"}},
			Requirements: append(more, as(s, reports.Failed, 1))}
	}
	ran := func(all ...reports.Requirement) reports.Result { return reports.Result{Requirements: all} }
	refusing := ran(as(get, reports.Passed, 3))
	refusing.Target.Rejecting = []string{"control-plane"}
	good := as(contract, reports.Passed, 3)
	for name, each := range map[string]struct {
		test   test
		now    reports.Result
		want   reports.Verdict
		reason string
	}{
		"it passes":                           {simple, ran(as(get, reports.Passed, 3)), reports.Passed, ""},
		"it fails":                            {simple, shown("a", get), reports.Failed, "it is wrong"},
		"it fails otherwise":                  {simple, shown("known", get), reports.Failed, "it is wrong"},
		"it is blocked":                       {simple, ran(as(get, reports.Blocked, 0)), reports.Inconclusive, "blocked: so"},
		"it was not run":                      {simple, ran(), reports.Inconclusive, "skipped: it was not run"},
		"another of its scenarios fails":      {several, shown("a", list, as(get, reports.Passed, 3)), reports.Failed, "it is wrong"},
		"a scenario shows another finding":    {several, shown("known", list, as(get, reports.Passed, 3)), reports.Passed, ""},
		"another of its scenarios is blocked": {several, ran(as(get, reports.Passed, 3), as(list, reports.Blocked, 0)), reports.Inconclusive, "blocked: so"},
		"a sequence was not sent": {test{judge: get, sequence: sequence, unsent: true}, ran(as(get, reports.Passed, 3)),
			reports.Inconclusive, "the sequence could not be sent"},
		"a sequence passes":       {test{judge: get, sequence: sequence}, ran(as(get, reports.Passed, 3)), reports.Passed, ""},
		"credentials are refused": {simple, refusing, reports.Inconclusive, "the control plane refuses the credentials of the configuration"},
		"as bad as it was":        {closing, shown("a", contract, as(list, reports.Passed, 3)), reports.Failed, "it is wrong"},
		"all responses are good":  {closing, ran(good, as(list, reports.Passed, 3)), reports.Passed, ""},
		"another known finding":   {closing, shown("known", contract, as(list, reports.Passed, 3)), reports.Passed, ""},
		"a new finding":           {closing, shown("new", contract, as(list, reports.Passed, 3)), reports.Failed, "it is wrong"},
		"as far as then":          {closing, ran(good, as(list, reports.Failed, 2)), reports.Passed, ""},
		"not as far as then":      {closing, ran(good, as(list, reports.Failed, 1)), reports.Inconclusive, "CP-LIST-1, which sends the request, failed: so"},
		"what shows it is blocked": {closing, ran(good, as(list, reports.Blocked, 2)), reports.Inconclusive,
			"CP-LIST-1, which sends the request, blocked: so"},
	} {
		verdict, reason := each.test.verdict(was, &each.now)
		assert.Equal(t, each.want, verdict, name)
		assert.Equal(t, each.reason, reason, name)
	}
}

func TestFind(t *testing.T) {
	was := &reports.Result{Findings: []reports.Finding{{ID: "3f2a", Requirement: "CP-LIST-3"},
		{ID: "3f9b", Requirement: "CP-LIST-3"}, {ID: "c001", Requirement: "CP-LIST-19"}}}
	for name, want := range map[string]string{
		"3f2":       "3f2a",
		"C":         "c001",
		"cp-list-3": "3f2a 3f9b",
		"3f":        `the IDs of 2 findings begin with "3f"; give more of the ID, such as 3f2a`,
		"CP-LIST-4": `the result has no finding "CP-LIST-4"; did you mean CP-LIST-3? it has findings of CP-LIST-3, CP-LIST-19`,
	} {
		found, err := Find(was, name)
		var got []string
		for _, f := range found {
			got = append(got, f.ID)
		}
		if err != nil {
			got = append(got, err.Error())
		}
		assert.Equal(t, want, strings.Join(got, " "), name)
	}
}

func TestAFindingOfSeveralScenariosIsJudgedByAll(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	q := c.Find("CP-LIST-3")
	f, of := reports.Finding{Requirement: q.ID, Scenario: q.Scenarios[0].Key()}, q.InResult()
	for i, verdict := range []reports.Verdict{reports.Failed, reports.Failed, reports.Passed} {
		of.Scenarios = append(of.Scenarios, q.Scenarios[i].InResult())
		of.Scenarios[i].Verdict = verdict
	}
	was := &reports.Result{Requirements: []reports.Requirement{of}, Findings: []reports.Finding{f}}
	assert.Equal(t, q.Scenarios[1:2], testOf(f, was, unownedIn(was), c).others)
}

func TestCompanyIsTheScenariosWithMostRequests(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	of, list := c.Find("CP-INVARIANT-3"), c.Find("CP-LIST-3")
	closing, sending := of.InResult(), list.InResult()
	closing.Scenarios = append(closing.Scenarios, of.Scenarios[0].InResult())
	was := &reports.Result{Exchanges: []reports.Exchange{{ID: 1, Operation: "list-revisions",
		Scenario: list.Scenarios[0].Attribution()}}}
	for i := range 3 {
		s := list.Scenarios[i].InResult()
		s.Verdict = reports.Passed
		for id := 1; id <= i+1; id++ {
			s.Exchanges = append(s.Exchanges, 10*i+id)
			was.Exchanges = append(was.Exchanges, reports.Exchange{ID: 10*i + id, Operation: "list-revisions"})
		}
		sending.Scenarios = append(sending.Scenarios, s)
	}
	was.Requirements = []reports.Requirement{closing, sending}
	f := reports.Finding{Requirement: of.ID, Scenario: of.Scenarios[0].Key(), Exchange: 1}

	found := testOf(f, was, nil, c)

	assert.Equal(t, list.Scenarios[0], found.request)
	assert.Equal(t, []*features.Scenario{list.Scenarios[2], list.Scenarios[1]}, found.company)
	assert.NotContains(t, found.scenarios(), list.Scenarios[2])
	found.accompanied = true
	assert.Contains(t, found.scenarios(), list.Scenarios[2])
}
