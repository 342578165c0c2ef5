package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loadIn loads a file with one of its environments.
func loadIn(t *testing.T, text, environment string, environ ...string) (*Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "key.txt"), []byte("key-of-staging\n"), 0o600))
	return Load(Sources{File: path, Environ: environ, Environment: environment})
}

const twoEnvironments = `
target: https://one.example
edition: cloud
create: {body: {source: git_host, name: a, source_config: {build_on_push: false, repo_url: first}}}
users: [{name: ada, token: token-ada}, {name: bob, token: token-bob}]
timeouts: {request: 1s, poll: 2s}
credentials: {api_key: {file: there-is-none}}
environments:
  staging:
    target: https://staging.example
    credentials: {api_key: {file: key.txt}}
    create: {body: {source_config: {repo_url: second}}}
    users: [{name: eve, token: token-eve}]
    timeouts: {poll: 3s}
  production:
    credentials: {api_key: key-of-production}
  same:
`

func TestAnEnvironmentIsLaidOverTheOtherKeys(t *testing.T) {
	c, err := loadIn(t, twoEnvironments, "staging")
	require.NoError(t, err)
	assert.Equal(t, "https://staging.example", c.Target)
	assert.Equal(t, Cloud, c.Edition, "what the environment does not set stays")
	assert.Equal(t, map[string]any{"source": "git_host", "name": "a", "source_config": map[string]any{"build_on_push": false, "repo_url": "second"}}, c.Create.Body)
	assert.Equal(t, []User{{Name: "eve", Token: "token-eve", Identity: "eve"}}, c.Users, "a list is replaced")
	assert.Equal(t, time.Second, c.Timeouts.Request)
	assert.Equal(t, 3*time.Second, c.Timeouts.Poll)
	assert.Equal(t, "key-of-staging", c.Credentials.APIKey, "the file of the environment, and not that of the other keys, is read")
	assert.Contains(t, c.SecretFiles, "credentials.api_key")
	assert.Empty(t, c.Environments)

	c, err = loadIn(t, twoEnvironments, "production", "AGENTCONFORM_TARGET=https://variable.example")
	require.NoError(t, err)
	assert.Equal(t, "https://variable.example", c.Target, "a variable is stronger than an environment of the file")
	assert.Equal(t, "key-of-production", c.Credentials.APIKey)
	assert.Empty(t, c.SecretFiles)
	assert.Equal(t, "first", c.Create.Body["source_config"].(map[string]any)["repo_url"])

	_, err = loadIn(t, twoEnvironments, "same")
	require.ErrorContains(t, err, "there-is-none cannot be used", "an empty environment changes nothing")
}

func TestMistakesInEnvironments(t *testing.T) {
	for name, row := range map[string]struct{ text, environment, want string }{
		"unknown name":       {twoEnvironments, "prod", `flag --env: FILE has no environment "prod"; known environments: staging, production, same`},
		"misspelt name":      {twoEnvironments, "stagin", `did you mean "staging"? known environments: staging, production, same`},
		"none in the file":   {"target: https://one.example", "staging", `flag --env: FILE has no environment "staging"; it has none: add it below the key environments, or remove the flag`},
		"none, empty file":   {"", "staging", `has no environment "staging"`},
		"unknown key":        {"environments:\n  a:\n    taget: x", "a", `FILE:3 (environment a): taget: unknown key; did you mean "target"?`},
		"not the chosen one": {"environments:\n  a:\n    taget: x", "", `FILE:3 (environment a): taget: unknown key`},
		"wrong type":         {"environments:\n  a:\n    timeouts:\n      poll: soon", "a", `FILE:4 (environment a): timeouts.poll: "soon" is not a duration above zero`},
		"wrong value":        {"target: https://one.example\nenvironments:\n  a:\n    target: two", "a", `FILE:4 (environment a): target: "two" is not an http or https URL`},
		"wrong other value":  {"target: one\nenvironments:\n  a:\n    edition: cloud", "a", `FILE:1: target: "one" is not an http or https URL`},
		"in a replaced list": {"users:\n  - {name: a, token: token-a}\nenvironments:\n  a:\n    users:\n      - {token: token-b}", "a", `FILE:6 (environment a): users.0.name: is missing`},
		"a file":             {"environments:\n  a:\n    credentials:\n      api_key: {file: none}", "a", `FILE:4 (environment a): credentials.api_key: the file`},
		"a group":            {"environments:\n  a:\n    credentials: {api_key: {files: none}}", "", `FILE:3 (environment a): credentials.api_key: is a group of keys`},
		"not keys":           {"environments:\n  a: b", "a", `FILE:2 (environment a): environments.a: is a single value`},
		"not names":          {"environments: [a]", "", `FILE:1: environments: is a list; use the names of environments`},
		"nested":             {"environments:\n  a:\n    environments: {}", "", `FILE:3 (environment a): environments.a.environments: an environment within an environment; move it beside environments.a`},
		"a name twice":       {"environments:\n  a: {edition: cloud}\n  a: {edition: cloud}", "a", `FILE:3: environments.a: is set twice`},
		"all twice":          {"environments: {}\nenvironments: {}", "", `FILE:2: environments: is set twice`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.yaml")
			require.NoError(t, os.WriteFile(path, []byte(row.text), 0o600))
			_, err := Load(Sources{File: path, Environment: row.environment})
			require.Error(t, err)
			assert.Contains(t, strings.ReplaceAll(err.Error(), path, "FILE"), row.want)
		})
	}
	t.Run("a variable", func(t *testing.T) {
		_, err := loadIn(t, "", "", "AGENTCONFORM_ENVIRONMENTS_A_TARGET=https://one.example")
		require.ErrorContains(t, err, "environment AGENTCONFORM_ENVIRONMENTS_A_TARGET: environments: is set in the file only; remove the variable")
	})
	t.Run("no file", func(t *testing.T) {
		t.Chdir(t.TempDir())
		_, err := Load(Sources{Environment: "a"})
		require.ErrorContains(t, err, `flag --env: there is no agentconform.yaml with an environment "a"; name the file with --config`)
	})
}

func TestEnvironmentsMayShareKeys(t *testing.T) {
	text := "environments:\n  a: &a {target: https://a.example, timeouts: &t {poll: 2s}}\n  b: *a\n  c: {timeouts: *t}\ntimeouts: {request: 4s}\n"
	c, err := loadIn(t, text, "b")
	require.NoError(t, err)
	assert.Equal(t, "https://a.example", c.Target)
	c, err = loadIn(t, text, "c")
	require.NoError(t, err)
	assert.Equal(t, Timeouts{Request: 4 * time.Second, Poll: 2 * time.Second, Run: time.Minute}, c.Timeouts)
	assert.Empty(t, c.Target)
}

// TestAnAnchorInItself is refused with its line: merging such anchors with an environment would have no end.
func TestAnAnchorInItself(t *testing.T) {
	const itself = `FILE: line \d, column \d+: anchor '\w' value contains itself; correct the value at that line`
	for text, want := range map[string]string{
		"create: &a {body: *a}\nenvironments: {e: {create: {body: {body: {body: {name: x}}}}}}":       itself,
		"create: &a {body: *a}\nenvironments: {e: {create: &b {body: *b}}}":                           itself,
		"create: &a {body: *a, refused: *a}\nenvironments: {e: {create: &b {body: *b, refused: *b}}}": itself,
		"create: {body: &a {x: *a, y: *a}}\nenvironments: {e: {create: {body: &b {x: *b, y: *b}}}}":   itself,
		"environments: {e: &a {create: {body: *a}}}":                                                  itself,
		"users: &u [*u]\nenvironments: {e: {users: *u}}":                                              `FILE:1: users.0: is a list`,
		"credentials: &c {api_key: *c}\nenvironments: {e: {credentials: &d {api_key: *d}}}":           `FILE:1: credentials.api_key: is a group of keys`,
	} {
		t.Run(text, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.yaml")
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			_, err := Load(Sources{File: path, Environment: "e"})
			require.Error(t, err)
			assert.Regexp(t, want, strings.ReplaceAll(err.Error(), path, "FILE"))
		})
	}
}
