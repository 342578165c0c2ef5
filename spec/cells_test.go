package spec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const listAndText = `
openapi: 3.1.0
info: {title: A list and a text, version: 0.1.0}
paths:
  /things:
    get:
      operationId: list-things
      parameters:
        - {name: status, in: query, x-comma-separated: Status, schema: {type: [string, 'null']}}
        - {name: name_contains, in: query, schema: {type: [string, 'null']}}
        - {name: sort, in: query, schema: {type: string, enum: [created_at, name]}}
      responses: {'200': {description: Things.}}
components:
  schemas:
    Status: {type: string, enum: [NEW, OLD]}
`

// TestOnlyCommaSeparatedParametersHaveItems checks that a text in the query is not treated as a list.
func TestOnlyCommaSeparatedParametersHaveItems(t *testing.T) {
	cells, err := cellsOf(ControlPlane, []byte(listAndText))
	require.NoError(t, err)
	assert.Contains(t, cells, [3]string{"list-things", "query status", "several items"})
	assert.NotContains(t, cells, [3]string{"list-things", "query name_contains", "several items"})
	assert.Contains(t, cells, [3]string{"list-things", "query name_contains", "empty"})
	assert.Contains(t, cells, [3]string{"list-things", "query name_contains", "combined with others"})
	assert.Contains(t, cells, [3]string{"list-things", "query sort", "an unknown value"})
}
