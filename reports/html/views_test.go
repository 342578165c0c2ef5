package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

func TestChain(t *testing.T) {
	r := reporttest.Faulty()
	chain := func(f *reports.Finding) (all []string) {
		for _, l := range (&page{R: r, all: r.Exchanges}).chain(f) {
			text := string(l.Part)
			if l.Evidence != nil {
				text += ", in full"
			}
			all = append(all, text)
		}
		return all
	}
	f := &reports.Finding{Exchange: 54, Pointer: "/offset"}
	assert.Equal(t, []string{"observation, in full"}, chain(f), "a chain that does not hold it")

	f.Exchanges = []reports.Link{{Exchange: 5, Part: reports.SetUp}, {Exchange: 53, Part: reports.Act}, {Exchange: 54, Part: reports.Observation}}
	assert.Equal(t, []string{"set-up", "act", "observation, in full"}, chain(f))

	f.Exchanges = append(f.Exchanges[:2:2], reports.Link{Exchange: 1000, Part: reports.Observation})
	assert.Equal(t, []string{"set-up", "act", "observation, in full"}, chain(f), "one that is not there is left out; the one that shows it is added")
	assert.Empty(t, chain(&reports.Finding{}), "a finding without an exchange")
}

func TestALongChainKeepsItsEnds(t *testing.T) {
	r := reporttest.Faulty()
	f := &reports.Finding{Exchange: 100}
	for id := 1; id <= 100; id++ {
		f.Exchanges = append(f.Exchanges, reports.Link{Exchange: id, Part: reports.SetUp})
	}
	p := &page{R: r, all: r.Exchanges}
	chain := p.chain(f)
	require.Len(t, chain, maxChain)
	assert.Equal(t, 1, chain[0].Row.ID)
	assert.Equal(t, 100, chain[maxChain-1].Row.ID)
	assert.Equal(t, 70, chain[chainBegin].Skipped)
	f.Exchange = 50
	chain = p.chain(f)
	require.Len(t, chain, maxChain+1, "the one that shows the violation is never left out")
	assert.Equal(t, []int{39, 30}, []int{chain[chainBegin].Skipped, chain[chainBegin+1].Skipped})
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
		Columns: []string{"200", "404", "500"}, Totals: []int{11, 0, 1}, Total: 12,
		Rows: []heatRow{
			{"a", []heatCell{{11, "h2", "11", "application/json, text/plain"}, {0, "none", "–", ""}, {1, "h1 undeclared", "1 !", "no content type"}}, 12},
			{"b", []heatCell{{0, "none", "–", ""}, {0, "zero", "0", "no content type"}, {0, "none", "–", ""}}, 0},
		},
	}, v.Map)
}

// TestThePageSaysWhatWasNotJudged: what the page does not show is no link.
func TestThePageSaysWhatWasNotJudged(t *testing.T) {
	q := func(id string, v reports.Verdict, skip *reports.Skip) reports.Requirement {
		return reports.Requirement{ID: id, Title: "rule", Level: reports.Must, Verdict: v, Skip: skip}
	}
	r := &reports.Result{Suite: reports.Suite{Requirements: 6}, Requirements: []reports.Requirement{
		q("A", reports.Passed, nil), q("B", reports.Skipped, &reports.Skip{Kind: reports.NotConfigured, Key: "k"}), q("D", reports.Blocked, nil),
	}}
	reports.SetScope(r, []reports.NotJudged{{ID: "E", Kind: reports.OverBudget, Key: "max"}, {ID: "F", Kind: reports.OverBudget, Key: "max"}})
	var b strings.Builder
	require.NoError(t, Write(&b, r))
	for _, want := range []string{
		`Scope: partial run <small>1 of 6 requirements judged</small>`,
		`<summary>over budget: raise max (2)</summary><p><span class="id">E</span>, <span class="id">F</span></p>`,
		`<summary>not configured: set k (1)</summary><p><a href="#B">B</a></p>`,
	} {
		assert.Contains(t, b.String(), want)
	}
}
