package spec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"go.yaml.in/yaml/v4"
)

// TestEveryValueOfTheInterface is section 3 and the source of section 2.
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

// TestTheKeywordsThatTheOracleReliesOn: each violation has one cause, and references stand in properties and items
// only. Neither would be right with keywords that join schemas.
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

// TestRequestsRequireNothingThatOnlyTheServerSets: validators do not ask a request for a field that is readOnly. The
// oracle compiles a schema the same way for both directions.
func TestRequestsRequireNothingThatOnlyTheServerSets(t *testing.T) {
	for side, document := range newKin(t) {
		for path, item := range document.Paths.Map() {
			for _, op := range item.Operations() {
				if op.RequestBody != nil {
					requiresNoReadOnly(t, fmt.Sprint(side, path), op.RequestBody.Value.Content.Get(jsonType).Schema.Value)
				}
			}
		}
	}
}

func requiresNoReadOnly(t *testing.T, place string, schema *openapi3.Schema) {
	for name, property := range schema.Properties {
		assert.False(t, property.Value.ReadOnly && slices.Contains(schema.Required, name), "%s/%s", place, name)
		requiresNoReadOnly(t, place+"/"+name, property.Value)
	}
	if schema.Items != nil {
		requiresNoReadOnly(t, place+"/*", schema.Items.Value)
	}
}
