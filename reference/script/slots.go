package script

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// slot is x[i] between the two halves of x[i] op= y: x and i are evaluated once, and before y.
type slot struct {
	x, i, value starlark.Value
}

func (s *slot) String() string        { return "slot" }
func (s *slot) Type() string          { return "slot" }
func (s *slot) Freeze()               {}
func (s *slot) Truth() starlark.Bool  { return true }
func (s *slot) Hash() (uint32, error) { return 0, unsupported("hashing", s) }

func (m *meter) loadSlot(x, i starlark.Value) (starlark.Value, error) {
	if err := m.key(i); err != nil {
		return nil, err
	}
	switch c := x.(type) {
	case starlark.Mapping:
		v, found, err := c.Get(i)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("key %v not in %s", i, x.Type())
		}
		return &slot{x, i, v}, m.spend(64)
	case starlark.Indexable:
		at, err := indexIn(c, i)
		if err != nil {
			return nil, err
		}
		return &slot{x, starlark.MakeInt(at), c.Index(at)}, m.spend(64)
	}
	return nil, unsupported("indexing", x)
}

func indexIn(c starlark.Indexable, i starlark.Value) (int, error) {
	at, err := starlark.AsInt32(i)
	if err != nil {
		return 0, fmt.Errorf("%s index: %w", c.Type(), err)
	}
	if at < 0 {
		at += c.Len()
	}
	if at < 0 || at >= c.Len() {
		return 0, fmt.Errorf("%s index %v out of range, it has %d elements", c.Type(), i, c.Len())
	}
	return at, nil
}

func (m *meter) storeSlot(op syntax.Token, s, y starlark.Value) (starlark.Value, error) {
	at := s.(*slot)
	v, err := m.augment(op, at.value, y)
	if err != nil {
		return nil, err
	}
	switch c := at.x.(type) {
	case *starlark.Dict:
		return starlark.None, m.insert(c, at.i, v)
	case starlark.HasSetIndex:
		i, err := starlark.AsInt32(at.i)
		if err != nil {
			return nil, err
		}
		return starlark.None, c.SetIndex(i, v)
	}
	return nil, unsupported("item assignment", at.x)
}

// augment computes x op= y: lists and dicts change in place, everything else is replaced.
func (m *meter) augment(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	if list, ok := x.(*starlark.List); ok && op == syntax.PLUS {
		if _, ok := y.(starlark.Iterable); ok {
			return list, m.extend(list, y)
		}
	}
	if xd, ok := x.(*starlark.Dict); ok && op == syntax.PIPE {
		if yd, ok := y.(*starlark.Dict); ok {
			return xd, m.merge(xd, yd)
		}
	}
	return m.binary(op, x, y)
}

// extend appends all that y yields. The elements are taken first, since y may be the list itself.
func (m *meter) extend(list *starlark.List, y starlark.Value) error {
	n, y, err := m.length(y)
	if err != nil {
		return err
	}
	if err := m.pay(times(n, 56), n); err != nil {
		return err
	}
	all := make([]starlark.Value, 0, n)
	for x := range starlark.Elements(y.(starlark.Iterable)) {
		all = append(all, x)
	}
	for _, x := range all {
		if err := list.Append(x); err != nil {
			return err
		}
	}
	return nil
}

// copied charges for the copy that a slice makes. A part of a string shares its bytes unless it has a stride.
func (m *meter) copied(x, step starlark.Value) (starlark.Value, error) {
	n := int64(max(0, starlark.Len(x)))
	switch x.(type) {
	case starlark.String, starlark.Bytes:
		if step.(starlark.String) == "" {
			return x, m.spend(16)
		}
		return x, m.text(2 * n)
	case *starlark.List, starlark.Tuple:
		return x, m.values(2 * n)
	}
	return x, nil
}

// pairs makes the dict of a comprehension.
func (m *meter) pairs(list starlark.Value) (starlark.Value, error) {
	if err := m.spend(512); err != nil {
		return nil, err
	}
	d := starlark.NewDict(0)
	for x := range starlark.Elements(list.(*starlark.List)) {
		pair := x.(starlark.Tuple)
		if err := m.insert(d, pair[0], pair[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// spread charges for the elements of *args.
func (m *meter) spread(x starlark.Value) (starlark.Value, error) {
	n, x, err := m.length(x)
	if err != nil {
		return nil, err
	}
	return x, m.pay(times(n, 64), n)
}
