package sample

import (
	"fmt"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Deployment and Revision are the ids that the samples speak of.
const (
	Deployment = "7f3b1c9a-52de-4a0c-9a55-0d3f6c1e8b21"
	Revision   = "0b8f6f0e-9c2d-4f7e-8a43-5a9de1c7b302"
	revisions  = "/v2/deployments/" + Deployment + "/revisions"
)

// Conformant is a run in which everything that was judged has passed.
func Conformant() *reports.Result {
	r := base()
	r.Verdict = reports.Conformant
	r.Headline = "The target keeps every MUST of the interface that was judged."
	reports.Tally(r)
	return r
}

// Faulty is a run against a target with three faults: it takes any limit, forgets detail in its 404, and answers a
// date that is none. One requirement is blocked by a fault of the fixture, and one race was not won.
func Faulty() *reports.Result {
	r := base()
	r.Run.ID = "run-faulty"
	breakLimit(r)
	breakDetail(r)
	breakContract(r)
	breakOrder(r)
	q := requirement(r, "AS-ROLLBACK-5")
	q.Verdict, q.Reason = reports.Inconclusive, "the prior run was never seen pending: it started within 2 ms in each of 5 attempts"
	block(q, reports.ByObservation, "the prior run is pending")
	for _, id := range []string{"CP-UPDATE-3", "CP-UPDATE-10"} {
		q := requirement(r, id)
		q.Verdict, q.Reason = reports.Blocked, "the deployment of the fixture could not be updated: PATCH answered 500 (see CP-ERROR-3)"
		block(q, reports.ByFixture, "a deployment that takes updates")
	}
	r.Verdict = reports.Conclude(r.Requirements, false)
	r.Headline = "The list of revisions takes a limit of 101, and 2 more MUSTs are violated."
	reports.Tally(r)
	return r
}

// Unreachable is a run in which no connection came about.
func Unreachable() *reports.Result {
	r := base()
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Verdict, q.Reason = reports.Blocked, "nothing answers at http://127.0.0.1:8123: connection refused"
		q.Skip = nil
		for j := range q.Scenarios {
			q.Scenarios[j].Exchanges = nil
		}
		block(q, reports.ByTarget, "http://127.0.0.1:8123")
	}
	r.Run.ID, r.Verdict = "run-unreachable", reports.Incomplete
	r.Headline = "Nothing answers at http://127.0.0.1:8123: connection refused. Is the server started, and the port right?"
	r.Exchanges, r.Timeline, r.Ledger, r.Coverage = reports.NewMemory(), nil, nil, reports.Coverage{}
	reports.Tally(r)
	return r
}

// Large is a faulty run with n exchanges.
func Large(n int) *reports.Result {
	r := Faulty()
	memory := reports.NewMemory()
	for x, err := range r.Exchanges.All() {
		must(err)
		_, err = memory.Append(x)
		must(err)
	}
	q := requirement(r, "CP-LIST-6")
	for i := memory.Len(); i < n; i++ {
		x := listing(fmt.Sprintf("limit=%d&offset=%d", 1+i%100, i%23), 200, page(20))
		x.AtMS, x.MS, x.Scenario = int64(i*3), float64(i%40)+0.5, "control_plane/list.feature:70 pages hold every revision once"
		id, err := memory.Append(x)
		must(err)
		q.Scenarios[0].Exchanges = append(q.Scenarios[0].Exchanges, id)
	}
	r.Exchanges = memory
	reports.Tally(r)
	return r
}

func base() *reports.Result {
	r := &reports.Result{
		Schema: reports.Schema,
		Suite:  reports.Suite{Version: "1.2.0", Interface: "0.1.0", Requirements: len(catalogue)},
		Target: reports.Target{
			ControlPlane: "http://127.0.0.1:8123", AgentServer: "http://127.0.0.1:8123/agents/demo",
			Implementation: reports.Implementation{
				Name: "Example Control Plane", Version: "4.7.1", URL: "https://example.com/control-plane", Contact: "conformance@example.com",
			},
		},
		Run: reports.Run{
			ID: "run-good", Seed: 42, StartedAt: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC), DurationMS: 3141,
			Command: "agentconform run --config example.yaml",
		},
		Coverage: coverage(), Timeline: timeline(),
		Ledger: []reports.LedgerEntry{
			{Kind: "deployment", ID: Deployment, CreatedBy: "fixture: a deployment that is up", Removed: true},
			{Kind: "thread", ID: "t-1", CreatedBy: "agent_server/threads.feature:12", Removed: true},
		},
	}
	r.Exchanges = exchanges()
	for i, c := range catalogue {
		r.Requirements = append(r.Requirements, c.requirement(i))
	}
	return r
}

func requirement(r *reports.Result, id string) *reports.Requirement {
	for i := range r.Requirements {
		if r.Requirements[i].ID == id {
			return &r.Requirements[i]
		}
	}
	panic("the sample has no requirement " + id)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// block gives all scenarios of q its verdict, its reason and one cause.
func block(q *reports.Requirement, kind reports.BlockerKind, name string) {
	q.BlockedBy = []reports.Blocker{{Kind: kind, Name: name}}
	for i := range q.Scenarios {
		s := &q.Scenarios[i]
		s.Verdict, s.Reason, s.Skip, s.BlockedBy = q.Verdict, q.Reason, nil, q.BlockedBy
	}
}
