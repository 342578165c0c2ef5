package html

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

func TestChartOf(t *testing.T) {
	assert.Nil(t, chartOf(nil, nil))
	var many []reports.Transition
	for i := range 100 {
		many = append(many, reports.Transition{Revision: strings.Repeat("r", i+1), Status: "CREATING", AtMS: int64(i) * 1_000_000})
	}
	c := chartOf(many, nil)
	assert.Len(t, c.Bars, maxBars)
	assert.Equal(t, 40, c.Left)
	assert.LessOrEqual(t, len(c.Ticks), 9)
	for _, b := range c.Bars {
		for _, s := range b.Segments {
			assert.GreaterOrEqual(t, s.X, chartPlot)
			assert.LessOrEqual(t, s.X+s.Width, c.Right)
		}
	}
}

func TestABarEndsWhenItsRevisionSettles(t *testing.T) {
	ends := func(status string) chartBar {
		return chartOf([]reports.Transition{
			{Revision: "a", Status: "CREATING"}, {Revision: "a", Status: status, AtMS: 100}, {Revision: "b", Status: "CREATING", AtMS: 1000},
		}, nil).Bars[0]
	}
	for _, status := range []string{"DEPLOYED", "CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "SKIPPED", "INTERRUPTED"} {
		b := ends(status)
		last := b.Segments[len(b.Segments)-1]
		assert.True(t, b.Settled, status)
		assert.Equal(t, chartEnd, last.Width, status)
		assert.Equal(t, status+" at 100 ms", last.Title)
	}
	for _, status := range []string{"UNKNOWN", "DEPLOYING", "QUEUED", "HANGING"} {
		b := ends(status)
		last := b.Segments[len(b.Segments)-1]
		assert.False(t, b.Settled, status)
		assert.Equal(t, chartWidth-chartRight, last.X+last.Width, status)
		assert.Equal(t, status+" from 100 ms, not settled", last.Title)
	}
}

func TestOrigins(t *testing.T) {
	r := &reports.Result{
		Timeline: []reports.Transition{{Revision: "r1"}, {Revision: "r2"}, {Revision: "r3"}},
		Ledger:   []reports.LedgerEntry{{Kind: "deployment", ID: "d1", CreatedBy: "fixture: a deployment"}, {Kind: "thread", ID: "d1", CreatedBy: "another"}},
	}
	poll := func(path string) reports.Exchange {
		return reports.Exchange{Method: "GET", URL: "http://h/v2/deployments/" + path}
	}
	p := &page{R: r, all: reports.NewExchanges(poll("d1"), poll("d1/revisions?limit=1"), poll("d1/revisions/r1"), poll("d2/revisions/r2?x=y"), poll("d9/revisions/r1"))}
	require.Equal(t, map[string]origin{"r1": {"d1", "fixture: a deployment"}, "r2": {"d2", ""}}, p.origins())
}
