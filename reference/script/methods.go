package script

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
)

// guard charges for a call of a built-in function or method. It may replace arguments, by a clamped or a counted form.
type guard func(c *builtinCall) error

// builtinCall is what a guard sees. For a function, recv is nil.
type builtinCall struct {
	*meter
	recv   starlark.Value
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

// str returns the i-th positional argument if it is a string, else "".
func (c *builtinCall) str(i int) string {
	s, _ := starlark.AsString(c.orNone(i))
	return s
}

// orNone returns the i-th positional argument, or None.
func (c *builtinCall) orNone(i int) starlark.Value {
	if i < len(c.args) {
		return c.args[i]
	}
	return starlark.None
}

// methodGuards classifies every method of the interpreter's types. What is not here cannot be reached by a script.
var methodGuards = map[string]map[string]guard{
	"bytes": {"elems": cheap},
	"dict": {
		"clear": cheap, "get": keyed, "items": entries, "keys": entries, "pop": keyed, "popitem": cheap,
		"setdefault": keyedInsert, "update": nil, "values": entries,
	},
	"list": {
		"append": cheap, "clear": cheap, "extend": nil, "index": searched, "insert": shifted, "pop": shifted, "remove": searched,
	},
	"string": {
		"capitalize": mapped, "codepoint_ords": cheap, "codepoints": cheap, "count": scanned, "elem_ords": cheap, "elems": cheap,
		"endswith": prefixed, "find": scanned, "format": formatted, "index": scanned, "isalnum": scanned, "isalpha": scanned,
		"isdigit": scanned, "islower": mapped, "isspace": scanned, "istitle": scanned, "isupper": mapped, "join": joined,
		"lower": mapped, "lstrip": trimmed, "partition": scanned, "removeprefix": scanned, "removesuffix": scanned,
		"replace": replaced, "rfind": scanned, "rindex": scanned, "rpartition": scanned, "rsplit": divided, "rstrip": trimmed,
		"split": divided, "splitlines": divided, "startswith": prefixed, "strip": trimmed, "title": mapped, "upper": mapped,
	},
}

// ownMethods replace methods whose guard would have to do all of the work anyway.
var ownMethods = map[string]map[string]guardedFunc{
	"dict": {"update": dictUpdate},
	"list": {"extend": listExtend},
}

type guardedFunc func(c *builtinCall) (starlark.Value, error)

// methodTable holds one guarded, unbound method for each that is classified.
var methodTable = buildMethods()

func buildMethods() map[string]map[string]*starlark.Builtin {
	table := map[string]map[string]*starlark.Builtin{}
	for typ, methods := range methodGuards {
		table[typ] = map[string]*starlark.Builtin{}
		for name, g := range methods {
			do := ownMethods[typ][name]
			if do == nil {
				do = func(c *builtinCall) (starlark.Value, error) { return c.original(name, g) }
			}
			table[typ][name] = guarded(name, do)
		}
	}
	return table
}

// guarded makes a built-in of f that knows the meter of the call and its receiver.
func guarded(name string, f guardedFunc) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		m, err := meterOf(thread)
		if err != nil {
			return nil, err
		}
		if err := m.spend(128); err != nil {
			return nil, err
		}
		return f(&builtinCall{meter: m, recv: b.Receiver(), args: args, kwargs: kwargs})
	})
}

// original calls the interpreter's own method after its guard.
func (c *builtinCall) original(name string, g guard) (starlark.Value, error) {
	if err := g(c); err != nil {
		return nil, err
	}
	v, err := c.recv.(starlark.HasAttrs).Attr(name)
	if err != nil {
		return nil, err
	}
	return v.(*starlark.Builtin).CallInternal(c.thread, c.args, c.kwargs)
}

// attr looks up x.name among the guarded methods and the fields of host records.
func (m *meter) attr(x starlark.Value, name string) (starlark.Value, error) {
	if methods, ok := methodTable[x.Type()]; ok && isNative(x) {
		if b := methods[name]; b != nil {
			return b.BindReceiver(x), m.spend(96)
		}
		return nil, fmt.Errorf("%s has no .%s method; it has %s", x.Type(), name, slices.Sorted(maps.Keys(methods)))
	}
	if r, ok := x.(*Record); ok {
		v, err := r.Attr(name)
		if v == nil && err == nil {
			err = fmt.Errorf("%s has no .%s; it has %v", r.Type(), name, r.AttrNames())
		}
		return v, err
	}
	return nil, fmt.Errorf("%s has no .%s field or method", x.Type(), name)
}

func isNative(x starlark.Value) bool {
	switch x.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict:
		return true
	}
	return false
}
