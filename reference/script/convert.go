package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// fromGo makes a Starlark value of what a JSON decoder yields: maps, slices, strings, numbers, bools and nil.
func (m *meter) fromGo(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(v), nil
	case string:
		return starlark.String(v), m.text(int64(len(v)))
	case int:
		return starlark.MakeInt(v), nil
	case float64:
		return starlark.Float(v), nil
	case json.Number:
		return numberFromJSON(v)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return m.fromGo(list)
	case []any:
		return m.listFromGo(v)
	case map[string]any:
		return m.dictFromGo(v)
	case starlark.Value:
		return v, nil
	}
	return nil, fmt.Errorf("a %T cannot be handed to a script", v)
}

func (m *meter) listFromGo(v []any) (starlark.Value, error) {
	if err := m.values(int64(len(v))); err != nil {
		return nil, err
	}
	elems := make([]starlark.Value, len(v))
	for i, x := range v {
		e, err := m.fromGo(x)
		if err != nil {
			return nil, err
		}
		elems[i] = e
	}
	return starlark.NewList(elems), nil
}

func (m *meter) dictFromGo(v map[string]any) (*starlark.Dict, error) {
	if err := m.spend(512); err != nil {
		return nil, err
	}
	d := starlark.NewDict(len(v))
	for _, k := range slices.Sorted(maps.Keys(v)) {
		x, err := m.fromGo(v[k])
		if err != nil {
			return nil, err
		}
		if err := m.insert(d, starlark.String(k), x); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func numberFromJSON(n json.Number) (starlark.Value, error) {
	if len(n) > maxIntBits/4 {
		return nil, overLimit("size", "a number of %d digits is too long", len(n))
	}
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return starlark.MakeBigInt(i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be represented as a number", n)
	}
	return starlark.Float(f), nil
}

// toGo makes plain Go data of a Starlark value: what a JSON encoder takes.
func (m *meter) toGo(v starlark.Value) (any, error) {
	w, err := m.weigh(v)
	if err != nil {
		return nil, err
	}
	if err := m.spend(w.text + times(w.nodes, 64)); err != nil {
		return nil, err
	}
	return plain(v)
}

func plain(v starlark.Value) (any, error) {
	switch v := v.(type) {
	case starlark.NoneType:
		return nil, nil
	case starlark.Bool:
		return bool(v), nil
	case starlark.String:
		return string(v), nil
	case starlark.Int:
		return json.Number(v.String()), nil
	case starlark.Float:
		if f := float64(v); math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, fmt.Errorf("%v cannot be written as JSON", v)
		}
		return json.Number(v.String()), nil
	case starlark.IterableMapping:
		out := make(map[string]any, max(0, starlark.Len(v)))
		for _, item := range v.Items() {
			k, ok := starlark.AsString(item[0])
			if !ok {
				return nil, fmt.Errorf("a key of a JSON object is a string, not a %s", item[0].Type())
			}
			x, err := plain(item[1])
			if err != nil {
				return nil, fmt.Errorf("under %q: %w", shorten(k, 64), err)
			}
			out[k] = x
		}
		return out, nil
	case *starlark.List, starlark.Tuple:
		out := make([]any, 0, starlark.Len(v))
		for x := range starlark.Elements(v.(starlark.Iterable)) {
			e, err := plain(x)
			if err != nil {
				return nil, fmt.Errorf("at index %d: %w", len(out), err)
			}
			out = append(out, e)
		}
		return out, nil
	}
	return nil, fmt.Errorf("a %s cannot be written as JSON", v.Type())
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}

// jsonModule is json.encode and json.decode. The interpreter's own module is not used: its decoder recurses as deeply
// as its input is nested, and its encoder writes shared values out as often as they are reached.
func jsonModule() *Record {
	d := starlark.NewDict(2)
	for name, f := range map[string]guardedFunc{"encode": jsonEncode, "decode": jsonDecode} {
		if err := d.SetKey(starlark.String(name), guarded("json."+name, f)); err != nil {
			panic(err) // a new dict takes any string
		}
	}
	return NewRecord("json", d)
}

func jsonEncode(c *builtinCall) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs("json.encode", c.args, c.kwargs, 1, &x); err != nil {
		return nil, err
	}
	v, err := c.toGo(x)
	if err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	s := strings.TrimSuffix(buf.String(), "\n")
	return starlark.String(s), c.text(int64(len(s)))
}

func jsonDecode(c *builtinCall) (starlark.Value, error) {
	var s string
	var otherwise starlark.Value
	if err := starlark.UnpackArgs("json.decode", c.args, c.kwargs, "x", &s, "default?", &otherwise); err != nil {
		return nil, err
	}
	if err := c.pay(times(int64(len(s)), 64), int64(len(s))/16); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("unexpected data after the value")
		}
	}
	if err != nil {
		if otherwise != nil {
			return otherwise, nil
		}
		return nil, fmt.Errorf("json.decode: %w", err) // the decoder's errors quote single characters only
	}
	return c.fromGo(v)
}
