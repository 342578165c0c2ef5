package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/negate"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestNegatedAnswers_Long records a run of the reference and breaks each keyword of the contract in each of its answers: the oracle
// takes every answer as it was, and none that is broken.
func TestNegatedAnswers_Long(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("judges some ten thousand answers")
	}
	_, oracle := catalogueAndOracle(t)
	documents, err := negate.Read(oracle)
	require.NoError(t, err)
	mutants, keywords, operations, alike := 0, map[string]int{}, map[string]bool{}, map[string]int{}
	for _, x := range exchangesWithReference(t) {
		if !assert.Empty(t, oracle.JudgeResponse(x), "%s %s %d", x.Method, x.Path, x.Status) {
			continue
		}
		for m := range documents.Mutants(x) {
			op, _ := oracle.Find(m.Side, m.Method, m.Path)
			kind := op.ID + " " + m.Pointer + " " + m.Keyword + " " + m.Change
			if alike[kind]++; alike[kind] > 3 {
				continue
			}
			mutants++
			keywords[m.Keyword]++
			operations[op.ID] = true
			assert.NotEmpty(t, oracle.JudgeResponse(m.Exchange), "%s\n%.300s", m, m.Body)
		}
	}
	t.Logf("%d answers with one keyword broken: %v", mutants, keywords)
	assert.Greater(t, mutants, 2000)
	for _, side := range spec.Sides() {
		for _, op := range oracle.Operations(side) {
			if !op.Field {
				assert.True(t, operations[op.ID], "no answer of %s was broken", op.ID)
			}
		}
	}
}

// exchangesWithReference is what a run of the suite and the reference said to each other, as the oracle sees it.
func exchangesWithReference(t *testing.T) (all []spec.Exchange) {
	t.Helper()
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	require.NoError(t, cfg.Complete())
	catalogue, oracle := catalogueAndOracle(t)
	result, err := steps.Run(t.Context(), steps.Options{Config: &cfg, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "negated", Version: "test",
		Concurrency: steps.DefaultConcurrency, Journal: reports.NewMemory()})
	require.NoError(t, err)
	require.Equal(t, reports.Conformant, result.Verdict, result.Headline)
	for x, err := range result.Exchanges.All() {
		require.NoError(t, err)
		if x.Status == 0 || x.Response.Size > 0 { // no answer, or a part of it
			continue
		}
		side, path := spec.ControlPlane, strings.TrimPrefix(x.URL, server.ControlPlaneURL())
		if agent, is := strings.CutPrefix(path, "/agents/"); is {
			_, rest, _ := strings.Cut(agent, "/")
			side, path = spec.AgentServer, "/"+rest
		}
		path, query, _ := strings.Cut(path, "?")
		all = append(all, spec.Exchange{Side: side, Method: x.Method, Path: path, Query: query, Status: x.Status,
			Header: http.Header(x.Response.Headers), Body: []byte(x.Response.Body)})
	}
	return all
}
