package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	starlarkjson "go.starlark.net/lib/json"
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

// ToGo makes plain Go data of a Starlark value: what a JSON decoder yields, with numbers as they are written.
func ToGo(v starlark.Value) (data any, err error) {
	encode := starlarkjson.Module.Members["encode"]
	text, err := starlark.Call(&starlark.Thread{}, encode, starlark.Tuple{v}, nil)
	if err != nil {
		return nil, fmt.Errorf("it cannot be written as JSON: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text.(starlark.String))))
	decoder.UseNumber()
	err = decoder.Decode(&data)
	return data, err
}

func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
