package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestABrokenDocumentIsAnError: an oracle that leaves out what it cannot read would find nothing wrong.
func TestABrokenDocumentIsAnError(t *testing.T) {
	good := string(Document(ControlPlane))
	for name, c := range map[string]struct{ old, new, want string }{
		"no document":         {good, "x", "reading the control-plane document"},
		"a lost reference":    {"'#/components/schemas/Revision'", "'#/components/schemas/Gone'", "control-plane document"},
		"a foreign reference": {"'#/components/schemas/Revision'", "'revision.yaml'", "reading the control-plane document"},
		"keys beside a reference": {"$ref: '#/components/schemas/Source'\n", "$ref: '#/components/schemas/Source'\n          nullable: true\n",
			"OpenAPI keyword 'nullable'"},
		"a loop":                   {"Source:\n", "Source:\n      items: {$ref: '#/components/schemas/Source'}\n", "contains itself"},
		"a keyword of OpenAPI 3.0": {"type: integer\n        minimum: 1", "type: integer\n        nullable: true\n        minimum: 1", "parameter limit"},
		"a lost list":              {"x-comma-separated: RevisionStatus", "x-comma-separated: Gone", `parameter status: x-comma-separated names the unknown schema "Gone"`},
		"another body type":        {"application/json:", "text/csv:", "no schema for application/json"},
		"an unknown type":          {"type: integer\n        minimum: 1", "type: whole\n        minimum: 1", "parameter limit"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, good, c.old)
			_, err := compile(ControlPlane, []byte(strings.ReplaceAll(good, c.old, c.new)))
			assert.ErrorContains(t, err, c.want)
		})
	}
}
