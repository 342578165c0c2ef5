package html

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/recorded"
)

func TestChainOf(t *testing.T) {
	r := recorded.Faulty()
	list := func() *exchangeList { return newExchangeList(r.Exchanges, r) }
	parts := func(chain []chainLink) (all []string) {
		for _, l := range chain {
			text := string(l.Part)
			if l.Evidence != nil {
				text += ", in full"
			}
			all = append(all, text)
		}
		return all
	}
	f := &reports.Finding{Exchange: 54, Pointer: "/offset"}
	assert.Equal(t, []string{"observation, in full"}, parts(chainOf(list(), f)), "a chain that does not hold it")

	f.Exchanges = []reports.Link{{Exchange: 5, Part: reports.SetUp}, {Exchange: 53, Part: reports.Act}, {Exchange: 54, Part: reports.Observation}}
	l := list()
	chain := chainOf(l, f)
	assert.Equal(t, []string{"set-up", "act", "observation, in full"}, parts(chain))
	assert.Equal(t, "create-deployment", chain[0].Row.Operation)
	assert.Equal(t, map[int]bool{5: true, 53: true, 54: true}, l.linked)

	f.Exchanges = append(f.Exchanges[:2:2], reports.Link{Exchange: 1000, Part: reports.Observation})
	assert.Equal(t, []string{"set-up", "act", "observation, in full"}, parts(chainOf(list(), f)), "one that is not there is left out; the one that shows it is added")
	assert.Empty(t, chainOf(list(), &reports.Finding{}), "a finding without an exchange")
	assert.Empty(t, chainOf(newExchangeList(nil, r), f), "a result without exchanges")
}

func TestALongChainKeepsItsEnds(t *testing.T) {
	r := recorded.Faulty()
	f := &reports.Finding{Exchange: 100}
	for id := 1; id <= 100; id++ {
		f.Exchanges = append(f.Exchanges, reports.Link{Exchange: id, Part: reports.SetUp})
	}
	chain := chainOf(newExchangeList(r.Exchanges, r), f)
	require.Len(t, chain, maxChain)
	assert.Equal(t, 1, chain[0].Row.ID)
	assert.Equal(t, 100, chain[maxChain-1].Row.ID)
	assert.Equal(t, 70, chain[chainBegin].Skipped)
	f.Exchange = 50
	chain = chainOf(newExchangeList(r.Exchanges, r), f)
	require.Len(t, chain, maxChain+1, "the one that shows the violation is never left out")
	assert.Equal(t, []int{39, 30}, []int{chain[chainBegin].Skipped, chain[chainBegin+1].Skipped})
}

func TestTheScriptOfAFinding(t *testing.T) {
	r := recorded.Faulty()
	f := recorded.Finding(r, "CP-LIST-3")
	view := func() findingView {
		return findingViewOf(r, recorded.Requirement(r, f.Requirement), f, newExchangeList(r.Exchanges, r))
	}
	assert.Equal(t, "scripts/CP-LIST-3-"+f.ID+".sh", view().Script)
	assert.Equal(t, "agentconform replay "+f.ID+" --config example.yaml", view().Replay)
}

func TestCoverageOf(t *testing.T) {
	assert.Nil(t, coverageOf(&reports.Result{}))
	v := coverageOf(&reports.Result{Coverage: reports.Coverage{
		Operations: []reports.OperationCoverage{{Operation: "a", Exchanges: 12}, {Operation: "b"}},
		Statuses: []reports.StatusCoverage{
			{Operation: "a", Status: "200", Declared: true, Count: 7, ContentType: "application/json"}, {Operation: "a", Status: "200", Declared: true, Count: 4, ContentType: "text/plain"},
			{Operation: "a", Status: "500", Count: 1}, {Operation: "b", Status: "404", Declared: true},
		},
		Parameters: []reports.ParameterCoverage{{Operation: "a", Parameter: "limit", Values: []string{"0", "1"}}, {Operation: "a", Parameter: "offset"}},
	}})
	assert.Equal(t, "1 of 2, 1 of 2, 1 of 2", v.Operations.String()+", "+v.Statuses.String()+", "+v.Parameters.String())
	assert.Equal(t, 1, v.Undeclared)
	assert.Equal(t, heatMap{
		Label: "Answers by operation and status", Columns: []string{"200", "404", "500"}, Totals: []int{11, 0, 1}, Total: 12,
		Rows: []heatRow{
			{"a", []heatCell{{"h2", "11", "application/json, text/plain"}, {"none", "–", ""}, {"h1 undeclared", "1 !", "no content type"}}, 12},
			{"b", []heatCell{{"none", "–", ""}, {"zero", "0", "no content type"}, {"none", "–", ""}}, 0},
		},
	}, v.StatusMap)
	assert.Equal(t, heatMap{
		Label: "Values tried by operation and parameter", Columns: []string{"limit", "offset"}, Totals: []int{2, 0}, Total: 2,
		Rows: []heatRow{{"a", []heatCell{{"h1", "2", ""}, {"zero", "0", ""}}, 2}},
	}, v.ParameterMap)
	assert.Equal(t, "h4", cellOf(12345, true, "").Class)
}

func TestCleanupOf(t *testing.T) {
	removed, left := reports.LedgerEntry{Kind: "deployment", ID: "1", Removed: true}, reports.LedgerEntry{Kind: "thread", ID: "2", Address: "http://a", Reason: "status 405"}
	c := cleanupOf(&reports.Result{Ledger: []reports.LedgerEntry{removed, left, left}})
	assert.Equal(t, cleanupView{Summary: "created 1 deployment, 2 threads; removed 1 deployment; left 2 threads",
		Left: []reports.LedgerEntry{left, left}, Removed: []reports.LedgerEntry{removed}, Reasons: []string{"status 405 (2 threads)"},
		Command: "agentconform clean"}, c)
}

func TestScopeOf(t *testing.T) {
	q := func(id string, v reports.Verdict, skip *reports.Skip) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: v, Skip: skip}
	}
	r := &reports.Result{Scope: reports.ScopePart, Suite: reports.Suite{Requirements: 6}, Requirements: []reports.Requirement{
		q("A", reports.Passed, nil), q("B", reports.Skipped, &reports.Skip{Kind: reports.NotConfigured, Key: "k"}),
		q("C", reports.Skipped, &reports.Skip{Kind: reports.NotApplicable, Key: "n"}), q("D", reports.Blocked, nil),
	}, NotJudged: []reports.NotJudged{{ID: "B", Kind: reports.NotConfigured, Key: "k"}, {ID: "C", Kind: reports.NotApplicable, Key: "n"}, {ID: "E", Kind: reports.OverBudget, Key: "max"}, {ID: "F", Kind: reports.OverBudget, Key: "max"}}}
	labels := func(groups []skipGroup) (all []string) {
		for _, g := range groups {
			all = append(all, fmt.Sprintf("%s (%d)", g.Label, g.N))
		}
		return all
	}
	s := scopeOf(r)
	assert.True(t, s.Partial)
	assert.Equal(t, []int{1, 6}, []int{s.Judged, s.All})
	assert.Equal(t, "1 blocked", s.Open)
	assert.Equal(t, []string{"over budget: raise max (2)", "not configured: set k (1)"}, labels(s.LeftOut))
	assert.Equal(t, []requirementLink{{"E", false}, {"F", false}}, s.LeftOut[0].IDs)
	assert.Equal(t, []requirementLink{{"B", true}}, s.LeftOut[1].IDs)
	assert.Equal(t, []string{"not applicable: n (1)"}, labels(s.NotApplicable))
}

func TestProblemsComeFirst(t *testing.T) {
	r := recorded.Faulty()
	r.Run.Stopped = "--timeout 1s"
	recorded.Block(recorded.Requirement(r, "CP-LIST-6"), reports.Blocker{Kind: reports.ByRun, Name: "ended"}, "x")
	recorded.Requirement(r, "CP-LIST-3").Known = &reports.Known{}
	var headings []string
	for _, p := range partsOf(r, newExchangeList(r.Exchanges, r)) {
		if p.Class != "" {
			headings = append(headings, p.Label()+": "+p.Name)
		}
	}
	assert.Equal(t, []string{
		"FAILED: MUST not met", "WARNINGS: SHOULD not met, verdict unaffected", "KNOWN: covered by the baseline",
		"BLOCKED: could not run, a precondition failed", "INCONCLUSIVE: no evidence either way", "NOT RUN: --timeout 1s",
	}, headings)
	r.Run.Stopped = "Ctrl-C"
	assert.Equal(t, "Ctrl-C", problemParts(r)[5].Name)
	r.Run.Stopped, r.Run.Strict = "", true
	assert.Equal(t, "MUST or SHOULD not met", problemParts(r)[0].Name)
	assert.Equal(t, "the run ended early", problemParts(r)[5].Name)
}
