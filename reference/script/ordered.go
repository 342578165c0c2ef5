package script

import "go.starlark.net/starlark"

// sorted charges for sorting: every comparison at the cost of the largest element.
func sorted(c *builtinCall) error {
	for i, kv := range c.kwargs { // sorted alone takes its sequence by name as well
		if kv[0] == starlark.String("iterable") && len(c.args) == 0 {
			c.args = starlark.Tuple{kv[1]}
			c.kwargs = append(append([]starlark.Tuple{}, c.kwargs[:i]...), c.kwargs[i+1:]...)
			break
		}
	}
	n, list, err := c.sequence()
	if err != nil || list == nil {
		return err
	}
	rounds := times(n, log2(n))
	if len(c.args) > 1 {
		if _, ok := c.args[1].(starlark.Callable); ok {
			c.args[1] = c.weighed(c.args[1], n, rounds)
			return nil
		}
	}
	if c.wrapKey(n, rounds) {
		return nil
	}
	return c.comparisons(rounds, list)
}

// extreme charges for max and min, of one sequence or of the arguments themselves.
func extreme(c *builtinCall) error {
	n, list := int64(len(c.args)), starlark.Iterable(c.args)
	if n == 1 {
		var err error
		if n, list, err = c.sequence(); err != nil || list == nil {
			return err
		}
	}
	if c.wrapKey(n, n) {
		return nil
	}
	return c.comparisons(n, list)
}

// sequence replaces the first argument by one of known length and charges for a copy of it.
func (c *builtinCall) sequence() (int64, starlark.Iterable, error) {
	n, counted, err := c.length(c.orNone(0))
	if err != nil {
		return 0, nil, err
	}
	if len(c.args) > 0 {
		c.args = append(starlark.Tuple{counted}, c.args[1:]...)
	}
	it, ok := counted.(starlark.Iterable)
	if !ok {
		return 0, nil, nil // the original function reports the error
	}
	return n, it, c.pay(times(n, 72), n)
}

// comparisons charges for so many comparisons of the elements of it.
func (c *builtinCall) comparisons(times64 int64, it starlark.Iterable) error {
	largest := int64(1)
	for x := range starlark.Elements(it) {
		w, err := c.weigh(x)
		if err != nil {
			return err
		}
		largest = max(largest, w.cost())
	}
	return c.work(times(times64, largest))
}

// wrapKey replaces the key function, if there is one.
func (c *builtinCall) wrapKey(n, rounds int64) bool {
	for i, kv := range c.kwargs {
		if _, ok := kv[1].(starlark.Callable); ok && kv[0] == starlark.String("key") {
			c.kwargs = append([]starlark.Tuple{}, c.kwargs...)
			c.kwargs[i] = starlark.Tuple{kv[0], c.weighed(kv[1], n, rounds)}
			return true
		}
	}
	return false
}

// weighed wraps a key function. What is compared are its results, which do not exist yet: so each is weighed as it
// comes, and with the last of the n, after which sorting starts, all the comparisons are charged.
func (c *builtinCall) weighed(key starlark.Value, n, rounds int64) starlark.Value {
	m, largest, seen := c.meter, int64(1), int64(0)
	return starlark.NewBuiltin("key", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		v, err := starlark.Call(thread, key, args, nil)
		if err != nil {
			return nil, err
		}
		w, err := m.weigh(v)
		if err != nil {
			return nil, err
		}
		largest = max(largest, w.cost())
		if err := m.work(largest); err != nil { // max and min compare as they go
			return nil, err
		}
		if seen++; seen == n {
			err = m.work(times(rounds, largest))
		}
		return v, err
	})
}
