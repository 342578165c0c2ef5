package script

import (
	"strings"

	"go.starlark.net/starlark"
)

// cheap is for what takes a bounded time and a bounded number of bytes.
func cheap(*builtinCall) error { return nil }

func (c *builtinCall) self() string { s, _ := starlark.AsString(c.recv); return s }

// scanned walks its string once.
func scanned(c *builtinCall) error {
	return c.pay(96, 1+int64(len(c.self())+len(c.str(0)))/64)
}

// mapped makes a string of the same number of characters, each of which may grow.
func mapped(c *builtinCall) error {
	if err := scanned(c); err != nil {
		return err
	}
	return c.text(3 * int64(len(c.self())))
}

// trimmed looks every character up in a set of characters.
func trimmed(c *builtinCall) error {
	return c.work(times(1+int64(len(c.self()))/64, 1+int64(len(c.str(0)))))
}

func prefixed(c *builtinCall) error {
	if many, ok := c.orNone(0).(starlark.Tuple); ok {
		for _, p := range many {
			if err := c.work(1 + int64(min(len(c.self()), max(0, starlark.Len(p))))/64); err != nil {
				return err
			}
		}
	}
	return scanned(c)
}

// divided makes a list of parts. The original allocates room for as many parts as it is asked for: no more than can be.
func divided(c *builtinCall) error {
	s, sep := c.self(), c.str(0)
	parts := int64(len(s))/2 + 2
	if sep != "" {
		parts = int64(strings.Count(s, sep)) + 1
	}
	if limit, err := starlark.AsInt32(c.orNone(1)); err == nil && limit > len(s) {
		c.args = append(starlark.Tuple{}, c.args...)
		c.args[1] = starlark.MakeInt(len(s) + 1)
	}
	if err := scanned(c); err != nil {
		return err
	}
	return c.spend(times(parts, 64) + int64(len(s)))
}

func replaced(c *builtinCall) error {
	s, old, repl := c.self(), c.str(0), c.str(1)
	n := int64(strings.Count(s, old))
	if limit, err := starlark.AsInt32(c.orNone(2)); err == nil && limit >= 0 {
		n = min(n, int64(limit))
	}
	if err := scanned(c); err != nil {
		return err
	}
	return c.text(int64(len(s)) + times(n, int64(max(0, len(repl)-len(old)))))
}

func joined(c *builtinCall) error {
	n, list, err := c.length(c.orNone(0))
	if err != nil {
		return err
	}
	if err := c.work(n); err != nil {
		return err
	}
	it, ok := list.(starlark.Iterable)
	if !ok {
		return nil // the original function reports the error
	}
	total := times(n, int64(len(c.self())))
	for x := range starlark.Elements(it) {
		total += int64(max(0, starlark.Len(x)))
	}
	c.args = append(starlark.Tuple{list}, c.args[1:]...)
	return c.text(total)
}

// formatted charges for as many copies of the longest argument as there are fields.
func formatted(c *builtinCall) error {
	longest := int64(0)
	for _, v := range c.allArgs() {
		w, err := c.weigh(v)
		if err != nil {
			return err
		}
		longest = max(longest, w.text)
	}
	s := c.self()
	fields := int64(strings.Count(s, "{"))
	if err := c.work(times(fields, 1+int64(len(c.kwargs))/8)); err != nil {
		return err
	}
	return c.text(int64(len(s)) + times(fields, longest))
}

// allArgs are the positional and the keyword arguments.
func (c *builtinCall) allArgs() starlark.Tuple {
	all := append(starlark.Tuple{}, c.args...)
	for _, kv := range c.kwargs {
		all = append(all, kv[1])
	}
	return all
}

// entries makes a list of what is in a dict.
func entries(c *builtinCall) error {
	n := int64(max(0, starlark.Len(c.recv)))
	return c.pay(times(n, 96), n)
}

func keyed(c *builtinCall) error { return c.key(c.orNone(0)) }

func keyedInsert(c *builtinCall) error {
	if err := keyed(c); err != nil {
		return err
	}
	return c.room(c.recv.(*starlark.Dict))
}

// shifted moves the elements after the one that it inserts or removes.
func shifted(c *builtinCall) error {
	return c.pay(48, 1+int64(max(0, starlark.Len(c.recv)))/32)
}

// searched compares its argument with each element.
func searched(c *builtinCall) error {
	if err := c.membership(c.orNone(0), c.recv); err != nil {
		return err
	}
	return shifted(c)
}

func listExtend(c *builtinCall) (starlark.Value, error) {
	var x starlark.Iterable
	if err := starlark.UnpackPositionalArgs("extend", c.args, c.kwargs, 1, &x); err != nil {
		return nil, err
	}
	return starlark.None, c.extend(c.recv.(*starlark.List), x)
}

func dictUpdate(c *builtinCall) (starlark.Value, error) {
	return starlark.None, c.fill(c.recv.(*starlark.Dict), "update")
}
