package replay

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
	return &reports.Result{Requirements: requirements, Exchanges: reports.Record(nil, exchanges...)}
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

// TestWhichScenariosAreRun takes those of the result that this version has.
func TestWhichScenariosAreRun(t *testing.T) {
	c := catalogue(t)
	get, wasGet := first(t, c, "CP-GET-1", reports.Failed)
	list, wasList := first(t, c, "CP-LIST-1", reports.Passed)
	_, wasRead := first(t, c, "CP-GET-2", reports.Failed)
	contract, wasContract := first(t, c, "CP-CONTRACT-list-revisions", reports.Failed)
	wasList.Fixtures, wasRead.Fixtures = []string{"a DEPLOYED deployment"}, []string{"a DEPLOYED deployment"}
	gone := reports.Scenario{Name: "of another version", URI: "x", Line: 1}
	was := earlier([]reports.Exchange{{Scenario: list.Key() + " " + list.Name}, {Scenario: "fixture: a DEPLOYED deployment"},
		{Scenario: "fixture: the first request"}, {Scenario: "fixture: of another version"}},
		reports.Requirement{ID: "CP-GET-1", Scenarios: []reports.Scenario{wasGet}},
		reports.Requirement{ID: "CP-GET-2", Scenarios: []reports.Scenario{wasRead, gone}},
		reports.Requirement{ID: "CP-LIST-1", Scenarios: []reports.Scenario{wasList}},
		reports.Requirement{ID: "CP-CONTRACT-list-revisions", Scenarios: []reports.Scenario{wasContract}})
	for name, each := range map[string]struct {
		requirement, scenario string
		exchange              int
		judge, shows          *features.Scenario
		missing               string
	}{
		"its scenario":             {"CP-GET-1", wasGet.Key(), 0, get, nil, ""},
		"the contract, by request": {"CP-CONTRACT-list-revisions", wasContract.Key(), 1, contract, list, ""},
		"the contract, by fixture": {"CP-CONTRACT-list-revisions", wasContract.Key(), 2, contract, list, ""},
		"what every run asks":      {"CP-CONTRACT-list-revisions", wasContract.Key(), 3, contract, nil, ""},
		"an unknown fixture":       {"CP-CONTRACT-list-revisions", wasContract.Key(), 4, contract, nil, "no scenario that makes the request"},
		"no exchange":              {"CP-CONTRACT-list-revisions", wasContract.Key(), 0, contract, nil, "no exchange that shows it"},
		"a scenario that is gone":  {"CP-GET-2", gone.Key(), 0, nil, nil, "no scenario of CP-GET-2 that found it"},
		"an unknown requirement":   {"CP-NONE-1", wasGet.Key(), 0, nil, nil, "no scenario of CP-NONE-1 that found it"},
	} {
		got := testOf(reports.Finding{Requirement: each.requirement, Scenario: each.scenario, Exchange: each.exchange}, was, c)
		assert.Contains(t, got.missing, each.missing, name)
		assert.Equal(t, each.missing == "", got.missing == "", name)
		assert.Equal(t, each.judge, got.judge, name)
		assert.Equal(t, each.shows, got.shows, name)
	}
}

func TestVerdict(t *testing.T) {
	c := catalogue(t)
	get, _ := first(t, c, "CP-GET-1", "")
	contract, _ := first(t, c, "CP-CONTRACT-list-revisions", "")
	list, _ := first(t, c, "CP-LIST-1", "")
	simple := test{finding: reports.Finding{ID: "a"}, judge: get}
	closing := test{finding: reports.Finding{ID: "a"}, judge: contract, shows: list, steps: 2}
	was := &reports.Result{Findings: []reports.Finding{{ID: "a"}, {ID: "known"}}}
	as := func(s *features.Scenario, verdict reports.Verdict, steps int) reports.Requirement {
		told := reports.Scenario{URI: s.URI, Line: s.Line, Verdict: verdict, Reason: "so", Steps: make([]reports.Step, 3)}
		for i := range steps {
			told.Steps[i].Verdict = reports.Passed
		}
		return reports.Requirement{ID: s.Requirement.ID, Scenarios: []reports.Scenario{told}}
	}
	shown := func(id string, s *features.Scenario, more ...reports.Requirement) reports.Result {
		return reports.Result{Findings: []reports.Finding{{ID: id, Scenario: s.Key(), Expected: "x", Actual: "y"}},
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
		"it passes":               {simple, ran(as(get, reports.Passed, 3)), reports.Passed, ""},
		"it fails":                {simple, shown("a", get), reports.Failed, "expected x, got y"},
		"it fails otherwise":      {simple, shown("known", get), reports.Failed, "expected x, got y"},
		"it is blocked":           {simple, ran(as(get, reports.Blocked, 0)), reports.Inconclusive, "blocked: so"},
		"it was not run":          {simple, ran(), reports.Inconclusive, "skipped: it was not run"},
		"credentials are refused": {simple, refusing, reports.Inconclusive, "the control plane refuses the credentials of the configuration"},
		"as bad as it was":        {closing, shown("a", contract, as(list, reports.Passed, 3)), reports.Failed, "expected x, got y"},
		"all answers are good":    {closing, ran(good, as(list, reports.Passed, 3)), reports.Passed, ""},
		"another known finding":   {closing, shown("known", contract, as(list, reports.Passed, 3)), reports.Passed, ""},
		"a new finding":           {closing, shown("new", contract, as(list, reports.Passed, 3)), reports.Failed, "expected x, got y"},
		"as far as then":          {closing, ran(good, as(list, reports.Failed, 2)), reports.Passed, ""},
		"not as far as then":      {closing, ran(good, as(list, reports.Failed, 1)), reports.Inconclusive, "CP-LIST-1, which is to show it, failed: so"},
		"what shows it is blocked": {closing, ran(good, as(list, reports.Blocked, 2)), reports.Inconclusive,
			"CP-LIST-1, which is to show it, blocked: so"},
	} {
		verdict, reason := each.test.verdict(was, &each.now)
		assert.Equal(t, each.want, verdict, name)
		assert.Equal(t, each.reason, reason, name)
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
