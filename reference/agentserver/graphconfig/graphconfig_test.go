package graphconfig

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func tree(config string) fstest.MapFS {
	return fstest.MapFS{
		"app/agent.json":   {Data: []byte(config)},
		"app/lib/x.star":   {Data: []byte("x = 1\n")},
		"app/settings.env": {Data: []byte("# settings\nexport A=1\nB = 'two words' # yes\nC=\"a\\nb \\\"c\\\"\"\nD=plain value # no\nE=\n")},
		"app/bad.env":      {Data: []byte("A=1\nnot a setting\n")},
		"app/open.env":     {Data: []byte("A='1\n")},
	}
}

func TestReadsWhatTheFileSays(t *testing.T) {
	c, err := Read(tree(`{"graphs": {"b": "./graph.star:agent", "a": "../other.star:make_2"},
		"auth": {"path": "auth.star:auth", "disable_studio": true}, "dependencies": [".", "./lib"], "env": "settings.env", "more": 1}`), "app/agent.json")
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, c.Names())
	assert.Equal(t, "app/graph.star:agent", c.Graphs["b"].String())
	assert.Equal(t, "other.star:make_2", c.Graphs["a"].String())
	assert.Equal(t, "app/agent.json:1:18", c.Graphs["b"].Pos.String())
	assert.Equal(t, "app/agent.json:2:20", c.Auth.Pos.String())
	assert.Equal(t, []string{"app", "app/lib"}, c.Folders)
	assert.Equal(t, map[string]string{"A": "1", "B": "two words", "C": "a\nb \"c\"", "D": "plain value", "E": ""}, c.Env)
}

func TestMistakesAreLocatedAndExplained(t *testing.T) {
	for _, c := range []struct{ name, config, where, remedy string }{
		{"no JSON", "{\n  \"graphs\": {,}\n}", "app/agent.json:2:14", "not valid JSON"},
		{"cut off", `{"graphs": `, "app/agent.json:1:12", "unexpected end of file"},
		{"empty", ``, "app/agent.json:1:1", "unexpected end of file"},
		{"an array", `[]`, "app/agent.json:1:1", "must not be a array"},
		{"two documents", `{"graphs": {"a": "x.star:y"}} {}`, "app/agent.json:1:3", "after the JSON"},
		{"no graphs", `{"env": "settings.env"}`, "app/agent.json:1:1", `"graphs": {"<name>"`},
		{"empty graphs", "{\n \"graphs\": {}}", "app/agent.json:2:12", "graphs is empty"},
		{"a graph that is no string", `{"graphs": {"a": 5}}`, "app/agent.json:1:18", "<file_path>:<object_name>"},
		{"a graph without object", `{"graphs": {"a": "x.star"}}`, "app/agent.json:1:18", "<file_path>:<object_name>"},
		{"a graph with a bad object", `{"graphs": {"a": "x.star:b-c"}}`, "app/agent.json:1:18", "<file_path>:<object_name>"},
		{"a graph outside", `{"graphs": {"a": "../../x.star:b"}}`, "app/agent.json:1:18", "leaves the source"},
		{"an absolute path", `{"graphs": {"a": "/etc/x.star:b"}}`, "app/agent.json:1:18", "leaves the source"},
		{"auth without path", `{"graphs": {"a": "x.star:y"}, "auth": {}}`, "app/agent.json:1:39", `"path"`},
		{"auth that is no object", `{"graphs": {"a": "x.star:y"}, "auth": "x"}`, "app/agent.json:1:", `"auth"`},
		{"a package", `{"graphs": {"a": "x.star:y"}, "dependencies": ["numpy"]}`, "app/agent.json:1:47", "use their folder"},
		{"dependencies that are none", `{"graphs": {"a": "x.star:y"}, "dependencies": "."}`, "app/agent.json:1:", `"dependencies"`},
		{"no env file", `{"graphs": {"a": "x.star:y"}, "env": "none.env"}`, "app/none.env", "under \"env\""},
		{"a bad env file", `{"graphs": {"a": "x.star:y"}, "env": "bad.env"}`, "app/bad.env:2:1", "NAME=value"},
		{"an open quote", `{"graphs": {"a": "x.star:y"}, "env": "open.env"}`, "app/open.env:1:1", "closing quote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(tree(c.config), "app/agent.json")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), c.where), "at %s: %v", c.where, err)
			assert.Contains(t, err.Error(), c.remedy)
		})
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	for _, file := range []string{"none.json", "app", "../x", ""} {
		_, err := Read(tree("{}"), file)
		assert.ErrorContains(t, err, "name the graph configuration file", file)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"graphs": {"a": "x.star:y"}, "auth": {"path": "a:b"}, "env": "settings.env"}`)
	f.Fuzz(func(t *testing.T, config string) {
		c, err := Read(tree(config), "app/agent.json")
		if err == nil {
			assert.NotEmpty(t, c.Graphs)
		}
	})
}

func FuzzParseEnv(f *testing.F) {
	f.Add("A=1\nB='x'\n")
	f.Fuzz(func(t *testing.T, src string) {
		env, err := ParseEnv([]byte(src), "x.env")
		if err != nil {
			assert.Contains(t, err.Error(), "x.env:")
			return
		}
		for name := range env {
			assert.True(t, isName(name))
		}
	})
}
