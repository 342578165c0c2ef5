package reporttest

import (
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Sample returns a small result with a requirement of each kind. The golden files of the exporters show it.
func Sample() *reports.Result { return sample(func(text string) string { return text }) }

// Hostile returns the sample with every text that can come from a target replaced.
func Hostile(text string) *reports.Result {
	r := sample(func(string) string { return text })
	r.Headline = "The target returned " + text
	return r
}

// sample returns the result. fromTarget replaces each text that can come from a target.
func sample(fromTarget func(text string) string) *reports.Result {
	const base = "http://127.0.0.1:8123"
	by := func(kind reports.BlockerKind, name string) []reports.Blocker {
		return []reports.Blocker{{Kind: kind, Name: fromTarget(name)}}
	}
	skip := func(kind reports.SkipKind, key string) *reports.Skip {
		return &reports.Skip{Kind: kind, Key: fromTarget(key)}
	}
	exchange := func(scenario, operation, method, url, body string, status int, response string) reports.Exchange {
		headers := func(name string) map[string][]string {
			return map[string][]string{"Content-Type": {"application/json"}, name: {fromTarget("a"), fromTarget("b")}}
		}
		return reports.Exchange{Scenario: scenario, Operation: operation, Method: method, URL: url + fromTarget(""),
			MS: 4, AtMS: 10,
			Curl: "curl '" + fromTarget(url) + "'", Request: reports.Message{Headers: headers("X-Request-Id"), Body: body},
			Status: status, Response: reports.Message{Headers: headers(fromTarget("X-Request-Id")), Body: fromTarget(response)},
			Problems: []string{fromTarget("the id is missing")}}
	}
	r := &reports.Result{
		Schema: reports.Schema,
		Suite: reports.Suite{Version: "1.2.0", Interface: "0.1.0", Requirements: 13,
			Digest: "sha256:" + strings.Repeat("01234567", 8)},
		Target: reports.Target{ControlPlane: base, AgentServer: base + "/agents/a",
			Implementation: reports.Implementation{Name: fromTarget("Example Server"), Version: fromTarget("4.7.1"),
				URL: fromTarget("https://example.com/server"), Contact: fromTarget("")}},
		Run: reports.Run{ID: "5eed0042", Seed: 42, DurationMS: 4200,
			StartedAt: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC),
			Command:   "agentconform run --config example.yaml", Arguments: []string{"run", "--config", "example.yaml"}},
		Capabilities: []reports.Capability{
			{Name: "control-plane-core", Profile: "control-plane", Title: "what every client needs",
				Requirements: []string{"CP-AUTH-1", "CP-CREATE-1", "CP-GET-3", "CP-UPDATE-3", "CP-CONTRACT-list-revisions"}},
			{Name: "paging", Profile: "control-plane", Title: "limit and offset", Requirements: []string{"CP-LIST-3", "CP-LIST-6", "CP-LIST-7", "CP-LIST-20"}},
			{Name: "images", Profile: "control-plane", Title: "deployments from images", Requirements: []string{"CP-CREATE-9"}},
			{Name: "tenants", Profile: "control-plane", Title: "isolation of tenants", Requirements: []string{"CP-AUTH-6"}},
			{Name: "agent-server-core", Profile: "agent-server", Title: "threads and runs", Requirements: []string{"AS-THREAD-1"}},
			{Name: "rollback", Profile: "agent-server", Title: "`multitask_strategy` rollback", Requirements: []string{"AS-ROLLBACK-3"}},
		},
		Requirements: []reports.Requirement{
			{ID: "CP-AUTH-1", Level: reports.Must, Verdict: reports.Passed, Subject: "security"},
			{ID: "CP-AUTH-6", Level: reports.Must, Verdict: reports.Skipped, Reason: fromTarget("set other_tenant"),
				Skip: skip(reports.NotConfigured, "other_tenant")},
			{ID: "CP-CREATE-1", Level: reports.Must, Verdict: reports.Passed},
			{ID: "CP-CREATE-9", Level: reports.Must, Verdict: reports.Skipped, Reason: fromTarget("no images"),
				Skip: skip(reports.NotApplicable, "image_uri")},
			{ID: "CP-GET-3", Level: reports.Should, Verdict: reports.Failed, Subject: "form",
				Reason: fromTarget("the error is not JSON")},
			{ID: "CP-LIST-3", Level: reports.Must, Verdict: reports.Failed, Quote: "limit is 1 to 100, <default> 20"},
			{ID: "CP-LIST-6", Level: reports.Must, Verdict: reports.Blocked, Reason: fromTarget("CP-LIST-3 failed"),
				BlockedBy: by(reports.ByRequirement, "CP-LIST-3")},
			{ID: "CP-LIST-7", Level: reports.Should, Verdict: reports.Passed},
			{ID: "CP-UPDATE-3", Level: reports.Must, Verdict: reports.Blocked, Reason: fromTarget("no deployment"),
				BlockedBy: by(reports.ByFixture, "a deployment"),
				Known:     &reports.Known{Reason: "tracked", Owner: "team", Expires: "2027-01-01"}},
			{ID: "CP-CONTRACT-list-revisions", Level: reports.Must, Verdict: reports.Failed, Reason: fromTarget("it is a number")},
			{ID: "AS-ROLLBACK-3", Level: reports.Must, Verdict: reports.Inconclusive, Subject: "rollback",
				Reason: fromTarget("the run ended too early"), BlockedBy: by(reports.ByObservation, "a race")},
			{ID: "AS-THREAD-1", Level: reports.May, Verdict: reports.Passed},
		},
		Findings: []reports.Finding{
			{ID: "111111111111", Requirement: "CP-LIST-3", Summary: fromTarget("limit=101 returned 200; it must return 422"),
				Expected: fromTarget("a 4xx"), Actual: fromTarget("200"), Hint: fromTarget("limits above 100 must return 422"),
				Operation: "list-revisions", Pointer: fromTarget("/detail"), Count: 1, Exchange: 2,
				Exchanges: []reports.Link{{Exchange: 1, Part: reports.SetUp}, {Exchange: 2, Part: reports.Observation}},
				Curl: "curl -sS -i -H 'X-Api-Key: '\"$AGENTCONFORM_CREDENTIALS_API_KEY\" '" +
					fromTarget(base+"/v2/deployments/d/revisions?limit=101") + "'"},
			{ID: "222222222222", Requirement: "CP-CONTRACT-list-revisions",
				Summary:  fromTarget("list-revisions 200: expected a string"),
				Expected: fromTarget(`["a string"]`), Actual: fromTarget(`[1773480413]`), Operation: "list-revisions",
				Pointer: fromTarget("/resources/0/updated_at"), Count: 3, Exchange: 2, Curl: "curl"},
			{ID: "333333333333", Requirement: "CP-GET-3", Summary: fromTarget("the error is not JSON"), Expected: fromTarget("JSON"),
				Actual: fromTarget("<html>\n<body>"), Operation: "get-deployment", Count: 1, Exchange: 3, Curl: "curl"},
		},
		Exchanges: reports.Record(nil,
			exchange("fixture: a deployment", "", "POST", base+"/v2/deployments", `{"name":"d"}`, 201,
				`{"id":"d","latest_revision_id":"r"}`),
			exchange("control_plane/list.feature:6 of CP-LIST-3", "list-revisions", "GET",
				base+"/v2/deployments/d/revisions?limit=101", "", 200,
				`{"resources":[{"id":"r","updated_at":1773480413}],"offset":0}`),
			exchange("control_plane/list.feature:5 of CP-GET-3", "", "GET", base+"/v2/deployments/x", "", 404, "<html>\n<body>"),
		),
		Timeline: []reports.Transition{{Revision: fromTarget("r"), Deployment: fromTarget("d"), Status: fromTarget("BUILDING"), AtMS: 5},
			{Revision: fromTarget("r"), Deployment: fromTarget("d"), Status: fromTarget("DEPLOYED"), AtMS: 900},
			{Revision: "r-2", Status: "QUEUED", AtMS: 950}},
		Ledger: []reports.LedgerEntry{
			{Kind: "deployment", ID: fromTarget("d"), CreatedBy: "fixture: a deployment", Reason: fromTarget("status 405")},
			{Kind: "thread", ID: "t", Address: base, CreatedBy: "of AS-ROLLBACK-3", Removed: true}},
		Notes: []reports.Note{{Kind: reports.NoteOwnToken, Text: "a response contains the caller's own token in clear text",
			Count: 4, Exchange: 2, Pointer: fromTarget("/kwargs/token")}},
		Baseline: &reports.Baseline{File: "known.yaml", Known: 1},
		Coverage: reports.Coverage{
			Operations: []reports.OperationCoverage{
				{Operation: "list-revisions", Method: "GET", Path: "/v2/deployments/{deployment_id}/revisions", Exchanges: 12},
				{Operation: "list-runs", Method: "GET", Path: "/threads/{thread_id}/runs", Exchanges: 3, Extension: true},
				{Operation: "get-deployment", Method: "GET", Path: "/v2/deployments/{deployment_id}"}},
			Statuses: []reports.StatusCoverage{
				{Operation: "list-revisions", Status: "200", ContentType: fromTarget("application/json"), Declared: true, Count: 11},
				{Operation: "list-revisions", Status: "500", Count: 1},
				{Operation: "get-deployment", Status: "404", Declared: true}},
			Parameters: []reports.ParameterCoverage{
				{Operation: "list-revisions", Parameter: "limit", Values: []string{fromTarget("101")}}},
			Enums: []reports.EnumCoverage{
				{Field: "Revision.status", Seen: []string{"BUILDING", fromTarget("DEPLOYED")}, Unseen: []string{"SKIPPED"}}},
		},
	}
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Title, q.Description = "The rule "+q.ID, "What "+q.ID+" is about."
		q.Section, q.Feature, q.Profile = "4", "Lists", "control-plane"
		step := reports.Step{Keyword: "When", Text: "something is done", Line: i + 2}
		if q.Verdict == reports.Passed || q.Verdict == reports.Failed {
			step.Verdict = q.Verdict
		}
		q.Scenarios = []reports.Scenario{{Name: "of " + q.ID, URI: "control_plane/list.feature", Line: i + 1,
			Verdict: q.Verdict, Reason: q.Reason, Skip: q.Skip, BlockedBy: q.BlockedBy, DurationMS: 40,
			Steps: []reports.Step{step}, Exchanges: []int{}}}
		for f := range reports.Each(r.Findings) {
			if f.Requirement == q.ID {
				f.Step, f.Scenario, q.Scenarios[0].Exchanges = "When something is done", q.Scenarios[0].Key(), []int{f.Exchange}
			}
		}
	}
	reports.SetScope(r, []reports.NotJudged{
		{ID: "CP-LIST-20", Skip: reports.Skip{Kind: reports.OverBudget, Key: "max_revisions"}}})
	reports.Tally(r)
	reports.SetProblems(r)
	r.Verdict = reports.ConcludeRun(r)
	return r
}
