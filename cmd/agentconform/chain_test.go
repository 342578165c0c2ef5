package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// TestFindingsListWhatLedToThem judges a server with faults of three kinds: one that a fixture meets, one that two looks at
// the deployment show, and one of the contract, which is judged over all exchanges.
func TestFindingsListWhatLedToThem(t *testing.T) {
	t.Parallel()
	cfg := startWith(t, "rolled-back-messages-stay", "empty-update-makes-a-revision", "listed-updated-at-is-a-number")
	result := judge(t, cfg, "AS-ROLLBACK-3", "CP-UPDATE-4", "CP-CONTRACT-list-revisions")

	rollback, parts := chainOf(t, result, "AS-ROLLBACK-3")
	strategies := 0
	for _, x := range rollback {
		if x.Method == "POST" && strings.Contains(x.Request.Body, `"rollback"`) {
			strategies++
		}
	}
	assert.Positive(t, strategies, "the run that replaced the prior one is part of the chain")
	assert.True(t, slices.ContainsFunc(rollback, func(x reports.Exchange) bool { return x.Scenario == "fixture: a rollback" }))
	assert.False(t, slices.ContainsFunc(rollback, func(x reports.Exchange) bool { return x.Scenario == "fixture: a completed run" }), "it only measures")
	assert.Equal(t, reports.Observation, parts[len(parts)-1])

	update, parts := chainOf(t, result, "CP-UPDATE-4")
	patch := slices.Index(parts, reports.Act) // updates by scenarios that had the deployment before are part of the set-up
	require.Positive(t, patch)
	assert.Equal(t, "PATCH", update[patch].Method)
	assert.Equal(t, reports.SetUp, parts[patch-1], "the look before the update")
	assert.Equal(t, reports.Observation, parts[patch+1], "the look after it")
	assert.Regexp(t, `^GET /v2/deployments/\{deployment_id\}/revisions \(exchange \d+\), after the PATCH \(exchange \d+\), with the one before it \(exchange \d+\)$`,
		findingOf(t, result, "CP-UPDATE-4").Compared)

	contract, _ := chainOf(t, result, "CP-CONTRACT-list-revisions")
	last := contract[len(contract)-1]
	assert.Equal(t, findingOf(t, result, "CP-CONTRACT-list-revisions").Exchange, last.ID, "it ends with the first exchange that shows it")
	assert.Greater(t, len(contract), 1, "and has what the scenario sent before")

	for _, e := range result.Coverage.Enums {
		if e.Field == "CreateRun.multitask_strategy" {
			assert.Equal(t, []string{"rollback"}, e.Seen, "it was sent")
		}
	}
}

func findingOf(t *testing.T, r *reports.Result, requirement string) *reports.Finding {
	t.Helper()
	at := slices.IndexFunc(r.Findings, func(f reports.Finding) bool { return f.Requirement == requirement })
	require.GreaterOrEqual(t, at, 0, "no finding of %s", requirement)
	return &r.Findings[at]
}

// chainOf returns the exchanges of a finding, which must be in the order in which they were sent.
func chainOf(t *testing.T, r *reports.Result, requirement string) (chain []reports.Exchange, parts []reports.Part) {
	t.Helper()
	for _, link := range findingOf(t, r, requirement).Exchanges {
		x, err := r.Exchange(link.Exchange)
		require.NoError(t, err)
		chain, parts = append(chain, x), append(parts, link.Part)
	}
	require.NotEmpty(t, chain)
	assert.True(t, slices.IsSortedFunc(chain, func(a, b reports.Exchange) int { return int(a.AtMS - b.AtMS) }))
	return chain, parts
}
