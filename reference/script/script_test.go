package script

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
)

// object loads a file and returns the value of a global name.
func object(src, name string) (starlark.Value, error) {
	return NewLoader(fstest.MapFS{"f.star": {Data: []byte(src)}}, nil, nil).Object(context.Background(), "f.star", name)
}

// result loads a file and returns the result of its function f.
func result(t testing.TB, src string, opts Options) (starlark.Value, error) {
	t.Helper()
	f, err := object(src, "f")
	if err != nil {
		return nil, err
	}
	s := NewSession(t.Context(), "test", opts)
	defer s.Close()
	v, err := s.Call(f)
	if err != nil {
		return nil, err
	}
	_, err = ToGo(v)
	return v, err
}

func TestLimits(t *testing.T) {
	_, err := result(t, "def f():\n l = []\n l.append(l)\n return l\n", Options{})
	require.ErrorContains(t, err, "cannot be written as JSON")
	_, err = result(t, "def f():\n while True: pass\n", Options{})
	require.ErrorContains(t, err, "2000000 steps")
}

func TestFilesThatCannotBeLoaded(t *testing.T) {
	for name, src := range map[string]string{
		"too long":           "x = '" + strings.Repeat("a", maxSource) + "'\n",
		"loads nothing":      "load('nothing.star', 'x')\n",
		"loads itself":       "load('f.star', 'x')\n",
		"loads from outside": "load('../../etc/passwd', 'x')\n",
		"env while loading":  "x = env('HOME')\n",
	} {
		_, err := result(t, src, Options{})
		require.Error(t, err, name)
		assert.Contains(t, err.Error(), "f.star", name)
	}
}

func TestCanceledContextStopsScript(t *testing.T) {
	f, err := object("def f():\n while True: pass\n", "f")
	require.NoError(t, err)
	reason := errors.New("rolled back")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := NewSession(ctx, "test", Options{})
	s.thread.SetMaxExecutionSteps(1 << 60)
	defer s.Close()
	done := make(chan error)
	go func() {
		_, err := s.Call(f)
		done <- err
	}()
	cancel(reason)
	assert.ErrorIs(t, <-done, reason)
}

func TestPanicOfHostFunctionIsError(t *testing.T) {
	s := NewSession(t.Context(), "test", Options{})
	defer s.Close()
	_, err := s.Call(Func("boom", func(starlark.Tuple, []starlark.Tuple) (starlark.Value, error) { panic("boom") }))
	assert.ErrorContains(t, err, "boom")
}

func TestScriptsReadSettingsAndRecords(t *testing.T) {
	env := func(name string) (string, bool) { return "[1, 2.5]", name == "A" }
	v, err := result(t, "def f(): return [env('B', 'none'), json.decode(env('A')), json.encode({'b': [1, None], 'a': 'x'})]\n", Options{Env: env})
	require.NoError(t, err)
	assert.Equal(t, `["none", [1, 2.5], "{\"a\":\"x\",\"b\":[1,null]}"]`, v.String())

	s := NewSession(t.Context(), "test", Options{})
	defer s.Close()
	r, err := NewRecord("user", map[string]any{"identity": "a", "roles": []string{"x"}, "n": 1.5})
	require.NoError(t, err)
	f, err := object("def f(u): return [u.identity, u['roles'], u.get('none', 7), sorted(u.keys()), type(u), u == u]\n", "f")
	require.NoError(t, err)
	got, err := s.Call(f, r)
	require.NoError(t, err)
	assert.Equal(t, `["a", ["x"], 7, ["identity", "n", "roles"], "user", True]`, got.String())
	g, err := object("def g(u): u['x'] = 1\n", "g")
	require.NoError(t, err)
	_, err = s.Call(g, r)
	assert.Error(t, err, "a record is read-only")
}
