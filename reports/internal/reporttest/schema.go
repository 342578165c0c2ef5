package reporttest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
)

// StrictResultSchema is the schema of the result file with every object closed that names its properties. The published
// schema is open, so that readers take files of later versions; what this version writes is held to the strict one.
func StrictResultSchema(t *testing.T) []byte {
	t.Helper()
	var schema any
	require.NoError(t, json.Unmarshal(reports.ResultSchema(), &schema))
	EachObject(schema, func(o map[string]any) {
		if o["properties"] != nil {
			o["additionalProperties"] = false
		}
	})
	strict, err := json.Marshal(schema)
	require.NoError(t, err)
	return strict
}

// EachObject calls f for every object within a JSON value, the outer ones first.
func EachObject(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			EachObject(member, f)
		}
	case []any:
		for _, item := range v {
			EachObject(item, f)
		}
	}
}
