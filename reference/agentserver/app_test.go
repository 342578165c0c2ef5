package agentserver

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadEnv(t *testing.T) {
	tree := fstest.MapFS{"app/x.env": {Data: []byte("# settings\nexport A=1\nB = 'two words'\nC=\"c\"\n\nD=plain value\nE=\n")}}
	env, err := readEnv(tree, "app/x.env")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A": "1", "B": "two words", "C": "c", "D": "plain value", "E": ""}, env)
}

func TestLoadOfOtherFiles(t *testing.T) {
	s := newSite(t, files{
		"app/agent.json": "", "main.star": "load('lib/words.star', 'greet')\nload('far.star', 'far')\ndef agent(messages, config, ctx=None):\n  return greet(far)\n",
		"lib/words.star": "load('more.star', 'hello')\ndef greet(x): return hello + x\n", "lib/more.star": "hello = 'hello '\n", "deps/far.star": "far = 'world'\n",
		"agent.json": `{"graphs": {"main": "main.star:agent"}, "dependencies": ["deps"]}`,
	}, Options{})
	thread, _, _ := s.ran("x")
	assert.Equal(t, "ai: hello world", s.texts(thread)[1])
}

// TestInvalidSources checks that Load fails, with the place of the error and a remedy.
func TestInvalidSources(t *testing.T) {
	for name, c := range map[string]struct {
		files files
		want  []string
	}{
		"no file":             {files{}, []string{"agent.json: graphs.main", "main.star", "not exist"}},
		"no object":           {files{"main.star": "def other(): pass\nx = 1\n"}, []string{"agent.json: graphs.main", `no object "agent"`, "other, x"}},
		"a syntax error":      {files{"main.star": "def agent(messages, config):\n  return (\n"}, []string{"main.star:3:1", "want"}},
		"an unknown name":     {files{"main.star": "def agent(messages, config):\n  return nobody\n"}, []string{"main.star:2:10", "undefined: nobody"}},
		"an error at the top": {files{"main.star": "x = 1 // 0\n"}, []string{"main.star:1:7", "division by zero"}},
		"endless at the top":  {files{"main.star": "while True: pass\n"}, []string{"main.star:1:", "endless loop"}},
		"no function":         {files{"main.star": "agent = 5\n"}, []string{"agent.json: graphs.main", "is a int", "def agent(messages, config, ctx)"}},
		"too many parameters": {files{"main.star": "def agent(a, b, c, d): pass\n"}, []string{"two or three parameters"}},
		"no handler":          {files{"main.star": echo, "auth.star": "x = 1\n"}, []string{"agent.json: auth.path", `no object "auth"`}},
		"an odd handler":      {files{"main.star": echo, "auth.star": "auth = 1\n"}, []string{"agent.json: auth.path", "is a int", "authenticate(request)"}},
		"no authenticate":     {files{"main.star": echo, "auth.star": "auth = {}\n"}, []string{`no function under "authenticate"`}},
		"an unknown action":   {files{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': {'threads.fly': a}}\n"}, []string{"threads.fly", "create_run"}},
		"an odd action":       {files{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': {'threads': 1}}\n"}, []string{"must be a function"}},
		"odd actions":         {files{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': 5}\n"}, []string{`"on" is a int`}},
		"no JSON":             {files{"agent.json": "{"}, []string{"agent.json", "unexpected end"}},
		"no graphs":           {files{"agent.json": `{"env": "x.env"}`}, []string{"agent.json", "graphs is empty"}},
		"no reference":        {files{"agent.json": `{"graphs": {"a": "x.star"}}`}, []string{"graphs.a", "<file_path>:<object_name>"}},
		"outside":             {files{"agent.json": `{"graphs": {"a": "../x.star:y"}}`}, []string{"graphs.a", "../x.star"}},
		"a package":           {files{"agent.json": `{"graphs": {"a": "x.star:y"}, "dependencies": ["numpy"]}`}, []string{"use their folder"}},
		"no environment file": {files{"agent.json": `{"graphs": {"a": "x.star:y"}, "env": "none.env"}`}, []string{`"env"`, "none.env"}},
		"no setting":          {files{"agent.json": `{"graphs": {"a": "x.star:y"}, "env": "x.env"}`, "x.env": "A=1\nodd\n"}, []string{"x.env:2", "NAME=value"}},
	} {
		_, err := c.files.load()
		require.Error(t, err, name)
		for _, want := range c.want {
			assert.ErrorContains(t, err, want, name)
		}
	}
}

// TestHostileGraphs checks that hostile graphs end only their own run.
func TestHostileGraphs(t *testing.T) {
	for name, c := range map[string]struct{ body, reason string }{
		"an endless loop":      {"while True: pass", "steps"},
		"a recursion":          {"return agent(messages, config, ctx)", "recursively"},
		"a circle":             {"t = []\n  t.append(t)\n  return t", "cannot be stored"},
		"waiting backwards":    {"ctx.wait(-1)", "non-negative"},
		"waiting for ever":     {"ctx.wait(1e300)", "non-negative"},
		"writing for ever":     {"while True: ctx.write('x' * 100000)", "full"},
		"a message of no kind": {"return {'role': 'king', 'content': 'x'}", "use one of user"},
		"a message of nothing": {"return {'role': 'ai'}", "the content of a message"},
		"a function":           {"return [agent]", "cannot be stored"},
		"the user, changed":    {"config['configurable']['graph_auth_user'] |= {'identity': 'x'}", "unknown binary op"},
	} {
		s := newSite(t, files{"main.star": fmt.Sprintf("def agent(messages, config, ctx):\n  if messages[-1]['content'] == 'hi': return 'hi'\n  %s\n", c.body)}, Options{})
		s.db.Most = 2 << 20
		_, run, joined := s.ran("x")
		assert.Equal(t, 200, joined.status, name)
		assert.Equal(t, StatusError, run.Status, name)
		assert.Contains(t, run.Reason, c.reason, name)
		s.db.Most = 4 << 20
		_, run, _ = s.ran("hi")
		assert.Equal(t, StatusSuccess, run.Status, name)
	}
}
