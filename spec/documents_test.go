package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v4"
)

// TestEveryValueOfTheInterface checks the statuses of section 3 and the sources of section 2.
func TestEveryValueOfTheInterface(t *testing.T) {
	statuses := strings.Fields("CREATING QUEUED AWAITING_BUILD BUILDING AWAITING_DEPLOY DEPLOYING CREATE_FAILED BUILD_FAILED " +
		"DEPLOY_FAILED DEPLOYED SKIPPED INTERRUPTED UNKNOWN")
	sources := []string{"git_host", "external_container", "internal_container"}
	assert.Equal(t, statuses, RevisionStatuses())
	assert.Equal(t, []string{"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED"}, FailedStatuses())
	assert.Equal(t, sources, Sources())
	assert.Equal(t, map[string][]string{
		"Revision.status": statuses, "Revision.source": sources,
		"Message.type": {"human", "ai", "tool"}, "CreateRun.multitask_strategy": {"rollback"},
	}, shared.Enums())
}

// TestTheKeywordsThatTheOracleReliesOn checks that the documents have no keywords that join schemas. The oracle relies on
// one cause per violation, and on references only in properties and items.
func TestTheKeywordsThatTheOracleReliesOn(t *testing.T) {
	forbidden := []string{"minItems", "maxItems", "uniqueItems", "contains", "prefixItems", "unevaluatedItems", "anyOf", "oneOf",
		"allOf", "not", "if", "const", "pattern", "patternProperties", "propertyNames", "dependentRequired", "additionalProperties",
		"writeOnly"}
	for _, side := range Sides() {
		var document any
		assert.NoError(t, yaml.Unmarshal(Document(side), &document))
		for _, key := range keysIn(document) {
			assert.NotContains(t, forbidden, key, side)
		}
	}
}

func keysIn(value any) (keys []string) {
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			keys = append(append(keys, key), keysIn(child)...)
		}
	case []any:
		for _, child := range v {
			keys = append(keys, keysIn(child)...)
		}
	}
	return keys
}
