//go:build browser || nightly

package html_test

import (
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// sixResults are the kinds of results that a page has to show well.
func sixResults() map[string]*reports.Result {
	return map[string]*reports.Result{
		"conformant": few(whole(reporttest.Conformant()), 12), "failed": few(failed(), exchangeOf(failed(), "CP-UPDATE-1")), "blocked": few(blocked(), 12),
		"unreachable": reporttest.Unreachable(), "stopped": few(stopped(), 12), "partial": few(partial(), 12),
	}
}

// exchangeOf is the exchange that shows the finding of a requirement.
func exchangeOf(r *reports.Result, requirement string) int {
	return r.Findings[slices.IndexFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == requirement })].Exchange
}

// few keeps the first n exchanges and some operations only: hundreds that look alike take a browser long to judge. What links to others
// goes too.
func few(r *reports.Result, n int) *reports.Result {
	memory := reports.NewExchanges()
	for x := range r.Exchanges.All() {
		if memory.Len() == n {
			break
		}
		memory.Append(x)
	}
	r.Exchanges = memory
	r.Findings = slices.DeleteFunc(r.Findings, func(f reports.Finding) bool {
		return slices.ContainsFunc(f.Exchanges, func(l reports.Link) bool { return l.Exchange > n })
	})
	r.Coverage.Operations = r.Coverage.Operations[:min(len(r.Coverage.Operations), 3)]
	return r
}

func whole(r *reports.Result) *reports.Result {
	r.Scope = reports.ScopeWhole
	r.Suite.Commit = "0123456789abcdef0123456789abcdef01234567+dirty"
	r.Suite.Digest = "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	for i := range r.Ledger {
		r.Ledger[i].Removed = true
	}
	return r
}

// failed is the recorded run with the chains of findings, messages and JSON on both sides, known failures and a baseline
// that does not match.
func failed() *reports.Result {
	r := reporttest.Faulty()
	rollback := reporttest.Finding(r, "AS-ROLLBACK-3")
	rollback.Expected = "human \"agentconform-5eed0042-word-3.\"\nai \"You said: agentconform-5eed0042-word-3.\""
	rollback.Actual = "human \"wait-after-write=400 agentconform-5eed0042-word-2.\"\n" + rollback.Expected
	rollback.Compared = "the messages of the state with the input and the answer of the new run"
	update := reporttest.Finding(r, "CP-UPDATE-1")
	update.Expected, update.Actual = `{"id":"a","latest_revision_id":"b"}`, `{"latest_revision_id":"c","id":"a"}`
	reporttest.Requirement(r, "CP-GET-3").Known = &reports.Known{Reason: "tracked", Owner: "team", Expires: "2027-01-01"}
	r.Baseline = &reports.Baseline{File: "known.yaml", Known: 1, Stale: []string{"known.yaml:3: CP-LIST-1 passes; remove the entry"}}
	r.Coverage.Statuses[0].Declared, r.Coverage.Statuses[0].Count = false, 2
	for i := range r.Ledger {
		if e := &r.Ledger[i]; e.Kind == "thread" {
			e.Removed, e.Unremovable, e.Reason = false, true, "DELETE /threads/{thread_id}: status 405"
		}
	}
	r.Notes = []reports.Note{{Kind: reports.NoteOwnToken, Text: "the answer contains the caller's own token in clear", Count: 4, Exchange: 8, Pointer: "/kwargs/token"}}
	return r
}

func blocked() *reports.Result {
	r := reporttest.Faulty()
	r.Verdict, r.Findings = reports.Incomplete, nil
	for i := range r.Requirements {
		reporttest.Block(&r.Requirements[i], reports.Blocker{Kind: reports.ByFixture, Name: "a deployment"}, "fixture: a deployment: expected 201, got 500")
	}
	reports.Tally(r)
	return r
}

// stopped is a run that its time limit ended: three requirements have passed, the others did not run.
func stopped() *reports.Result {
	r := reporttest.Conformant()
	r.Verdict, r.Run.Stopped = reports.Incomplete, "--timeout 1s"
	for i := 3; i < len(r.Requirements); i++ {
		reporttest.Block(&r.Requirements[i], reports.Blocker{Kind: reports.ByRun, Name: "ended"}, "not run: --timeout 1s reached")
	}
	r.Timeline = r.Timeline[:3] // nothing has settled
	reports.Tally(r)
	return r
}

func partial() *reports.Result {
	r := reporttest.Conformant()
	r.Scope, r.Suite.Requirements = reports.ScopePart, len(r.Requirements)+9
	r.NotJudged = []reports.NotJudged{
		{ID: "CP-AUTH-6", Kind: reports.NotConfigured, Key: "other_tenant.api_key"}, {ID: "CP-LIST-20", Kind: reports.OverBudget, Key: "max_revisions"},
		{ID: "E2E-1", Kind: reports.NotClaimed, Key: "end-to-end"},
	}
	for _, id := range []string{"CP-LIST-1", "CP-LIST-2", "CP-LIST-4", "CP-LIST-5", "CP-LIST-8", "CP-LIST-9", "CP-LIST-10"} {
		r.NotJudged = append(r.NotJudged, reports.NotJudged{ID: id, Kind: reports.NotSelected, Key: "--only"})
	}
	return r
}
