package spec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestJudgingEndsWithTheContext: an answer that was not judged is told apart from one without faults.
func TestJudgingEndsWithTheContext(t *testing.T) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	x := answer("GET", "/threads", 200, "["+strings.Repeat(`{"thread_id":"t"},`, 2*window)+"{}]")
	found, err := shared.JudgeResponseContext(ctx, x)
	assert.NoError(t, err)
	assert.Len(t, found, 1)
	cancel(why)
	found, err = shared.JudgeResponseContext(ctx, x)
	assert.ErrorIs(t, err, why)
	assert.Empty(t, found)
	found, err = shared.JudgeResponseContext(ctx, page(revision("status", `"UP"`)))
	assert.NoError(t, err, "a small answer is judged at once")
	assert.Len(t, found, 1)
}

// TestViolationsOfOneAnswerAreBounded: where a schema is about all fields, a target can make up names without end, each a place of its
// own.
func TestViolationsOfOneAnswerAreBounded(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("all.json", map[string]any{"additionalProperties": map[string]any{"type": "string"}}))
	value := map[string]any{}
	for i := range 20 * maxViolations {
		value[fmt.Sprintf("k%d", i)] = int64(i)
	}
	assert.Len(t, violationsOf(compiler.MustCompile("all.json"), value, value, nil), maxViolations)
}
