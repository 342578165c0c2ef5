package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
)

// TestListNamesKeysThatExist holds the keys in the features to those of the configuration.
func TestListNamesKeysThatExist(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	reference, key := config.Reference(), regexp.MustCompile(`[a-z]+(?:_[a-z]+)*(?:\.[a-z_]+)+`)
	for _, r := range catalogue.Requirements {
		for _, name := range key.FindAllString(r.Needs, -1) {
			for part := range strings.SplitSeq(name, ".") {
				assert.Regexp(t, `(?m)^ *`+part+`:`, reference, "%s needs %s", r.ID, name)
			}
		}
	}
}

// TestListHasTheOperationsOfTheContract wants a requirement about the answers of each operation of the interface.
func TestListHasTheOperationsOfTheContract(t *testing.T) {
	catalogue, oracle := catalogueAndOracle(t)
	beside := map[string]string{"search-threads": "judged by AS-CONTRACT-list-threads"}
	for _, side := range spec.Sides() {
		for _, operation := range oracle.Operations(side) {
			prefix := map[spec.Side]string{spec.ControlPlane: "CP", spec.AgentServer: "AS"}[side] + "-CONTRACT-"
			if beside[operation.ID] == "" && !operation.Field { // vendor extensions are not judged
				assert.NotNil(t, catalogue.Find(prefix+operation.ID), operation.ID)
			}
		}
	}
}
