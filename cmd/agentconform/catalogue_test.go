package main

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
)

// What all runs of the tests share, as those of a self-test do.
var (
	loadCatalogue = sync.OnceValues(features.Load)
	newOracle     = sync.OnceValues(spec.New)
)

// catalogueAndOracle are parsed and compiled once: a run only reads them.
func catalogueAndOracle(t *testing.T) (*features.Catalogue, *spec.Oracle) {
	t.Helper()
	catalogue, err := loadCatalogue()
	require.NoError(t, err)
	oracle, err := newOracle()
	require.NoError(t, err)
	return catalogue, oracle
}
