package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pb33f/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

// TestTheSchemaAcceptsWhatTheParserAccepts compares the schema with the parser.
func TestTheSchemaAcceptsWhatTheParserAccepts(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource(SchemaURL, document))
	schema, err := compiler.Compile(SchemaURL)
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("secret", []byte("a-long-secret"), 0o600))
	for text, want := range map[string]bool{
		"{}":                                     true,
		"{target: https://a.example/base}":       true,
		"{target: ''}":                           true,
		"{target: a.example}":                    false,
		"{agent_target: https://a.example#b}":    false,
		"{taget: https://a.example}":             false,
		"{edition: cloud}":                       true,
		"{edition: clouds}":                      false,
		"{supports: [control-plane, rollback]}":  true,
		"{supports: rollback}":                   false,
		"{agent: {lists: search}}":               false,
		"{agent: {rejected_status: 200}}":        false,
		"{agent: {rejected_status: [401, 403]}}": true,
		"{agent: {rejected_status: [401, 200]}}": false,
		"{agent: {rejected_status: {missing: 401, invalid: [403]}}}":                  true,
		"{agent: {rejected_status: {missing: 200}}}":                                  false,
		"{agent: {rejected_status: {wrong: 401}}}":                                    false,
		"{agent: {rejected_status: {invalid: no}}}":                                   false,
		"{agent: {rejected_detail: No}}":                                              true,
		"{agent: {rejected_detail: {missing: No, invalid: null}}}":                    true,
		"{agent: [listing]}":                                                          false,
		"{agent: }":                                                                   true,
		"{agent_url_from: ''}":                                                        false,
		"{timeouts: {poll: 1m30s}}":                                                   true,
		"{timeouts: {poll: 5}}":                                                       false,
		"{timeouts: {poll: -1s}}":                                                     false,
		"{max_deployments: 3}":                                                        true,
		"{max_deployments: -3}":                                                       false,
		"{tenant_id_alone: true}":                                                     true,
		"{tenant_id_alone: 'yes'}":                                                    false,
		"{implementation: {version: 1.2}}":                                            true,
		"{credentials: {api_key: the-key}}":                                           true,
		"{credentials: {api_key: '${API_KEY}'}}":                                      false,
		"{agent: {runs: '3'}}":                                                        false,
		"{credentials: {api_key: 12345}}":                                             true,
		"{credentials: {api_key: {file: secret}}}":                                    true,
		"{credentials: {api_key: {path: secret}}}":                                    false,
		"{credentials: {api_key: {file: secret, mode: 1}}}":                           false,
		"{credential_headers: {api_key: {file: secret}}}":                             false,
		"{users: [{name: a, headers: {X-Token: {file: secret}}}]}":                    true,
		"{users: [{name: {file: secret}, token: the-token}]}":                         false,
		"{users: [{name: a, token: the-token, fields: {b: 1, c: [x, {d: null}]}}]}":   true,
		"{users: [{name: a, token: the-token, fields: [b]}]}":                         false,
		"{create: {body: {source: git_host, any: [{thing: 1}]}}}":                     true,
		"{alternatives: {tag_ref: refs/tags/v1, commits: {main: abc}}}":               true,
		"{alternatives: {tag_ref: v1}}":                                               false,
		"{vocabulary: {git_host: [their_host]}}":                                      false,
		"{implementation: null, users: null, create: {body: null}, vocabulary: null}": true,
	} {
		require.NoError(t, os.WriteFile("a.yaml", []byte(text), 0o600))
		_, err = Load(Sources{File: "a.yaml"})
		assert.Equal(t, want, err == nil, "parser: %s: %v", text, err)
		var value any
		require.NoError(t, yaml.Unmarshal([]byte(text), &value), text)
		assert.Equal(t, want, schema.Validate(value) == nil, "schema: %s", text)
	}
}

func TestTheStoredPagesAreTheGeneratedOnes(t *testing.T) {
	for file, want := range map[string]string{"configuration.md": Page(), "config.schema.json": string(Schema())} {
		stored, err := os.ReadFile("../../docs/" + file)
		require.NoError(t, err)
		assert.Equal(t, want, string(stored), "run make docs")
	}
}

// TestEveryKeyIsExplained compares the table with the structs and with the file that is written.
func TestEveryKeyIsExplained(t *testing.T) {
	c := Default()
	c.Users = []User{{Name: "a", Token: "the-token", Identity: "a"}, {Name: "b", Token: "the-other", Identity: "b"}}
	c.Create.Body = map[string]any{"source": GitHost, "build": map[string]any{"n": 3, "day": "2026-11-24"}}
	text := c.YAML()
	written := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "#", " ")), " ")
	known := map[string]bool{}
	each(reflect.ValueOf(c), "", func(key string, _ reflect.Value) {
		known[key] = true
		if assert.NotEmpty(t, keys[key].About, key) {
			assert.NotContains(t, keys[key].About, "\n", key)
			assert.Equal(t, !strings.HasPrefix(key, "users."), strings.Contains(written, keys[key].About), key)
		}
	})
	for key := range keys {
		assert.True(t, known[key], "%s is not a key", key)
	}
	file := filepath.Join(t.TempDir(), "written.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	again, err := Load(Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, c.Users[1].Token, again.Users[1].Token)
	assert.Equal(t, c.Timeouts, again.Timeouts)
	assert.Equal(t, c.Create.Body, again.Create.Body)
}
