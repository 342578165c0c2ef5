package script

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

type builtinFunc = func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error)

// operators are the guarded operations of rewrite.go. Their arguments come from the rewriter, so their number is right.
func operators() starlark.StringDict {
	ops := map[string]func(m *meter, args starlark.Tuple) (starlark.Value, error){
		opBinary: func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.binary(tokenOf(a[0]), a[1], a[2]) },
		opUnary:  func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.unary(tokenOf(a[0]), a[1]) },
		opAugment: func(m *meter, a starlark.Tuple) (starlark.Value, error) {
			return m.augment(tokenOf(a[0]), a[1], a[2])
		},
		opLoad: func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.loadSlot(a[0], a[1]) },
		opStore: func(m *meter, a starlark.Tuple) (starlark.Value, error) {
			return m.storeSlot(tokenOf(a[0]), a[1], a[2])
		},
		opAttr: func(m *meter, a starlark.Tuple) (starlark.Value, error) {
			return m.attr(a[0], string(a[1].(starlark.String)))
		},
		opKey: func(m *meter, a starlark.Tuple) (starlark.Value, error) { return a[0], m.key(a[0]) },
		opRoom: func(m *meter, a starlark.Tuple) (starlark.Value, error) {
			if d, ok := a[0].(*starlark.Dict); ok {
				return d, m.room(d)
			}
			return a[0], nil
		},
		opCopy:   func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.copied(a[0], a[1]) },
		opDict:   func(m *meter, a starlark.Tuple) (starlark.Value, error) { return a[0], m.spend(512) },
		opPairs:  func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.pairs(a[0]) },
		opSpread: func(m *meter, a starlark.Tuple) (starlark.Value, error) { return m.spread(a[0]) },
		opSpreadK: func(m *meter, a starlark.Tuple) (starlark.Value, error) {
			return a[0], m.values(3 * int64(max(0, starlark.Len(a[0]))))
		},
	}
	out := starlark.StringDict{}
	for name, op := range ops {
		out[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			m, err := meterOf(thread)
			if err != nil {
				return nil, err
			}
			return op(m, args)
		})
	}
	return out
}

var tokens = func() map[starlark.String]syntax.Token {
	all := map[starlark.String]syntax.Token{}
	for t := syntax.PLUS; t <= syntax.NEQ; t++ {
		all[starlark.String(t.String())] = t
	}
	all[starlark.String(syntax.IN.String())] = syntax.IN
	all[starlark.String(syntax.NOT_IN.String())] = syntax.NOT_IN
	return all
}()

func tokenOf(v starlark.Value) syntax.Token { return tokens[v.(starlark.String)] }

func (m *meter) unary(op syntax.Token, x starlark.Value) (starlark.Value, error) {
	if i, ok := x.(starlark.Int); ok {
		if err := m.integers(0, i); err != nil {
			return nil, err
		}
	}
	return starlark.Unary(op, x)
}

// binary computes x op y after charging for it.
func (m *meter) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	switch op {
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		if err := m.comparison(x, y); err != nil {
			return nil, err
		}
		ok, err := starlark.Compare(op, x, y)
		return starlark.Bool(ok), err
	case syntax.IN, syntax.NOT_IN:
		if err := m.membership(x, y); err != nil {
			return nil, err
		}
		return starlark.Binary(op, x, y)
	}
	if xi, ok := x.(starlark.Int); ok {
		if yi, ok := y.(starlark.Int); ok {
			return m.intBinary(op, xi, yi)
		}
	}
	var err error
	switch op {
	case syntax.PLUS:
		err = m.concatenation(x, y)
	case syntax.STAR:
		err = m.repetition(x, y)
	case syntax.PERCENT:
		err = m.interpolation(x, y)
	case syntax.PIPE:
		if xd, ok := x.(*starlark.Dict); ok {
			if yd, ok := y.(*starlark.Dict); ok {
				return m.union(xd, yd)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return starlark.Binary(op, x, y)
}

func (m *meter) intBinary(op syntax.Token, x, y starlark.Int) (starlark.Value, error) {
	extra := int64(1)
	switch op {
	case syntax.STAR:
		extra = intBits(y)
		if intBits(x) == 64 && extra == 64 {
			extra = 0 // two machine words: always small enough
		}
	case syntax.LTLT:
		extra = 512 // the interpreter allows no larger shift
	}
	if err := m.integers(extra, x, y); err != nil {
		return nil, err
	}
	return starlark.Binary(op, x, y)
}

// integers checks the size of operands, and of a result that is up to extra bits longer than the first.
func (m *meter) integers(extra int64, operands ...starlark.Int) error {
	total := int64(0)
	for _, i := range operands {
		bits := intBits(i)
		if bits > maxIntBits || (i == operands[0] && bits+extra > maxIntBits) {
			return overLimit("size", "an integer may have %d bits, and this one would have more", maxIntBits)
		}
		if bits > 64 {
			total += bits / 4
		}
	}
	return m.spend(total + 8)
}

func (m *meter) concatenation(x, y starlark.Value) error {
	switch x := x.(type) {
	case starlark.String, starlark.Bytes:
		return m.text(int64(max(0, starlark.Len(x))) + int64(max(0, starlark.Len(y))))
	case *starlark.List, starlark.Tuple:
		return m.values(int64(starlark.Len(x)) + int64(max(0, starlark.Len(y))))
	}
	return nil
}

func (m *meter) repetition(x, y starlark.Value) error {
	n, ok := x.(starlark.Int)
	if ok {
		x = y
	} else if n, ok = y.(starlark.Int); !ok {
		return nil
	}
	count, fits := n.Int64()
	if !fits {
		count = 0 // negative or absurd; the original refuses what it cannot represent
	}
	size := times(int64(max(0, starlark.Len(x))), count)
	switch x.(type) {
	case starlark.String, starlark.Bytes:
		return m.text(size)
	case *starlark.List, starlark.Tuple:
		return m.values(size)
	}
	return nil
}

func (m *meter) union(x, y *starlark.Dict) (starlark.Value, error) {
	if err := m.spend(512); err != nil {
		return nil, err
	}
	z := starlark.NewDict(0)
	for _, d := range []*starlark.Dict{x, y} {
		if err := m.merge(z, d); err != nil {
			return nil, err
		}
	}
	return z, nil
}

// merge inserts all the entries of from into d.
func (m *meter) merge(d *starlark.Dict, from starlark.IterableMapping) error {
	if err := m.values(3 * int64(max(0, starlark.Len(from)))); err != nil {
		return err
	}
	for _, item := range from.Items() {
		if err := m.insert(d, item[0], item[1]); err != nil {
			return err
		}
	}
	return nil
}

// comparison charges for comparing x with y, which takes at most as long as walking the smaller of them.
func (m *meter) comparison(x, y starlark.Value) error {
	switch x := x.(type) {
	case starlark.String:
		return m.work(int64(min(len(x), max(0, starlark.Len(y)))) / 64)
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float:
		return nil
	}
	_, err := m.weigh(x)
	return err
}

func (m *meter) membership(x, y starlark.Value) error {
	switch y := y.(type) {
	case starlark.String, starlark.Bytes:
		return m.work(1 + int64(starlark.Len(y))/64)
	case *starlark.List, starlark.Tuple:
		w, err := m.weigh(x)
		if err != nil {
			return err
		}
		return m.work(times(int64(starlark.Len(y)), w.cost()))
	case starlark.Mapping:
		return m.key(x)
	}
	return nil
}

// interpolation charges for format % y.
func (m *meter) interpolation(x, y starlark.Value) error {
	format, ok := x.(starlark.String)
	if !ok {
		return nil
	}
	w, err := m.weigh(y)
	if err != nil {
		return err
	}
	fields := int64(strings.Count(string(format), "%"))
	printed := w.text // %s takes each argument once
	if _, ok := y.(starlark.Mapping); ok {
		printed = times(fields, w.text) // %(name)s may take one again and again
	}
	const longestFloat = 330
	return m.text(int64(len(format)) + printed + times(fields, longestFloat))
}

func unsupported(what string, x starlark.Value) error {
	return fmt.Errorf("%s does not support %s", x.Type(), what)
}
