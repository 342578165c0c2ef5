package replay

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

func catalogue(t *testing.T) *features.Catalogue {
	t.Helper()
	c, err := features.Load()
	require.NoError(t, err)
	return c
}

// first is the first scenario of a requirement as a run of this version would tell of it.
func first(t *testing.T, c *features.Catalogue, id string, verdict reports.Verdict) (*features.Scenario, reports.Scenario) {
	t.Helper()
	q := c.Find(id)
	require.NotNil(t, q, id)
	s := q.Scenarios[0]
	return s, reports.Scenario{Name: s.Name, URI: s.URI, Line: s.Line, Verdict: verdict}
}

// earlier makes the result of an earlier run in which the scenarios ended so.
func earlier(exchanges []reports.Exchange, requirements ...reports.Requirement) *reports.Result {
	journal := reports.NewMemory()
	for _, x := range exchanges {
		_, _ = journal.Append(x)
	}
	return &reports.Result{Requirements: requirements, Exchanges: journal}
}

func TestFind(t *testing.T) {
	r := &reports.Result{Findings: []reports.Finding{{ID: "a1", Requirement: "CP-GET-1"}, {ID: "a2", Requirement: "CP-GET-1"}, {ID: "b", Requirement: "CP-GET-2"}}}
	for name, want := range map[string]int{"a1": 1, "CP-GET-1": 2, "cp-get-2": 1} {
		found, err := Find(r, name)
		require.NoError(t, err, name)
		assert.Len(t, found, want, name)
	}
	_, err := Find(r, "CP-GET-3")
	assert.ErrorContains(t, err, "it has a1 (CP-GET-1), a2 (CP-GET-1), b (CP-GET-2)")
	_, err = Find(&reports.Result{}, "CP-GET-3")
	assert.ErrorContains(t, err, "it has no findings")
}

func TestPlan(t *testing.T) {
	c := catalogue(t)
	get, wasGet := first(t, c, "CP-GET-1", reports.Failed)
	list, wasList := first(t, c, "CP-LIST-1", reports.Passed)
	contract, wasContract := first(t, c, "CP-CONTRACT-list-revisions", reports.Failed)
	stays, wasStays := first(t, c, "CP-POLL-2", reports.Failed)
	wasList.Fixtures = []string{"a deployment", "a DEPLOYED deployment"}
	wasList.Steps = []reports.Step{{Verdict: reports.Passed}, {Verdict: reports.Passed}}
	was := earlier([]reports.Exchange{{Scenario: list.Key() + " " + list.Name}, {Scenario: "fixture: a DEPLOYED deployment"}, {Scenario: firstRequest}, {Scenario: "fixture: of another version"}, {Scenario: stays.Key() + " " + stays.Name}},
		reports.Requirement{ID: "CP-POLL-2", Scenarios: []reports.Scenario{wasStays}},
		reports.Requirement{ID: "CP-GET-1", Scenarios: []reports.Scenario{wasGet, {Name: "gone", Verdict: reports.Passed}}},
		reports.Requirement{ID: "CP-LIST-1", Scenarios: []reports.Scenario{wasList}},
		reports.Requirement{ID: "CP-CONTRACT-list-revisions", Scenarios: []reports.Scenario{wasContract}},
		reports.Requirement{ID: "CP-GET-2", Scenarios: []reports.Scenario{{Name: "of another version", Verdict: reports.Failed}}},
		reports.Requirement{ID: "CP-GET-3", Scenarios: []reports.Scenario{{Name: "passed", Verdict: reports.Passed}}})
	all := pairs(c, was)
	for name, each := range map[string]struct {
		finding reports.Finding
		judges  *features.Scenario
		shows   *features.Scenario
		missing string
	}{
		"its scenario":              {finding: reports.Finding{Requirement: "CP-GET-1"}, judges: get},
		"the contract, by scenario": {finding: reports.Finding{Requirement: "CP-CONTRACT-list-revisions", Exchange: 1}, judges: contract, shows: list},
		"the contract, by fixture":  {finding: reports.Finding{Requirement: "CP-CONTRACT-list-revisions", Exchange: 2}, judges: contract, shows: list},
		"requests of its own":       {finding: reports.Finding{Requirement: "CP-POLL-2", Exchange: 5}, judges: stays},
		"what every run asks":       {finding: reports.Finding{Requirement: "CP-CONTRACT-list-revisions", Exchange: 3}, judges: contract},
		"an unknown fixture":        {finding: reports.Finding{Requirement: "CP-CONTRACT-list-revisions", Exchange: 4}, missing: "this version has no scenario that makes the request"},
		"no exchange":               {finding: reports.Finding{Requirement: "CP-CONTRACT-list-revisions"}, missing: "no exchange that shows it"},
		"a scenario that is gone":   {finding: reports.Finding{Requirement: "CP-GET-2"}, missing: `this version has no scenario "of another version" of CP-GET-2`},
		"none that failed":          {finding: reports.Finding{Requirement: "CP-GET-3"}, missing: "no failed scenario"},
		"an unknown requirement":    {finding: reports.Finding{Requirement: "CP-NONE-1"}, missing: "no failed scenario of CP-NONE-1"},
	} {
		got := plan(each.finding, was, all)
		if each.missing != "" {
			assert.Contains(t, got.missing, each.missing, name)
			continue
		}
		require.Empty(t, got.missing, name)
		assert.Equal(t, []*features.Scenario{each.judges}, got.judges, name)
		assert.Equal(t, each.shows, got.shows, name)
	}
}

func TestTheScenarioThatUsedAFixture(t *testing.T) {
	little := reports.Scenario{Verdict: reports.Passed, Fixtures: []string{"a"}}
	much := reports.Scenario{Verdict: reports.Passed, Fixtures: []string{"a", "b"}}
	failed := reports.Scenario{Verdict: reports.Failed, Fixtures: []string{"a"}}
	assert.Less(t, rank(little, "a"), rank(much, "a"))
	assert.Less(t, rank(much, "a"), rank(failed, "a"))
	assert.Less(t, rank(failed, "a"), notUsed)
	assert.Equal(t, notUsed, rank(little, "b"))
}

// TestEachFindingHasItsScenarios holds the scenario that shows another finding of the requirement back.
func TestEachFindingHasItsScenarios(t *testing.T) {
	c := catalogue(t)
	q := c.Find("CP-LIST-3")
	var all []reports.Scenario
	for _, s := range q.Scenarios[:3] {
		all = append(all, reports.Scenario{Name: s.Name, URI: s.URI, Line: s.Line, Verdict: reports.Failed})
	}
	was := earlier(nil, reports.Requirement{ID: q.ID, Scenarios: all})
	was.Findings = []reports.Finding{{ID: "a", Requirement: q.ID, Scenario: q.Scenarios[0].Key()}, {ID: "b", Requirement: q.ID, Scenario: q.Scenarios[1].Key()}}
	assert.Equal(t, []*features.Scenario{q.Scenarios[0], q.Scenarios[2]}, plan(was.Findings[0], was, pairs(c, was)).judges)
	assert.Equal(t, []*features.Scenario{q.Scenarios[1], q.Scenarios[2]}, plan(was.Findings[1], was, pairs(c, was)).judges)
}

func TestJudge(t *testing.T) {
	c := catalogue(t)
	get, _ := first(t, c, "CP-GET-1", "")
	contract, _ := first(t, c, "CP-CONTRACT-list-revisions", "")
	list, _ := first(t, c, "CP-LIST-1", "")
	simple := test{finding: reports.Finding{ID: "a", Requirement: "CP-GET-1"}, judges: []*features.Scenario{get}}
	closing := test{finding: reports.Finding{ID: "a", Requirement: contract.Requirement.ID}, judges: []*features.Scenario{contract}, shows: list, steps: 2}
	was := &reports.Result{Findings: []reports.Finding{{ID: "a"}, {ID: "known"}}}
	as := func(s *features.Scenario, verdict reports.Verdict, reason string, steps int) reports.Requirement {
		told := reports.Scenario{Name: s.Name, URI: s.URI, Line: s.Line, Verdict: verdict, Reason: reason, Steps: make([]reports.Step, 3)}
		for i := range steps {
			told.Steps[i].Verdict = reports.Passed
		}
		if verdict == reports.Inconclusive {
			told.BlockedBy = []reports.Blocker{{Kind: reports.ByObservation}}
		}
		return reports.Requirement{ID: s.Requirement.ID, Scenarios: []reports.Scenario{told}}
	}
	shown := func(id string, s *features.Scenario) []reports.Finding {
		return []reports.Finding{{ID: id, Requirement: s.Requirement.ID, Scenario: s.Key(), Expected: "x", Actual: "y"}}
	}
	good := as(contract, reports.Passed, "", 3)
	for name, each := range map[string]struct {
		test   test
		now    reports.Result
		want   reports.Verdict
		reason string
		again  bool
	}{
		"it passes":          {test: simple, now: reports.Result{Requirements: []reports.Requirement{as(get, reports.Passed, "", 3)}}, want: reports.Passed},
		"it fails":           {test: simple, now: reports.Result{Findings: shown("a", get), Requirements: []reports.Requirement{as(get, reports.Failed, "", 1)}}, want: reports.Failed, reason: "expected x, got y"},
		"it fails otherwise": {test: simple, now: reports.Result{Findings: shown("known", get), Requirements: []reports.Requirement{as(get, reports.Failed, "", 1)}}, want: reports.Failed, reason: "expected x, got y"},
		"it is blocked":      {test: simple, now: reports.Result{Requirements: []reports.Requirement{as(get, reports.Blocked, "no deployment", 0)}}, want: reports.Inconclusive, reason: "blocked: no deployment"},
		"it is skipped":      {test: simple, now: reports.Result{Requirements: []reports.Requirement{as(get, reports.Skipped, "set target", 0)}}, want: reports.Inconclusive, reason: "skipped: set target"},
		"the race is lost":   {test: simple, now: reports.Result{Requirements: []reports.Requirement{as(get, reports.Inconclusive, "too fast", 0)}}, want: reports.Inconclusive, reason: "inconclusive: too fast", again: true},
		"it was not run":     {test: simple, want: reports.Inconclusive, reason: "skipped: it was not run"},
		"credentials are refused": {test: simple, now: reports.Result{Target: reports.Target{Rejecting: []string{"control-plane"}}, Requirements: []reports.Requirement{as(get, reports.Passed, "", 3)}},
			want: reports.Inconclusive, reason: "the control plane refuses the credentials of the configuration"},
		"an answer is as bad as it was": {test: closing, now: reports.Result{Findings: shown("a", contract), Requirements: []reports.Requirement{as(contract, reports.Failed, "", 2), as(list, reports.Passed, "", 3)}}, want: reports.Failed, reason: "expected x, got y"},
		"all answers are good":          {test: closing, now: reports.Result{Requirements: []reports.Requirement{good, as(list, reports.Passed, "", 3)}}, want: reports.Passed},
		"another known finding is left": {test: closing, now: reports.Result{Findings: shown("known", contract), Requirements: []reports.Requirement{as(contract, reports.Failed, "", 2), as(list, reports.Passed, "", 3)}}, want: reports.Passed},
		"there is a new finding":        {test: closing, now: reports.Result{Findings: shown("new", contract), Requirements: []reports.Requirement{as(contract, reports.Failed, "", 2), as(list, reports.Passed, "", 3)}}, want: reports.Failed, reason: "expected x, got y"},
		"as far as it got then":         {test: closing, now: reports.Result{Requirements: []reports.Requirement{good, as(list, reports.Failed, "bad", 2)}}, want: reports.Passed},
		"not as far as it got then":     {test: closing, now: reports.Result{Requirements: []reports.Requirement{good, as(list, reports.Failed, "bad", 1)}}, want: reports.Inconclusive, reason: "CP-LIST-1, which is to show it, failed: bad"},
		"what shows it is blocked":      {test: closing, now: reports.Result{Requirements: []reports.Requirement{good, as(list, reports.Blocked, "bad", 2)}}, want: reports.Inconclusive, reason: "CP-LIST-1, which is to show it, blocked: bad"},
	} {
		got, again := each.test.judge(was, &each.now)
		assert.Equal(t, each.want, got.Verdict, name)
		assert.Equal(t, each.reason, got.Reason, name)
		assert.Equal(t, each.again, again, name)
	}
}

// TestAResultFileDecidesNoRequest replays what somebody has put into a result file: other addresses, other requests.
func TestAResultFileDecidesNoRequest(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	serve := func(name string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			heard = append(heard, name+" "+r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Api-Key"))
			w.WriteHeader(http.StatusNotFound)
		}))
		t.Cleanup(s.Close)
		return s
	}
	target, evil := serve("target"), serve("evil")
	c := catalogue(t)
	s, told := first(t, c, "CP-GET-2", reports.Failed)
	was := earlier([]reports.Exchange{{Scenario: s.Key() + " " + s.Name, Method: http.MethodDelete, URL: evil.URL + "/v2/deployments/mine",
		Request: reports.Message{Headers: map[string][]string{"X-Api-Key": {"$AGENTCONFORM_CREDENTIALS_API_KEY"}}}}},
		reports.Requirement{ID: "CP-GET-2", Scenarios: []reports.Scenario{told}})
	was.Target = reports.Target{ControlPlane: evil.URL, AgentServer: evil.URL}
	was.Findings = []reports.Finding{{ID: "a", Requirement: "CP-GET-2", Exchange: 1, Scenario: s.Key(), Curl: "curl " + evil.URL}}
	answers := judgeAt(t, target.URL, was)
	assert.Len(t, answers, 1)
	require.NotEmpty(t, heard)
	for _, request := range heard {
		assert.True(t, strings.HasPrefix(request, "target GET /v2/deployments/"), request)
		assert.NotContains(t, request, "mine")
	}
}

// judgeAt judges the findings of a result at a control plane.
func judgeAt(t *testing.T, address string, was *reports.Result) []Answer {
	t.Helper()
	cfg := config.Default()
	cfg.Target, cfg.Credentials.APIKey = address, "some-secret-key"
	cfg.Create.Body = map[string]any{"source": config.GitHost}
	require.NoError(t, cfg.Complete())
	oracle, err := spec.New()
	require.NoError(t, err)
	answers, left, err := Judge(t.Context(), suite.Options{Config: &cfg, Catalogue: catalogue(t), Oracle: oracle, Seed: 1, ID: "r"}, was, was.Findings)
	require.NoError(t, err)
	assert.Empty(t, left)
	return answers
}

// TestWhatObservesNothingIsTriedAgain judges a rule about answers that never come, beside one that is decided at once.
func TestWhatObservesNothingIsTriedAgain(t *testing.T) {
	var requests atomic.Int32
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(target.Close)
	c := catalogue(t)
	_, contract := first(t, c, "CP-CONTRACT-get-revision", reports.Failed)
	was := earlier([]reports.Exchange{{Scenario: firstRequest}},
		reports.Requirement{ID: "CP-CONTRACT-get-revision", Scenarios: []reports.Scenario{contract}})
	was.Findings = []reports.Finding{{ID: "a", Requirement: "CP-CONTRACT-get-revision", Exchange: 1}, {ID: "b", Requirement: "CP-NONE-1"}}
	answers := judgeAt(t, target.URL, was)
	require.Len(t, answers, 2)
	assert.Equal(t, reports.Inconclusive, answers[0].Verdict)
	assert.Contains(t, answers[0].Reason, "get-revision was not answered in this run")
	assert.Contains(t, answers[1].Reason, "no failed scenario of CP-NONE-1")
	assert.EqualValues(t, mostRuns, requests.Load(), "each run asks once whether the target is there")
}
