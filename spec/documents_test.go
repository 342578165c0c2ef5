package spec

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// node is a place in a document; steps follow references.
type node struct {
	t    *testing.T
	root map[string]any
	at   any
}

func document(t *testing.T, side Side) node {
	t.Helper()
	var root map[string]any
	require.NoError(t, yaml.Unmarshal(Document(side), &root))
	return node{t, root, root}
}

func (n node) get(steps ...string) node {
	n.t.Helper()
	for _, step := range steps {
		fields, ok := n.at.(map[string]any)
		require.True(n.t, ok, "no object before %q", step)
		value, ok := fields[step]
		require.True(n.t, ok, "%q is missing", step)
		n.at = value
		n = n.follow()
	}
	return n
}

func (n node) follow() node {
	for {
		fields, ok := n.at.(map[string]any)
		if !ok {
			return n
		}
		reference, ok := fields["$ref"].(string)
		if !ok {
			return n
		}
		n.at = n.root
		for _, step := range strings.Split(strings.TrimPrefix(reference, "#/"), "/") {
			n.at = n.at.(map[string]any)[step]
		}
	}
}

// TestEveryValueOfTheInterface is section 3 and the source of section 2.
func TestEveryValueOfTheInterface(t *testing.T) {
	statuses := strings.Fields("CREATING QUEUED AWAITING_BUILD BUILDING AWAITING_DEPLOY DEPLOYING CREATE_FAILED BUILD_FAILED " +
		"DEPLOY_FAILED DEPLOYED SKIPPED INTERRUPTED UNKNOWN")
	sources := []string{"git_host", "external_container", "internal_container"}
	assert.Equal(t, statuses, RevisionStatuses())
	assert.Equal(t, []string{"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED"}, FailedStatuses())
	assert.Subset(t, statuses, FailedStatuses())
	assert.Equal(t, sources, Sources())
	assert.Equal(t, map[string][]string{
		"Revision.status": statuses, "Revision.source": sources,
		"Message.type": {"human", "ai", "tool"}, "CreateRun.multitask_strategy": {"rollback"},
	}, shared.Enums())
}

// TestTheKeywordsThatTheOracleReliesOn: each violation has one cause, and references stand in properties and items only. Neither would be
// right with keywords that join schemas.
func TestTheKeywordsThatTheOracleReliesOn(t *testing.T) {
	forbidden := []string{"minItems", "maxItems", "uniqueItems", "contains", "prefixItems", "unevaluatedItems", "anyOf", "oneOf",
		"allOf", "not", "if", "const", "pattern", "patternProperties", "propertyNames", "dependentRequired", "additionalProperties",
		"writeOnly"}
	for _, side := range Sides() {
		d := document(t, side)
		walk(d.at, "", func(path string, fields map[string]any) {
			for _, keyword := range forbidden {
				assert.NotContains(t, fields, keyword, "%s %s", side, path)
			}
		})
	}
}

// TestRequestsRequireNothingThatOnlyTheServerSets: validators do not ask a request for a field that is readOnly. The oracle
// compiles a schema the same way for both directions.
func TestRequestsRequireNothingThatOnlyTheServerSets(t *testing.T) {
	for _, side := range Sides() {
		d := document(t, side)
		for _, op := range shared.Operations(side) {
			declared := d.get("paths", op.Path, strings.ToLower(op.Method))
			if _, ok := declared.at.(map[string]any)["requestBody"]; ok {
				requiresNoReadOnly(t, op.ID, declared.get("requestBody", "content", "application/json", "schema"))
			}
		}
	}
}

func requiresNoReadOnly(t *testing.T, path string, schema node) {
	keywords := schema.at.(map[string]any)
	properties, _ := keywords["properties"].(map[string]any)
	required, _ := keywords["required"].([]any)
	for name := range properties {
		property := schema.get("properties", name)
		assert.False(t, property.at.(map[string]any)["readOnly"] == true && slices.Contains(required, any(name)), "%s/%s", path, name)
		requiresNoReadOnly(t, path+"/"+name, property)
	}
	if keywords["items"] != nil {
		requiresNoReadOnly(t, path+"/*", schema.get("items"))
	}
}

func walk(value any, path string, visit func(string, map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(path, v)
		for key, child := range v {
			walk(child, path+"/"+key, visit)
		}
	case []any:
		for i, child := range v {
			walk(child, path+"/"+strconv.Itoa(i), visit)
		}
	}
}
