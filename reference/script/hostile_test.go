package script

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
)

// Each of these would take gigabytes, hours or the stack of the process if it were let.
var hostile = map[string]string{
	"endless loop":                "while True: pass",
	"endless loop with calls":     "def g(x): return x + 1\n n = 0\n while True: n = g(n)",
	"long range":                  "for i in range(1 << 60): pass",
	"nested loops":                "for a in range(1 << 20):\n  for b in range(1 << 20): pass",
	"all of a long range":         "return all(range(1, 1 << 60))",
	"max of a long range":         "return max(range(1 << 60))",
	"list of a long range":        "return list(range(1 << 30))",
	"sum by sorted":               "return sorted(range(1 << 28))",
	"a list of 1 GB":              "return [0] * (1 << 27)",
	"a list of 16 GB":             "return [0] * ((1 << 30) - 1)",
	"a tuple of 16 GB":            "return (0,) * ((1 << 30) - 1)",
	"a string of 1 GB":            "return 'x' * ((1 << 30) - 1)",
	"repeat from the left":        "return ((1 << 30) - 1) * 'x'",
	"doubling a list":             "l = [0]\n for i in range(40): l = l + l",
	"doubling in place":           "l = [0]\n for i in range(40): l += l",
	"doubling by extend":          "l = [0]\n for i in range(40): l.extend(l)",
	"doubling by getattr":         "l = [0]\n for i in range(40): getattr(l, 'extend')(l)",
	"doubling a string":           "s = 'x'\n for i in range(40): s += s",
	"doubling by format":          "s = 'x'\n for i in range(40): s = '{0}{0}'.format(s)",
	"doubling by interpolation":   "s = 'x'\n for i in range(40): s = '%s%s' % (s, s)",
	"doubling by mapping":         "s = 'x'\n for i in range(40): s = '%(a)s%(a)s' % {'a': s}",
	"doubling by join":            "s = 'x'\n for i in range(40): s = s.join([s, s, s])",
	"doubling by replace":         "s = 'x'\n for i in range(40): s = s.replace('x', 'xx')",
	"replace of nothing":          "s = 'x' * 3000\n return s.replace('', s)",
	"doubling by print":           "l = ['x' * 1000000] * 1000\n print(*l)",
	"print with a separator":      "l = [''] * 100000\n print(*l, sep='x' * 1000000)",
	"squaring":                    "n = 3\n for i in range(40): n *= n",
	"shifting":                    "n = 1\n while True: n = n << 500",
	"adding bits":                 "n = 1 << 511\n l = []\n for i in range(1 << 20):\n  n = n * 3\n  l.append(n)",
	"integer from text":           "return int('9' * 1000000)",
	"float from text":             "return float('9' * 1000000)",
	"appending for ever":          "l = []\n while True: l.append('x')",
	"appending big slices":        "l = [0] * 100000\n k = []\n while True: k.append(l[:])",
	"appending strings":           "s = 'x' * 1000000\n k = []\n while True: k.append(s + 'y')",
	"striding strings":            "s = 'x' * 1000000\n k = []\n while True: k.append(s[::-1])",
	"appending dicts":             "k = []\n while True: k.append({})",
	"dicts by keywords":           "def g(**k): return k\n k = []\n while True: k.append(g())",
	"dicts by lambda":             "k = []\n g = lambda **k: k\n while True: k.append(g())",
	"closures":                    "k = []\n while True: k.append(lambda: k)",
	"a dict that grows":           "d = {}\n for i in range(1 << 40): d[i] = i",
	"a dict of collisions":        "d = {}\n for i in range(1 << 40): d[i << 32] = i",
	"a comprehension dict":        "return {i: i for i in range(1 << 40)}",
	"a comprehension":             "return [[i] for i in range(1 << 40)]",
	"a dict by update":            "d = {}\n d.update(zip(range(1 << 20), range(1 << 20)))",
	"a dict by setdefault":        "d = {}\n for i in range(1 << 30): d.setdefault(i, i)",
	"a dict augmented":            "d = {0: 0}\n for i in range(1 << 30):\n  d[i] = 0\n  d[i] += 1",
	"spread of a long range":      "def g(*a): return a\n return g(*range(1 << 30))",
	"zip of long ranges":          "return zip(range(1 << 28), range(1 << 28))",
	"enumerate of a long range":   "return enumerate(range(1 << 28))",
	"reversed":                    "return reversed(range(1 << 28))",
	"bytes of a long range":       "return bytes(range(1 << 30))",
	"rsplit with a large maximum": "return ['a b'.rsplit(None, 2000000000) for i in range(1 << 30)]",
	"split into many":             "s = ',' * 4000000\n return [s.split(',') for i in range(100)]",
	"printing a shared tree":      "t = ('x',)\n for i in range(60): t = (t, t)\n return str(t)",
	"printing shared lists":       "t = ['x']\n for i in range(60): t = [t, t]\n return repr(t)",
	"formatting a shared tree":    "t = ('x',)\n for i in range(60): t = (t, t)\n return '%r' % (t,)",
	"failing with a shared tree":  "t = ('x',)\n for i in range(60): t = (t, t)\n fail(t)",
	"hashing a shared tree":       "t = ('x',)\n for i in range(60): t = (t, t)\n return {t: 1}",
	"looking up a shared tree":    "t = ('x',)\n for i in range(60): t = (t, t)\n return {}.get(t)",
	"indexing by a shared tree":   "t = ('x',)\n for i in range(60): t = (t, t)\n return {}[t]",
	"a shared tree in a dict":     "t = ('x',)\n for i in range(60): t = (t, t)\n return t in {}",
	"assigning a shared tree":     "t = ('x',)\n for i in range(60): t = (t, t)\n d = {}\n d[t] = 1",
	"comparing broad lists":       "t = [0] * 1000\n u = [0] * 1000\n for i in range(9):\n  t, u = [t] * 1000, [u] * 1000\n return t == u",
	"sorting broad lists":         "t = [0] * 1000\n u = [0] * 1000\n for i in range(8):\n  t, u = [t] * 1000, [u] * 1000\n return sorted([t, u] * 1000)",
	"sorting by a broad key":      "t = [0] * 1000\n u = [0] * 1000\n for i in range(8):\n  t, u = [t] * 1000, [u] * 1000\n return sorted(range(100), key=lambda x: t if x % 2 else u)",
	"max by a broad key":          "t = [0] * 1000\n u = [0] * 1000\n for i in range(8):\n  t, u = [t] * 1000, [u] * 1000\n return max(range(100), key=lambda x: t if x % 2 else u)",
	"searching long strings":      "s = 'x' * 4000000\n l = [s + 'a'] * 100000\n return (s + 'b') in l",
	"index of long strings":       "s = 'x' * 4000000\n l = [s + 'a'] * 100000\n return l.index(s + 'b')",
	"prefixes":                    "s = 'x' * 4000000\n return s.startswith(tuple([s + 'a'] * 1000000))",
	"a key that extends":          "l = [0] * 1000\n return sorted([l] * 1000000, key=l.extend)",
	"list as a key":               "return sorted([range(1 << 40)] * 10, key=list)",
	"json of a shared tree":       "t = ['x']\n for i in range(40): t = [t, t]\n return json.encode(t)",
	"json that is deep":           "return json.decode('[' * 1000000)",
	"json that is deep and whole": "return json.encode(json.decode('[' * 9000 + ']' * 9000))",
	"json of many dicts":          "return json.decode('[' + '{},' * 1000000 + '{}]')",
	"a list in itself, printed":   "l = []\n l.append(l)\n return str(l)",
	"a list in itself, as json":   "l = []\n l.append(l)\n return json.encode(l)",
	"a deep list":                 "l = []\n for i in range(1 << 30): l = [l]\n return str(l)",
	"recursion":                   "def g(x): return g(x)\n return g(1)",
	"recursion by a combinator":   "y = lambda h: h(h)\n return y(lambda h: h(h))",
	"recursion by key":            "def g(x): return sorted([x], key=g)\n return g(1)",
}

// slowest is how many times longer a hostile script may take than an endless loop within the same limits. The slowest
// known is "a dict of collisions", with 5 times.
const slowest = 60

// endless is the control: it takes all the steps that it may.
func endless(t testing.TB, limits Limits) time.Duration {
	t.Helper()
	start := time.Now()
	_, err := guardedResult(t, "def f():\n "+hostile["endless loop with calls"]+"\n", limits)
	require.Error(t, err)
	return time.Since(start)
}

// assertBounded holds the time that something took to the control. A busy machine can slow down one and not the other, so
// what takes too long is measured again, and the control with it.
func assertBounded(t testing.TB, took, control time.Duration, limits Limits, again func() time.Duration) {
	t.Helper()
	for range 3 {
		if took < slowest*control {
			return
		}
		control = endless(t, limits)
		took = again()
	}
	assert.Less(t, took, slowest*control, "an endless loop takes %s", control)
}

func TestHostileScriptsAreStopped(t *testing.T) {
	control := endless(t, Limits{})
	for name, body := range hostile {
		t.Run(name, func(t *testing.T) {
			run := func() (time.Duration, error) {
				start := time.Now()
				_, err := guardedResult(t, "def f():\n "+body+"\n", Limits{})
				return time.Since(start), err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			took, err := run()
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			var located *Error
			require.ErrorAs(t, err, &located)
			assert.Positive(t, located.Line, "the error says where: %v", err)
			assert.Less(t, len(err.Error()), 3*maxErrText)
			assertBounded(t, took, control, Limits{}, func() time.Duration {
				took, err := run()
				assert.Error(t, err)
				return took
			})
			if alloc := after.TotalAlloc - before.TotalAlloc; alloc > 4*DefaultMemory {
				t.Errorf("allocated %d MiB, which the bound of %d MiB should have forbidden", alloc>>20, DefaultMemory>>20)
			}
		})
	}
}

// What is wrong with a file is found while it is loaded, and does not harm the process either.
func TestHostileFilesAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"a closure in itself":       "def outer():\n def inner(): return inner\n return inner\nx = outer()\n",
		"a shared tree":             "t = (1,)\ndef g(t):\n for i in range(60): t = (t, t)\n return t\nu = g(t)\n",
		"shared closures":           "def mk(a, b): return lambda: (a, b)\ndef g():\n c = mk(1, 2)\n for i in range(60): c = mk(c, c)\n return c\nu = g()\n",
		"shared defaults":           "def g():\n c = 1\n for i in range(60):\n  c = lambda a=c, b=c: 1\n return c\nu = g()\n",
		"endless at the top":        "while True: pass\n",
		"too long":                  "x = '" + strings.Repeat("a", maxSource) + "'\n",
		"deep brackets":             "x = " + strings.Repeat("[", 100000) + "\n",
		"syntax":                    "def f(:\n",
		"unknown name":              "x = nobody\n",
		"a set":                     "x = set([1])\n",
		"a field assigned":          "def f(x): x.y = 1\n",
		"a field augmented":         "def f(x): x.y += 1\n",
		"loads nothing that is":     "load('nothing.star', 'x')\n",
		"loads itself":              "load('f.star', 'x')\n",
		"loads from outside":        "load('../../etc/passwd', 'x')\n",
		"env while loading":         "x = env('HOME')\n",
		"a large dict, written out": "x = {" + strings.Repeat("1:1,", maxDictLiteral+1) + "}\n",
	} {
		t.Run(name, func(t *testing.T) {
			l := NewLoader(fstest.MapFS{"f.star": {Data: []byte(src)}}, nil, nil, Options{})
			_, err := l.Load(context.Background(), "f.star")
			require.Error(t, err)
			assert.Contains(t, err.Error(), "f.star")
			t.Log(shorten(err.Error(), 200))
		})
	}
}

func TestLimitErrorsSayWhichLimit(t *testing.T) {
	for body, what := range map[string]string{
		"while True: pass":                     "steps",
		"l = [0] * 1000\n while True: l += l":  "memory",
		"return 'x' * (1 << 29)":               "size",
		"l = []\n l.append(l)\n return str(l)": "depth",
	} {
		_, err := guardedResult(t, "def f():\n "+body+"\n", Limits{})
		var limit *LimitError
		require.ErrorAs(t, err, &limit, body)
		assert.Equal(t, what, limit.What, err)
	}
	_, err := guardedResult(t, "def f():\n while True: pass\n", Limits{Steps: 1 << 50, Memory: 1 << 60, Time: 20 * time.Millisecond})
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "time", limit.What)
}

func TestErrorsCarryFileLineAndColumn(t *testing.T) {
	for body, where := range map[string]string{
		"x = 1\n return x + 'a'":                   "f.star:3:11",
		"x = {}\n return x['a']":                   "f.star:3:10",
		"return [].nope":                           "f.star:2:11",
		"def g():\n  return 1 // 0\n return g()":   "f.star:3:12",
		"x = 1\n x += 'a'\n return x":              "f.star:3:4",
		"return sorted([2], key=lambda x: x.nope)": "f.star:2:36",
		"fail('on purpose')":                       "f.star:2:6",
	} {
		_, err := guardedResult(t, "def f():\n "+body+"\n", Limits{})
		require.Error(t, err)
		assert.True(t, strings.HasPrefix(err.Error(), where+": "), "%s: %v", body, err)
	}
}

func TestTheEndOfTheContextStopsAScript(t *testing.T) {
	l := NewLoader(fstest.MapFS{"f.star": {Data: []byte("def f():\n while True: pass\n")}}, nil, nil, Options{})
	m, err := l.Load(context.Background(), "f.star")
	require.NoError(t, err)
	f, err := m.Object("f")
	require.NoError(t, err)
	reason := fmt.Errorf("rolled back")
	ctx, cancel := context.WithCancelCause(context.Background())
	s := NewSession(ctx, "test", Options{Limits: Limits{Steps: 1 << 60, Memory: 1 << 60}})
	defer s.Close()
	done := make(chan error)
	go func() {
		_, err := s.Call(f)
		done <- err
	}()
	cancel(reason)
	select {
	case err := <-done:
		assert.ErrorIs(t, err, reason)
	case <-time.After(2 * time.Minute):
		t.Fatal("the script goes on")
	}
}

// A panic of a host function becomes an error too.
func TestPanicsBecomeErrors(t *testing.T) {
	s := NewSession(context.Background(), "test", Options{})
	defer s.Close()
	_, err := s.Call(Func("boom", func(starlark.Tuple, []starlark.Tuple) (starlark.Value, error) { panic("boom") }))
	assert.ErrorContains(t, err, "boom")
}

func TestThePoolBoundsAllScriptsTogether(t *testing.T) {
	pool := NewPool(8 << 20)
	opts := Options{Pool: pool}
	first := NewSession(context.Background(), "first", opts)
	require.NoError(t, first.meter.spend(6<<20))
	second := NewSession(context.Background(), "second", opts)
	err := second.meter.spend(4 << 20)
	var limit *LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, "pool", limit.What)
	second.Close()
	first.Close()
	assert.Zero(t, pool.Used())
	third := NewSession(context.Background(), "third", opts)
	defer third.Close()
	assert.NoError(t, third.meter.spend(4<<20))
}
