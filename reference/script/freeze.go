package script

import "go.starlark.net/starlark"

// freezable checks that the globals of a file can be frozen.
//
// Freezing recurses through tuples and closures without remembering where it was: a tuple of shared tuples takes
// exponential time, and a closure that refers to itself has no end. So every path is walked first, at a step each.
func (m *meter) freezable(globals starlark.StringDict) error {
	f := &freezer{meter: m, seen: map[starlark.Value]bool{}}
	for _, name := range globals.Keys() {
		if err := f.walk(globals[name], 0); err != nil {
			return err
		}
	}
	return nil
}

type freezer struct {
	*meter
	seen map[starlark.Value]bool // lists and dicts: these know that they are frozen
}

func (f *freezer) walk(v starlark.Value, depth int) error {
	if v == nil {
		return nil
	}
	if depth > maxDepth {
		return overLimit("depth", "a global is nested more than %d levels deep, or refers to itself", maxDepth)
	}
	if err := f.work(1); err != nil {
		return err
	}
	switch v := v.(type) {
	case starlark.Tuple:
		return f.all(depth, v...)
	case *starlark.List:
		if f.seen[v] {
			return nil
		}
		f.seen[v] = true
		for i := range v.Len() {
			if err := f.walk(v.Index(i), depth+1); err != nil {
				return err
			}
		}
	case *starlark.Dict:
		if f.seen[v] {
			return nil
		}
		f.seen[v] = true
		for _, item := range v.Items() {
			if err := f.all(depth, item...); err != nil {
				return err
			}
		}
	case *starlark.Builtin:
		return f.walk(v.Receiver(), depth+1)
	case *starlark.Function:
		return f.function(v, depth)
	}
	return nil
}

func (f *freezer) all(depth int, vs ...starlark.Value) error {
	for _, x := range vs {
		if err := f.walk(x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (f *freezer) function(fn *starlark.Function, depth int) error {
	for i := range fn.NumParams() {
		if err := f.walk(fn.ParamDefault(i), depth+1); err != nil {
			return err
		}
	}
	for i := range fn.NumFreeVars() {
		_, v := fn.FreeVar(i)
		if err := f.walk(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}
