package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/negate"
)

// TestNegatedAnswers takes two answers of each operation and status.
func TestNegatedAnswers(t *testing.T) {
	t.Parallel()
	_, oracle := catalogueAndOracle(t)
	taken := map[string]int{}
	few := slices.DeleteFunc(exchangesWithReference(t), func(x spec.Exchange) bool {
		op, _ := oracle.Find(x.Side, x.Method, x.Path)
		kind := fmt.Sprint(op.ID, x.Status)
		taken[kind]++
		return taken[kind] > 2
	})
	assert.Greater(t, assertNegatedAnswersAreRefused(t, few), 1000)
}

// assertNegatedAnswersAreRefused breaks each keyword of the contract in each of the answers, and counts: the oracle
// takes every answer as it was, and none that is broken.
func assertNegatedAnswersAreRefused(t *testing.T, exchanges []spec.Exchange) (mutants int) {
	t.Helper()
	_, oracle := catalogueAndOracle(t)
	documents, err := negate.Read(oracle)
	require.NoError(t, err)
	keywords, operations, alike := map[string]int{}, map[string]bool{}, map[string]int{}
	for _, x := range exchanges {
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
	for _, side := range spec.Sides() {
		for _, op := range oracle.Operations(side) {
			if !op.Field {
				assert.True(t, operations[op.ID], "no answer of %s was broken", op.ID)
			}
		}
	}
	return mutants
}

// exchangesWithReference is what a run of the suite and the reference said to each other, as the oracle sees it.
func exchangesWithReference(t *testing.T) (all []spec.Exchange) {
	t.Helper()
	w := judgedWhole(t)
	require.Equal(t, reports.Conformant, w.result.Verdict, w.result.Headline)
	for x, err := range w.result.Exchanges.All() {
		require.NoError(t, err)
		if x.Status == 0 || x.Response.Size > 0 { // no answer, or a part of it
			continue
		}
		side, path := spec.ControlPlane, strings.TrimPrefix(x.URL, w.plane)
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
