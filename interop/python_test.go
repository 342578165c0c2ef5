package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The packages that graph.py and auth.py import, reduced to what the test needs, and the test. interop/run.sh tests real
// servers.
var pythonStubs = map[string]string{
	"langchain_core/messages.py":  "AIMessage = ToolMessage = None\n",
	"langchain_core/runnables.py": "RunnableConfig = None\n",
	"langgraph/graph.py": `END = START = None
class MessagesState(dict): pass
class StateGraph:
    def __init__(self, state): pass
    add_node = add_edge = lambda *_: None
    compile = lambda self: self
`,
	"langgraph_sdk/__init__.py": `class Auth:
    class types: AuthContext = None
    class exceptions:
        class HTTPException(Exception):
            def __init__(self, status_code, detail): self.status_code = status_code
    authenticate = staticmethod(lambda f: f)
    class on:
        class threads:
            def __new__(cls, f): return f
            create = staticmethod(lambda f: f)
`,
	"langgraph_sdk/auth.py": "is_studio_user = lambda user: False\n",
	"test.py": `import asyncio
import auth, graph

class Message:  # of langchain-core before 1: text is a method
    type = "human"
    def __init__(self, content): self.content = content
    def text(self): return self.content

class User(dict):
    identity = "ada"

for content in ["wait=5 hi", [{"type": "text", "text": "wait=5 "}, {"type": "image"}, "hi"]]:
    assert graph.asked({"messages": [Message(content)]}) == ("wait=5 hi", ["wait=5", "hi"]), content

for headers in [{"authorization": "Bearer t"}, {"Authorization": "bearer t"}, {b"authorization": b"Bearer t"}]:
    for call in [lambda: auth.authenticate(headers), lambda: auth.authenticate(headers=headers)]:
        assert asyncio.run(call())["identity"] == "ada", headers
for headers in [{}, {"authorization": "Bearer x"}, {"authorization": "Basic t"}]:
    try:
        asyncio.run(auth.authenticate(headers))
        raise SystemExit(f"accepted: {headers}")
    except auth.Auth.exceptions.HTTPException as refused:
        assert refused.status_code == 401

class Context: user = User()
kept = {"mine": 1}
for value, want in [({}, {}), ({"metadata": None}, {}), ({"metadata": kept}, {"mine": 1})]:
    assert asyncio.run(auth.create(Context, value)) == {"owner": "ada"}
    assert value["metadata"] == {**want, "owner": "ada"}, value
assert kept["owner"] == "ada"  # the same dict
`,
}

// TestPythonFilesOnOtherServers calls the graph and the handler in Python like servers of other versions: with messages
// whose text is a method, with metadata that is None, and with the headers as the only argument.
func TestPythonFilesOnOtherServers(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	folder := t.TempDir()
	for name, text := range pythonStubs {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	c := exec.CommandContext(t.Context(), python, filepath.Join(folder, "test.py"))
	files, err := filepath.Abs(Python)
	require.NoError(t, err)
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH="+files,
		`CONFORMANCE_USERS=[{"name": "ada", "token": "t", "identity": "ada", "role": "author"}]`)
	printed, err := c.CombinedOutput()
	require.NoError(t, err, "%s", printed)
}
