package agentserver

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAnEnvironmentFileIsRead(t *testing.T) {
	tree := fstest.MapFS{"app/x.env": {Data: []byte("# settings\nexport A=1\nB = 'two words'\nC=\"c\"\n\nD=plain value\nE=\n")}}
	env, err := readEnv(tree, "app/x.env")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A": "1", "B": "two words", "C": "c", "D": "plain value", "E": ""}, env)
}

func TestFilesLoadOneAnother(t *testing.T) {
	app := appOf(t, map[string]string{
		"app/agent.json": "", "main.star": "load('lib/words.star', 'greet')\nload('far.star', 'far')\ndef agent(messages, config, ctx=None):\n  return greet(far)\n",
		"lib/words.star": "load('more.star', 'hello')\ndef greet(x): return hello + x\n", "lib/more.star": "hello = 'hello '\n", "deps/far.star": "far = 'world'\n",
		"agent.json": `{"graphs": {"main": "main.star:agent"}, "dependencies": ["deps"]}`,
	})
	s := newSite(t, app, Options{})
	u := s.nobody()
	thread := u.thread()
	u.join(thread, u.runOf("main", thread, "x", ""))
	assert.Equal(t, "ai: hello world", u.texts(thread)[1])
}

// What is wrong with a source is said with its place and a remedy, when it is loaded: not when the first request comes.
func TestMistakesInASource(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"no file":             {map[string]string{}, []string{"agent.json: graphs.main", "main.star", "not exist"}},
		"no object":           {map[string]string{"main.star": "def other(): pass\nx = 1\n"}, []string{"agent.json: graphs.main", `no object "agent"`, "other, x"}},
		"a syntax error":      {map[string]string{"main.star": "def agent(messages, config):\n  return (\n"}, []string{"main.star:3:1", "want"}},
		"an unknown name":     {map[string]string{"main.star": "def agent(messages, config):\n  return nobody\n"}, []string{"main.star:2:10", "undefined: nobody"}},
		"an error at the top": {map[string]string{"main.star": "x = 1 // 0\n"}, []string{"main.star:1:7", "division by zero"}},
		"endless at the top":  {map[string]string{"main.star": "while True: pass\n"}, []string{"main.star:1:", "endless loop"}},
		"no function":         {map[string]string{"main.star": "agent = 5\n"}, []string{"agent.json: graphs.main", "is a int", "def agent(messages, config, ctx)"}},
		"no parameters":       {map[string]string{"main.star": "def agent(): pass\n"}, []string{"two or three parameters"}},
		"too many":            {map[string]string{"main.star": "def agent(a, b, c, d): pass\n"}, []string{"two or three parameters"}},
		"no handler":          {map[string]string{"main.star": echo, "auth.star": "x = 1\n"}, []string{"agent.json: auth.path", `no object "auth"`}},
		"an odd handler":      {map[string]string{"main.star": echo, "auth.star": "auth = 1\n"}, []string{"agent.json: auth.path", "is a int", "authenticate(request)"}},
		"no authenticate":     {map[string]string{"main.star": echo, "auth.star": "auth = {}\n"}, []string{`no function under "authenticate"`}},
		"an unknown action":   {map[string]string{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': {'threads.fly': a}}\n"}, []string{"threads.fly", "create_run"}},
		"an odd action":       {map[string]string{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': {'threads': 1}}\n"}, []string{"must be a function"}},
		"odd actions":         {map[string]string{"main.star": echo, "auth.star": "def a(r): pass\nauth = {'authenticate': a, 'on': 5}\n"}, []string{`"on" is a int`}},
		"no JSON":             {map[string]string{"agent.json": "{"}, []string{"agent.json", "unexpected end"}},
		"no graphs":           {map[string]string{"agent.json": `{"env": "x.env"}`}, []string{"agent.json", "graphs is empty"}},
		"no reference":        {map[string]string{"agent.json": `{"graphs": {"a": "x.star"}}`}, []string{"graphs.a", "<file_path>:<object_name>"}},
		"outside":             {map[string]string{"agent.json": `{"graphs": {"a": "../x.star:y"}}`}, []string{"graphs.a", "../x.star"}},
		"a package":           {map[string]string{"agent.json": `{"graphs": {"a": "x.star:y"}, "dependencies": ["numpy"]}`}, []string{"use their folder"}},
		"no environment file": {map[string]string{"agent.json": `{"graphs": {"a": "x.star:y"}, "env": "none.env"}`}, []string{`"env"`, "none.env"}},
		"no setting":          {map[string]string{"agent.json": `{"graphs": {"a": "x.star:y"}, "env": "x.env"}`, "x.env": "A=1\nodd\n"}, []string{"x.env:2", "NAME=value"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadFiles(c.files)
			require.Error(t, err)
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}

// Hostile graphs end their own run and nothing else.
func TestHostileGraphs(t *testing.T) {
	bodies := map[string]string{
		"an endless loop":      "while True: pass",
		"a recursion":          "return agent(messages, config, ctx)",
		"a circle":             "t = []\n  t.append(t)\n  return t",
		"waiting backwards":    "ctx.wait(-1)",
		"waiting for ever":     "ctx.wait(1e300)",
		"a number":             "return 5",
		"a message of no kind": "return {'role': 'king', 'content': 'x'}",
		"a message of nothing": "return {'role': 'ai'}",
		"a function":           "return [agent]",
		"the user, changed":    "config['configurable']['graph_auth_user'] |= {'identity': 'x'}",
	}
	files, configured := map[string]string{}, []string{}
	for name, body := range bodies {
		file := strings.ReplaceAll(strings.ReplaceAll(name, " ", "_"), ",", "")
		files[file+".star"] = "def agent(messages, config, ctx):\n  " + body + "\n"
		configured = append(configured, fmt.Sprintf("%q: %q", name, file+".star:agent"))
	}
	files["good.star"] = echo
	files["agent.json"] = fmt.Sprintf(`{"graphs": {"good": "good.star:agent", %s}}`, strings.Join(configured, ","))
	s := newSite(t, appOf(t, files), Options{})
	u := s.nobody()
	runs := map[string][2]string{}
	for name := range bodies {
		thread := u.thread()
		runs[name] = [2]string{thread, u.runOf(name, thread, "x", "")}
	}
	for name, at := range runs {
		assert.Equal(t, 200, u.join(at[0], at[1]).status)
		r := u.getRun(at[0], at[1])
		assert.Equal(t, StatusError, r.Status, name)
		assert.NotEmpty(t, r.Reason)
		t.Logf("%s: %s", name, r.Reason)
	}
	thread := u.thread()
	u.join(thread, u.runOf("good", thread, "and the server lives on", ""))
	assert.Equal(t, "ai: heard and the server lives on", u.texts(thread)[1])
}

func TestAGraphThatWritesWithoutEndFillsNoDisk(t *testing.T) {
	body := "def agent(messages, config, ctx):\n  while True: ctx.write('x' * 100000)\n"
	s := newSite(t, appOf(t, map[string]string{"main.star": body}), Options{})
	s.db.Most = 2 << 20
	u := s.nobody()
	thread := u.thread()
	run := u.runOf("main", thread, "x", "")
	u.join(thread, run)
	r := u.getRun(thread, run)
	assert.Equal(t, StatusError, r.Status)
	assert.Contains(t, r.Reason, "full")
}
