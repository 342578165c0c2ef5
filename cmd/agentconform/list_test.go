package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/config"
)

// TestTagsNameKeysThatExist checks that the keys in the tags of the features are keys of the configuration.
func TestTagsNameKeysThatExist(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	reference, free := config.Page(), regexp.MustCompile(`=.*|(create\.body)\..*|\.\d+`)
	for _, s := range catalogue.Scenarios() {
		for _, key := range slices.Concat(s.Terms.Needs...) {
			named := regexp.QuoteMeta(free.ReplaceAllString(key, "$1"))
			assert.Regexp(t, "(?m)^(### |- `)"+named+"(`|$)", reference, "%s needs %s", s.Key(), key)
		}
	}
}

// TestRequirementsMatchTheirSchema checks what list and explain write as JSON, and that the schema has all fields.
func TestRequirementsMatchTheirSchema(t *testing.T) {
	strict := strings.ReplaceAll(requirementsSchema, `"required": [`, `"unevaluatedProperties": false, "required": [`)
	for _, schema := range []string{requirementsSchema, strict} {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
		require.NoError(t, err)
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource("urn:schema", document))
		compiled, err := compiler.Compile("urn:schema")
		require.NoError(t, err)
		for _, call := range []string{"list", "explain CP-LIST-3 AS-ROLLBACK-3 E2E-1"} {
			code, printed := command(t, append(strings.Fields(call), "--format", "json")...)
			require.Equal(t, exitConformant, code, printed)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(printed))
			require.NoError(t, err)
			require.NoError(t, compiled.Validate(value), call)
		}
	}
	_, printed := command(t, "schema", "--of", "requirements")
	assert.Equal(t, requirementsSchema, printed)
}

// TestSpecificationHasExamplesFromResults uses one result twice: as the result of a fault, and as the result of a server
// that meets the other rules.
func TestSpecificationHasExamplesFromResults(t *testing.T) {
	run, err := os.ReadFile("../../reports/internal/reporttest/run.json")
	require.NoError(t, err)
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "limit-101-is-served.json"), filepath.Join(dir, "server.json")}
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, run, 0o600))
	}
	code, page := command(t, "list", "--format", "html", "--result", strings.Join(files, ","))
	require.Equal(t, exitConformant, code, page)
	rules := map[string]string{}
	for _, text := range strings.Split(page, `<details class="req" id="`)[1:] {
		id, rest, _ := strings.Cut(text, `"`)
		rules[id] = rest
	}
	catalogue, err := features.Load()
	require.NoError(t, err)
	for _, q := range catalogue.Requirements {
		assert.Contains(t, rules[q.ID], "Faults that break it", q.ID)
	}
	for _, shown := range []string{
		"<blockquote>Invalid request parameters", "section 7: Errors", "Claimed in the key supports by: control-plane, or the capability paging",
		"<b>limit-101-is-served</b>: ", `<p class="reason failed"><b>limit-101-is-served</b>: list-revisions: expected status 422, got status 200`,
	} {
		assert.Contains(t, rules["CP-LIST-3"], shown)
	}
	assert.Equal(t, 1, strings.Count(rules["CP-LIST-3"], `class="exchange"`), "the server breaks it too")
	assert.Contains(t, rules["CP-CREATE-1"], "the reference</p>")
	assert.Contains(t, rules["CP-CREATE-1"], "/v2/deployments</code>")
	assert.NotContains(t, rules["CP-CREATE-1"], "Breaks it")
}
