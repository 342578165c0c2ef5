package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"go.starlark.net/starlark"
)

// FromGo makes a Starlark value of what a JSON decoder yields: maps, slices, strings, numbers, bools and nil.
func FromGo(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case nil:
		return starlark.None, nil
	case bool:
		return starlark.Bool(v), nil
	case string:
		return starlark.String(v), nil
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
		return FromGo(list)
	case []any:
		return listFromGo(v)
	case map[string]any:
		return dictFromGo(v)
	case starlark.Value:
		return v, nil
	}
	return nil, fmt.Errorf("a %T cannot be handed to a script", v)
}

func listFromGo(v []any) (starlark.Value, error) {
	elems := make([]starlark.Value, len(v))
	for i, x := range v {
		e, err := FromGo(x)
		if err != nil {
			return nil, err
		}
		elems[i] = e
	}
	return starlark.NewList(elems), nil
}

func dictFromGo(v map[string]any) (*starlark.Dict, error) {
	d := starlark.NewDict(len(v))
	for _, k := range slices.Sorted(maps.Keys(v)) {
		x, err := FromGo(v[k])
		if err != nil {
			return nil, err
		}
		if err := d.SetKey(starlark.String(k), x); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func numberFromJSON(n json.Number) (starlark.Value, error) {
	if i, ok := new(big.Int).SetString(n.String(), 10); ok {
		return starlark.MakeBigInt(i), nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil, fmt.Errorf("%s cannot be represented as a number", n)
	}
	return starlark.Float(f), nil
}

// ToGo makes plain Go data of a Starlark value: what a JSON encoder takes. Numbers become json.Number.
func ToGo(v starlark.Value) (any, error) { return plain(v, 0) }

func plain(v starlark.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, overLimit("depth", "the value is nested more than %d deep, or contains itself", maxDepth)
	}
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
			x, err := plain(item[1], depth+1)
			if err != nil {
				return nil, fmt.Errorf("under %q: %w", shorten(k, 64), err)
			}
			out[k] = x
		}
		return out, nil
	case *starlark.List, starlark.Tuple:
		out := make([]any, 0, starlark.Len(v))
		for x := range starlark.Elements(v.(starlark.Iterable)) {
			e, err := plain(x, depth+1)
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
