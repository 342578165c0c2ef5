package sample

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

var jsonHeaders = map[string][]string{"Content-Type": {"application/json"}, "Date": {"Sat, 14 Mar 2026 09:26:54 GMT"}}

func exchanges() *reports.Memory {
	created := `{"name":"agentconform-run","source":"git_host","source_config":{"repo_url":"file:///tmp/repo","build_on_push":false},"source_revision_config":{"repo_ref":"main","graph_config_path":"graph.json"},"secrets":[]}`
	return reports.NewMemory(
		reports.Exchange{
			Scenario: "fixture: a deployment that is up", Method: "POST", URL: "http://127.0.0.1:8123/v2/deployments",
			Request: reports.Message{Headers: map[string][]string{"Content-Type": {"application/json"}, "X-Api-Key": {"$AGENTCONFORM_CREDENTIALS_API_KEY"}}, Body: created},
			Status:  201, Response: reports.Message{Headers: jsonHeaders, Body: `{"id":"` + Deployment + `","latest_revision_id":"` + Revision + `","source":"git_host"}`},
			MS: 12.25, AtMS: 3, Curl: curl("/v2/deployments") + " -H 'Content-Type: application/json' --data '" + created + "'",
		},
		revision(),
		listing("", 200, page(3)),
		listing("limit=0", 422, `{"detail":[{"loc":["query","limit"],"msg":"Input should be greater than or equal to 1","type":"greater_than_equal"}]}`),
		reports.Exchange{
			Scenario: "agent_server/threads.feature:12 two threads", Method: "POST", URL: "http://127.0.0.1:8123/agents/demo/threads",
			Request: reports.Message{Headers: map[string][]string{"Content-Type": {"application/json"}}, Body: "{}"},
			Status:  200, Response: reports.Message{Headers: jsonHeaders, Body: `{"thread_id":"t-1"}`}, MS: 1.5, AtMS: 900,
		},
		reports.Exchange{
			Scenario: "agent_server/rollback.feature:30 while the first one is running", Method: "GET",
			URL:   "http://127.0.0.1:8123/agents/demo/threads/t-1/runs/r-1/join",
			Error: "no answer within 5s", MS: 5000, AtMS: 1200,
		},
	)
}

func revision() reports.Exchange {
	x := listing("", 200, revisionBody(1))
	x.URL = "http://127.0.0.1:8123" + revisions + "/" + Revision
	x.AtMS = 40
	return x
}

func listing(query string, status int, body string) reports.Exchange {
	url := "http://127.0.0.1:8123" + revisions
	if query != "" {
		url += "?" + query
	}
	return reports.Exchange{
		Scenario: "control_plane/list.feature:31 " + strings.TrimSpace("listing "+query), Method: "GET", URL: url,
		Request: reports.Message{Headers: map[string][]string{"X-Api-Key": {"$AGENTCONFORM_CREDENTIALS_API_KEY"}}},
		Status:  status, Response: reports.Message{Headers: jsonHeaders, Body: body}, MS: 2.75, AtMS: 120,
		Curl: "curl -sS -i '" + url + "' -H \"X-Api-Key: $AGENTCONFORM_CREDENTIALS_API_KEY\"",
	}
}

func page(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = revisionBody(i + 1)
	}
	return fmt.Sprintf(`{"resources":[%s],"offset":%d}`, strings.Join(items, ","), n)
}

func revisionBody(n int) string {
	return fmt.Sprintf(`{"id":"0b8f6f0e-9c2d-4f7e-8a43-%012d","created_at":"2026-03-14T09:26:%02dZ","updated_at":"2026-03-14T09:27:%02dZ","status":"DEPLOYED","source":"git_host","source_revision_config":{"repo_ref":"main","graph_config_path":"graph.json","image_uri":null,"repo_commit_sha":"9fceb02d0ae598e95dc970b74767f19372d61af8"}}`, n, n%60, n%60)
}

func timeline() []reports.Transition {
	var all []reports.Transition
	ways := [][]string{
		{"CREATING", "QUEUED", "AWAITING_BUILD", "BUILDING", "AWAITING_DEPLOY", "DEPLOYING", "DEPLOYED"},
		{"CREATING", "QUEUED", "SKIPPED"},
		{"CREATING", "BUILDING", "BUILD_FAILED"},
		{"CREATING", "AWAITING_BUILD", "BUILDING", "DEPLOYING", "DEPLOYED"},
	}
	for i, way := range ways {
		at := int64(5 + 400*i)
		for j, status := range way {
			all = append(all, reports.Transition{Revision: fmt.Sprintf("0b8f6f0e-9c2d-4f7e-8a43-%012d", i+1), Status: status, AtMS: at})
			at += int64(40 + 37*((i+2)*(j+1)%7))
		}
	}
	return all
}

func coverage() reports.Coverage {
	return reports.Coverage{
		Operations: []reports.OperationCoverage{
			{Operation: "createDeployment", Method: "POST", Path: "/v2/deployments", Exchanges: 14},
			{Operation: "getDeployment", Method: "GET", Path: "/v2/deployments/{deployment_id}", Exchanges: 0},
			{Operation: "getRevision", Method: "GET", Path: "/v2/deployments/{deployment_id}/revisions/{revision_id}", Exchanges: 61},
			{Operation: "listRevisions", Method: "GET", Path: "/v2/deployments/{deployment_id}/revisions", Exchanges: 203},
		},
		Statuses: []reports.StatusCoverage{
			{Operation: "createDeployment", Status: "201", ContentType: "application/json", Declared: true, Count: 9},
			{Operation: "createDeployment", Status: "422", ContentType: "application/json", Declared: true, Count: 5},
			{Operation: "getRevision", Status: "200", ContentType: "application/json", Declared: true, Count: 60},
			{Operation: "getRevision", Status: "500", ContentType: "text/html", Declared: false, Count: 1},
			{Operation: "listRevisions", Status: "200", ContentType: "application/json", Declared: true, Count: 150},
			{Operation: "listRevisions", Status: "404", ContentType: "application/json", Declared: true, Count: 0},
			{Operation: "listRevisions", Status: "422", ContentType: "application/json", Declared: true, Count: 53},
		},
		Parameters: []reports.ParameterCoverage{
			{Operation: "listRevisions", Parameter: "limit", Values: []string{"", "-1", "0", "1", "1.5", "100", "101", "99999999999999999999", "ten"}},
			{Operation: "listRevisions", Parameter: "deployment_id", Values: []string{"<uuid>", "not-a-uuid"}},
		},
		Enums: []reports.EnumCoverage{
			{Field: "Revision.status", Seen: []string{"CREATING", "QUEUED", "BUILDING", "DEPLOYED"}, Unseen: []string{"INTERRUPTED", "UNKNOWN", "CREATE_FAILED"}},
			{Field: "Revision.source", Seen: []string{"git_host"}, Unseen: []string{"external_container", "internal_container"}},
		},
	}
}
