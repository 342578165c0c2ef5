package script

import "go.starlark.net/starlark"

// weight is the size of a value as a tree: what is shared counts as often as it is reached.
type weight struct {
	nodes int64
	text  int64 // an upper bound of the length of its printed form
}

// cost is what it takes to compare or hash a value of this weight.
func (w weight) cost() int64 { return w.nodes + w.text/64 }

// weigh walks v and charges a step per visit, so that no value is too large to be weighed.
func (m *meter) weigh(v starlark.Value) (weight, error) {
	var w weight
	err := m.weighInto(&w, v, 0)
	return w, err
}

func (m *meter) weighInto(w *weight, v starlark.Value, depth int) error {
	if depth > maxDepth {
		return overLimit("depth", "the value is nested more than %d levels deep, or contains itself", maxDepth)
	}
	w.nodes++
	w.text += 4
	switch v := v.(type) {
	case starlark.String:
		w.text += quotedLen(string(v))
		return m.work(1 + int64(len(v))/64)
	case starlark.Bytes:
		w.text += quotedLen(string(v))
		return m.work(1 + int64(len(v))/64)
	case starlark.Int:
		w.text += 24 + intBits(v)/3
	case starlark.Float:
		w.text += 24
	case starlark.Tuple:
		if err := m.work(1); err != nil {
			return err
		}
		return m.weighAll(w, v, depth)
	case *starlark.List:
		if err := m.work(1); err != nil {
			return err
		}
		for i := range v.Len() {
			if err := m.weighInto(w, v.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case *starlark.Dict:
		return m.weighDict(w, v, depth)
	case *Record:
		w.text += 64
		return m.weighDict(w, v.data, depth)
	case starlark.HasAttrs:
		w.text += 64 // built-in methods print their name only
	default:
		w.text += 96 // functions, ranges and string iterators; the latter print their string
		if v.Type() == "range" {
			break // prints its bounds, not its elements
		}
		if s, ok := v.(starlark.Sequence); ok {
			w.text += 4 * int64(s.Len())
		} else if it, ok := v.(starlark.Iterable); ok {
			n, _, err := m.length(it)
			if err != nil {
				return err
			}
			w.text += 16 * n
		}
	}
	return m.work(1)
}

func (m *meter) weighAll(w *weight, vs starlark.Tuple, depth int) error {
	for _, x := range vs {
		if err := m.weighInto(w, x, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) weighDict(w *weight, d *starlark.Dict, depth int) error {
	if err := m.pay(int64(d.Len())*48, 1); err != nil {
		return err
	}
	for _, item := range d.Items() {
		if err := m.weighAll(w, item, depth); err != nil {
			return err
		}
	}
	return nil
}

// quotedLen bounds the length of s between quotes: what is not plain ASCII may become an escape of four characters.
func quotedLen(s string) int64 {
	n := int64(2)
	for i := range len(s) {
		if c := s[i]; c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			n++
		} else {
			n += 4
		}
	}
	return n
}

func intBits(i starlark.Int) int64 {
	if _, ok := i.Int64(); ok {
		return 64
	}
	return int64(i.BigInt().BitLen())
}

// crowdedKey is the cost of a key of which as many as one likes share a hash: the interpreter hashes the low 32 bits of
// an integer, the integral part of a float, the name of a function, and tuples of those. A dict of them takes quadratic time.
const crowdedKey = 512

// key checks that v is small enough to be hashed, and to appear in the message when it is not found.
func (m *meter) key(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.String:
		if len(v) > maxKey {
			return overLimit("size", "a key may have %s, and this one has %s", sizeText(maxKey), sizeText(int64(len(v))))
		}
		return m.work(int64(len(v)) / 64)
	case starlark.Int:
		if i, ok := v.Int64(); !ok || i != int64(int32(i)) {
			return m.work(crowdedKey)
		}
	case starlark.Float, *starlark.Function, *starlark.Builtin:
		return m.work(crowdedKey)
	case starlark.Tuple:
		w, err := m.weigh(v)
		if err != nil {
			return err
		}
		if w.text > maxKey {
			return overLimit("size", "a tuple used as a key is larger than %s", sizeText(maxKey))
		}
		return m.work(crowdedKey)
	}
	return nil
}

// insert sets d[k] = v within the bounds on keys and on the number of entries.
func (m *meter) insert(d *starlark.Dict, k, v starlark.Value) error {
	if err := m.key(k); err != nil {
		return err
	}
	if err := m.room(d); err != nil {
		return err
	}
	return d.SetKey(k, v)
}

// room charges for one more entry of d.
func (m *meter) room(d *starlark.Dict) error {
	if d.Len() >= maxDict {
		return overLimit("size", "a dict may have %d entries", maxDict)
	}
	return m.spend(160)
}

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
