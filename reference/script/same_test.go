package script

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// guardedResult runs a file whose function f is called, in the sandbox.
func guardedResult(t testing.TB, src string, limits Limits) (starlark.Value, error) {
	t.Helper()
	l := NewLoader(fstest.MapFS{"f.star": {Data: []byte(src)}}, nil, nil, Options{Limits: limits})
	m, err := l.Load(context.Background(), "f.star")
	if err != nil {
		return nil, err
	}
	f, err := m.Object("f")
	require.NoError(t, err)
	s := NewSession(context.Background(), "test", Options{Limits: limits})
	defer s.Close()
	return s.Call(f)
}

func plainResult(src string) (starlark.Value, error) {
	thread := &starlark.Thread{}
	globals, err := starlark.ExecFileOptions(&syntax.FileOptions{While: true, TopLevelControl: true}, thread, "f.star", src, nil)
	if err != nil {
		return nil, err
	}
	return starlark.Call(thread, globals["f"], nil, nil)
}

// The sandbox changes what things cost, not what they mean: each body gives what the plain interpreter gives.
func TestGuardedOperationsMeanTheSame(t *testing.T) {
	expressions := strings.Split(strings.TrimSpace(`
1 + 2 * 3 - 4 // 3 % 2
-5 % 3, 5 // -2, 7 / 2, 2.5 * 2, 1 - 0.5, 10 % 4.5
1 << 70, (1 << 70) >> 3, (1 << 70) * (1 << 60), -(1 << 65), ~5, +3, 6 & 3, 6 | 3, 6 ^ 3
"ab" + "cd", "ab" * 3, 3 * "ab", b"ab" + b"c", b"x" * 2, [1] + [2], [1, 2] * 2, (1,) + (2,), (1, 2) * 2, 2 * (1,), "a" * -1
"%s and %r and %d%%" % ("a", "b", 3), "%(x)s %(y)d" % {"x": 1, "y": 2}, "%s" % [1, "a"], "%x %o %c" % (255, 8, 65), "%e %f %g" % (1.5, 1.5, 1.5)
{"a": 1} | {"b": 2, "a": 3}, {}, {"a": {"b": [1]}}, {1: 2}["x" == "y" or 1]
1 == 1.0, "a" < "b", [1, 2] < [1, 3], (1, 2) == (1, 2), {"a": 1} == {"a": 1}, None == None, 1 != 2, "a" >= "a", not 1
"a" in "abc", 1 in [1, 2], 1 not in (1, 2), "k" in {"k": 1}, 3 in range(5), "z" not in "abc"
[1, 2, 3][1], [1, 2, 3][-1], "abc"[1], (1, 2)[0], {"a": 1}["a"], {(1, "x"): 2}[(1, "x")], "abc"[True and 2]
[1, 2, 3, 4][1:3], [1, 2, 3][::-1], "hello"[1:], "hello"[::2], (1, 2, 3)[:2], "hello"[-3:-1], range(10)[2:8:3]
[x * 2 for x in range(5) if x % 2 == 0], {k: v for k, v in [("a", 1), ("b", 2)]}, [(x, y) for x in "ab".elems() for y in range(2)]
{k: v for k, v in {"a": 1, "b": 2}.items() if v > 1}, {x: x for x in [1, 1, 2]}
abs(-3), any([0, 1]), all([1, 0]), bool([]), bytes("hé"), bytes([1, 2]), chr(65), ord("A"), ord(b"A"), len("abc")
dict([("a", 1)], b=2), dict({"x": 1}), dict(), dict(a=1), list((1, 2)), list(), tuple([1, 2]), list("ab".elems()), list({"a": 1}), tuple()
enumerate(["a", "b"]), enumerate(["a"], 5), zip([1, 2], "ab".elems()), zip(), zip([1], [2], [3]), reversed([1, 2, 3]), list(zip("ab".codepoints(), [1, 2]))
sorted([3, 1, 2]), sorted(["b", "a"], reverse=True), sorted([1, -2, 3], key=abs), sorted([[2], [1]]), sorted(iterable=[2, 1]), sorted(["bb", "a"], len)
max(1, 2, 3), min([3, 1]), max([-3, 2], key=abs), min("b", "a"), max([[1], [2]]), min(["aa", "b"], key=len)
str(1), str("a"), repr("a"), str([1, "a", None]), str({"a": (1,)}), repr(b"x"), str(b"x"), type([]), type(len), str(len), str([].append)
int("12"), int("ff", 16), int(3.7), int("-0x1f", 0), float("1.5"), float(2), hash("abc"), int(True)
getattr("a", "upper")(), getattr([], "nope", 5), hasattr("a", "upper"), "append" in dir([]), hasattr("a", "nope")
"a,b,c".split(","), "a,b,c".split(",", 1), "a b  c".split(), "a b c".rsplit(" ", 1), "a\nb\n".splitlines(), "a\nb".splitlines(True), " a b ".rsplit(None, 100), "a b c".split(None, 1)
"abc".upper(), "ABC".lower(), "abc def".title(), "abc".capitalize(), " a ".strip(), "xax".strip("x"), "xa".lstrip("x"), "ax".rstrip("x")
"abc".replace("b", "xyz"), "aaa".replace("a", "b", 2), "abc".replace("", "-"), "abc".find("c"), "abcabc".rfind("b"), "abc".index("b"), "abcb".count("b"), "abc".rindex("c"), "aa".count("")
"abc".startswith("a"), "abc".startswith(("x", "a")), "abc".endswith("c"), "a.b".partition("."), "a.b.c".rpartition("."), "abc".removeprefix("a"), "abc".removesuffix("c")
",".join(["a", "b"]), "".join([]), "-".join("abc".elems()), "{} {}".format(1, "a"), "{1} {0}".format(1, 2), "{x!r}".format(x="a"), "{{}}".format(), "-".join({"a": 1, "b": 2})
"abc".isalpha(), "12".isdigit(), "aB".islower(), "AB".isupper(), " ".isspace(), "Ab".istitle(), "a1".isalnum(), list("hé".codepoint_ords()), list("ab".elem_ords()), list(b"ab".elems())
(lambda x, y=2, *a, **k: (x, y, a, k))(1, 3, 4, z=5), (lambda *a: a)(*[1, 2]), (lambda **k: k)(**{"a": 1}), (lambda *a: a)(*"ab".elems())
1 if [] else 2, [] or "x", 0 and 1, "a" "b" if False else "c"
[[y for y in range(x)] for x in range(3)], (1, (2, [3, {"a": 4}]))
`), "\n")
	bodies := []string{
		"x = 1\n x += 2\n x *= 5\n x -= 1\n x //= 2\n x %= 4\n x <<= 3\n x |= 1\n x &= 7\n x ^= 2\n x >>= 1\n return x",
		"x = [1]\n y = x\n x += [2]\n x += (3,)\n x += \"ab\".elems()\n x += x\n return x, y",
		"d = {'a': 1}\n e = d\n d |= {'b': 2}\n return d, e",
		"d = {'a': [1]}\n d['a'] += [2]\n d['b'] = 3\n d['b'] += 4\n l = [1, 2]\n l[-1] += 5\n l[0] = 9\n return d, l",
		"log = []\n def g(x):\n  log.append(x)\n  return x\n l = [0, 0]\n l[g(1)] += g(5)\n l[g(0)] = g(7)\n return l, log",
		"a, (b, c), [d] = 1, (2, 3), [4]\n l = [0, 0]\n l[0], l[1] = 5, 6\n for l[0] in [7, 8]: pass\n return a, b, c, d, l",
		"l = [3, 1]\n l.append(2)\n l.extend([5])\n l.extend(\"ab\".elems())\n l.insert(0, 9)\n l.remove(1)\n p = l.pop()\n q = l.pop(0)\n return l, p, q, l.index(2), l.clear(), l",
		"d = {'a': 1}\n d.update([('b', 2)], c=3)\n d.update({'d': 4})\n x = d.pop('a')\n return d, x, d.get('z'), d.get('z', 1), d.setdefault('y', 5), d.keys(), d.values(), d.items(), d.popitem(), d.clear(), d",
		"n = 0\n while n < 10:\n  n += 1\n  if n == 5: continue\n  if n == 8: break\n return n",
		"def make():\n  n = [0]\n  def inc(by=1, **kw):\n   n[0] += by\n   return n[0], kw\n  return inc\n i = make()\n i()\n return i(by=3, k=1)",
		"return [].foo", "return 1 + 'a'", "return {}['x']", "return [1][5]", "x = {}\n x[[]] = 1", "return max([])", "fail('no', 1, sep='-')",
		"return sorted([1, 'a'])", "for i in 5: pass", "return undefined_at_run()", "a, b = [1]", "return int('x')", "return (1)()", "return 'a'.join([1])",
		"l = [1]\n for x in l: l.append(2)", "return {'a': 1, 'a': 2}", "return dict([1])", "return 1 // 0", "return chr(-1)",
	}
	for _, e := range expressions {
		bodies = append(bodies, "return "+e)
	}
	for _, body := range bodies {
		src := "def f():\n " + body + "\ndef undefined_at_run(): fail('later')\n"
		want, wantErr := plainResult(src)
		got, err := guardedResult(t, src, Limits{})
		if wantErr != nil {
			assert.Error(t, err, body)
			continue
		}
		if assert.NoError(t, err, body) {
			assert.Equal(t, want.String(), got.String(), body)
		}
	}
}
