package spec

import (
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestViolationsOfOneAnswerAreBounded: where a schema is about all fields, a target can make up names without end, each
// a place of its own.
func TestViolationsOfOneAnswerAreBounded(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("all.json", map[string]any{"additionalProperties": map[string]any{"type": "string"}}))
	value := map[string]any{}
	for i := range 20 * maxViolations {
		value[fmt.Sprintf("k%d", i)] = int64(i)
	}
	assert.Len(t, violationsOf(compiler.MustCompile("all.json"), value), maxViolations)
}
