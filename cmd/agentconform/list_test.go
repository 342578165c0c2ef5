package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
)

// TestTagsNameKeysThatExist holds the keys in the tags of the features to those of the configuration.
func TestTagsNameKeysThatExist(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	reference, free := config.Reference(), regexp.MustCompile(`=.*|(create\.body)\..*|\.\d+`)
	for _, s := range catalogue.Scenarios() {
		for _, key := range slices.Concat(s.Terms.Needs...) {
			for part := range strings.SplitSeq(free.ReplaceAllString(key, "$1"), ".") {
				assert.Regexp(t, `(?m)^ *`+part+`:`, reference, "%s needs %s", s.Key(), key)
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
