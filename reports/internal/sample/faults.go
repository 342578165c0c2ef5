package sample

import "github.com/agentconform/agentconform/reports"

// fail marks step n of a scenario as the one that failed; those after it were not reached.
func fail(s *reports.Scenario, n int, text, reason string, exchanges ...int) {
	for i := range s.Steps {
		switch {
		case i < n:
			s.Steps[i].Verdict = reports.Passed
		case i == n:
			s.Steps[i].Verdict, s.Steps[i].Text = reports.Failed, text
		default:
			s.Steps[i].Verdict = ""
		}
	}
	s.Verdict, s.Reason, s.Exchanges = reports.Failed, reason, exchanges
}

func breakLimit(r *reports.Result) {
	id := record(r, listing("limit=101", 200, page(3)))
	q := requirement(r, "CP-LIST-3")
	step := `the request is refused as invalid, naming the query parameter "limit"`
	q.Verdict, q.Reason = reports.Failed, "limit 101 was answered with 200"
	q.Scenarios[1].Steps[1].Text = `the client lists its revisions with limit "101"`
	fail(&q.Scenarios[1], 2, step, q.Reason, 2, id)
	r.Findings = append(r.Findings, reports.Finding{
		ID: "f-3c1d9a", Requirement: q.ID, Summary: "limit 101 was answered with 200 instead of a refusal",
		Step: "Then " + step, Scenario: "features/control_plane/list.feature:191",
		Expected: "status 422\nbody.detail[*].loc names \"limit\"", Actual: "status 200\nbody.resources holds 3 revisions",
		Hint:      "Check the bounds of limit (1 to 100) before the query and answer 422 with an HTTPValidationError.",
		Operation: "listRevisions", Pointer: "", Count: 2, Exchange: id, Curl: curl(revisions + "?limit=101"),
	})
}

func breakDetail(r *reports.Result) {
	x := listing("", 404, "{\"error\":\"not found\"}")
	x.URL = "http://127.0.0.1:8123/v2/deployments/11111111-2222-4333-8444-555555555555/revisions"
	x.Problems = []string{"404 of listRevisions: detail is missing"}
	id := record(r, x)
	q := requirement(r, "CP-LIST-13")
	q.Verdict, q.Reason = reports.Failed, "the 404 has no detail"
	step := "the answer is 404 and its detail names the deployment"
	fail(&q.Scenarios[0], 2, step, q.Reason, id)
	r.Findings = append(r.Findings, reports.Finding{
		ID: "f-77be02", Requirement: q.ID, Summary: "the 404 for an unknown deployment has no string detail",
		Step: "Then " + step, Scenario: "features/control_plane/list.feature:230",
		Expected: "detail: a string that contains 11111111-2222-4333-8444-555555555555", Actual: `{"error":"not found"}`,
		Operation: "listRevisions", Pointer: "/detail", Count: 1, Exchange: id,
		Curl: curl("/v2/deployments/11111111-2222-4333-8444-555555555555/revisions"),
	})
}

func breakContract(r *reports.Result) {
	x := listing("", 200, `{"id":"`+Revision+`","created_at":"yesterday","updated_at":"2026-03-14T09:26:58Z","status":"DEPLOYED","source":"git_host","source_revision_config":{"repo_ref":"main","graph_config_path":"graph.json","image_uri":null,"repo_commit_sha":"9fceb02d0ae598e95dc970b74767f19372d61af8"}}`)
	x.URL = "http://127.0.0.1:8123" + revisions + "/" + Revision
	x.Problems = []string{"/created_at: 'yesterday' is not a valid date-time"}
	id := record(r, x)
	q := requirement(r, "CP-CONTRACT-getRevision")
	q.Verdict, q.Reason = reports.Failed, "7 answers violate the contract"
	step := "every answer to getRevision keeps the contract"
	fail(&q.Scenarios[0], 2, step, q.Reason, id)
	r.Findings = append(r.Findings, reports.Finding{
		ID: "f-a04411", Requirement: q.ID, Summary: "created_at is no date-time", Step: "Then " + step,
		Scenario: "features/control_plane/contract.feature:270", Expected: "a date-time (RFC 3339)", Actual: `"yesterday"`,
		Operation: "getRevision", Pointer: "/created_at", Count: 7, Exchange: id, Curl: curl(revisions + "/" + Revision),
	})
}

func breakOrder(r *reports.Result) {
	q := requirement(r, "CP-LIST-15")
	q.Verdict, q.Reason = reports.Failed, "the oldest revision comes first"
	fail(&q.Scenarios[0], 2, "the newest revision comes first", q.Reason, 3)
	r.Findings = append(r.Findings, reports.Finding{
		ID: "f-5d20c8", Requirement: q.ID, Summary: "the oldest revision comes first", Step: "Then the newest revision comes first",
		Scenario: "features/control_plane/list.feature:250", Expected: "3\n2\n1", Actual: "1\n2\n3",
		Operation: "listRevisions", Pointer: "/resources/0", Count: 1, Exchange: 3, Curl: curl(revisions),
	})
}

func record(r *reports.Result, x reports.Exchange) int {
	id, err := r.Exchanges.(*reports.Memory).Append(x)
	must(err)
	return id
}

func curl(path string) string {
	return "curl -sS -i 'http://127.0.0.1:8123" + path + "' -H \"X-Api-Key: $AGENTCONFORM_CREDENTIALS_API_KEY\""
}
