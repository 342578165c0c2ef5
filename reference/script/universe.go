package script

import (
	"fmt"
	"math/bits"

	"go.starlark.net/starlark"
)

// functionGuards classifies the interpreter's built-in functions that scripts may call. A nil guard: see ownFunctions.
var functionGuards = map[string]guard{
	"abs": small, "all": linear(0), "any": linear(0), "bool": cheap, "bytes": linear(4), "chr": cheap, "dict": nil, "dir": cheap,
	"enumerate": linear(112), "fail": printed, "float": numeral, "getattr": nil, "hasattr": cheap, "hash": linear(0),
	"int": numeral, "len": cheap, "list": linear(24), "max": extreme, "min": extreme, "ord": linear(0), "print": printed,
	"range": cheap, "repr": printed, "reversed": linear(24), "sorted": sorted, "str": printed, "tuple": linear(24),
	"type": cheap, "zip": zipped,
}

// withheld are built-in functions that scripts do not get, with what to do instead.
var withheld = map[string]string{"set": "use a dict"}

var ownFunctions = map[string]guardedFunc{
	"dict": func(c *builtinCall) (starlark.Value, error) {
		if err := c.spend(512); err != nil {
			return nil, err
		}
		d := starlark.NewDict(0)
		return d, c.fill(d, "dict")
	},
	"getattr": func(c *builtinCall) (starlark.Value, error) {
		var x, otherwise starlark.Value
		var name string
		if err := starlark.UnpackPositionalArgs("getattr", c.args, c.kwargs, 2, &x, &name, &otherwise); err != nil {
			return nil, err
		}
		v, err := c.attr(x, name)
		if err != nil && otherwise != nil && c.failed == nil {
			return otherwise, nil
		}
		return v, err
	},
}

// constants are the names of the interpreter that are not functions.
var constants = []string{"None", "True", "False"}

// universe is what every script finds: guarded functions, the operations of the rewriter, and the json module.
func universe() starlark.StringDict {
	names := operators()
	for name, g := range functionGuards {
		do := ownFunctions[name]
		if do == nil {
			orig := starlark.Universe[name].(*starlark.Builtin)
			do = func(c *builtinCall) (starlark.Value, error) {
				if err := g(c); err != nil {
					return nil, err
				}
				return orig.CallInternal(c.thread, c.args, c.kwargs)
			}
		}
		names[name] = guarded(name, do)
	}
	for name, b := range starlark.Universe {
		if _, ok := b.(*starlark.Builtin); ok && names[name] == nil {
			names[name] = starlark.NewBuiltin(name, notAvailable(name))
		}
	}
	names["json"] = jsonModule()
	names["env"] = guarded("env", environment)
	return names
}

func notAvailable(name string) builtinFunc {
	return func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
		if hint := withheld[name]; hint != "" {
			return nil, fmt.Errorf("%s is not available in scripts: %s", name, hint)
		}
		return nil, fmt.Errorf("%s is not available in scripts", name)
	}
}

// environment looks up a secret or a setting. It is asked during a call, so that one loaded script serves any deployment.
func environment(c *builtinCall) (starlark.Value, error) {
	var name string
	var otherwise starlark.Value = starlark.None
	if err := starlark.UnpackArgs("env", c.args, c.kwargs, "name", &name, "default?", &otherwise); err != nil {
		return nil, err
	}
	if c.env == nil {
		return nil, fmt.Errorf("env(%q): no environment while a file is loaded: call env in a function", name)
	}
	if v, ok := c.env(name); ok {
		return starlark.String(v), c.text(int64(len(v)))
	}
	return otherwise, nil
}

// linear walks its arguments, and makes so many bytes for each element.
func linear(bytesEach int64) guard {
	return func(c *builtinCall) error {
		args := append(starlark.Tuple{}, c.args...)
		c.args = args
		for i, v := range args {
			n, counted, err := c.length(v)
			if err != nil {
				return err
			}
			args[i] = counted
			if s, ok := starlark.AsString(v); ok {
				n = int64(len(s)) / 16
			}
			if err := c.pay(times(n, bytesEach), n); err != nil {
				return err
			}
		}
		return nil
	}
}

func small(c *builtinCall) error {
	if i, ok := c.orNone(0).(starlark.Int); ok {
		return c.integers(0, i)
	}
	return nil
}

// numeral parses a number, which takes more than linear time for a long one.
func numeral(c *builtinCall) error {
	for _, v := range c.allArgs() {
		if s, ok := starlark.AsString(v); ok && len(s) > maxIntBits {
			return overLimit("size", "a number may be written with %d characters", maxIntBits)
		}
	}
	return c.spend(1024)
}

// printed charges for the printed form of all its arguments.
func printed(c *builtinCall) error {
	total := int64(64)
	for _, v := range c.allArgs() {
		if s, ok := starlark.AsString(v); ok {
			total += int64(len(s))
			continue
		}
		w, err := c.weigh(v)
		if err != nil {
			return err
		}
		total += w.text
	}
	for _, kv := range c.kwargs { // sep=..., once between every two
		total += times(int64(len(c.args)), int64(max(0, starlark.Len(kv[1]))))
	}
	return c.text(total)
}

func zipped(c *builtinCall) error {
	rows, args := int64(-1), append(starlark.Tuple{}, c.args...)
	for i, v := range args {
		n, counted, err := c.length(v)
		if err != nil {
			return err
		}
		args[i] = counted
		if rows < 0 || n < rows {
			rows = n
		}
	}
	c.args = args
	cells := times(max(rows, 0), int64(len(args)))
	return c.pay(times(cells, 24)+times(max(rows, 0), 64), cells)
}

// fill adds to d what dict(...) and update(...) take: a mapping or pairs, and keyword arguments.
func (c *builtinCall) fill(d *starlark.Dict, name string) error {
	if len(c.args) > 1 {
		return fmt.Errorf("%s: got %d arguments, want at most 1", name, len(c.args))
	}
	switch from := c.orNone(0).(type) {
	case starlark.NoneType:
		if len(c.args) == 1 {
			return fmt.Errorf("%s: got NoneType, want a dict or pairs", name)
		}
	case starlark.IterableMapping:
		if err := c.merge(d, from); err != nil {
			return err
		}
	default:
		if err := c.fillPairs(d, from, name); err != nil {
			return err
		}
	}
	for _, kv := range c.kwargs {
		if err := c.insert(d, kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

func (c *builtinCall) fillPairs(d *starlark.Dict, from starlark.Value, name string) error {
	it, ok := from.(starlark.Iterable)
	if !ok {
		return fmt.Errorf("%s: got %s, want a dict or pairs", name, from.Type())
	}
	i := 0
	for x := range starlark.Elements(it) {
		pair, ok := x.(starlark.Indexable)
		if !ok || pair.Len() != 2 {
			return fmt.Errorf("%s: element %d is not a pair", name, i)
		}
		if err := c.insert(d, pair.Index(0), pair.Index(1)); err != nil {
			return err
		}
		i++
	}
	return nil
}

// log2 is the number of rounds that sorting n elements takes.
func log2(n int64) int64 { return int64(bits.Len64(uint64(n))) }
