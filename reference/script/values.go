package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// FromGo returns JSON-like Go data as a Starlark value. Maps may contain Starlark values, which are not changed.
func FromGo(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case starlark.Value:
		return v, nil
	case string: // fast path: most values are strings
		return starlark.String(v), nil
	case map[string]any:
		return dictFromGo(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("converting a %T for a script: %w", v, err)
	}
	return callJSON("decode", starlark.String(text))
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

// callJSON calls a function of the JSON module of Starlark.
func callJSON(function string, arg starlark.Value) (starlark.Value, error) {
	return starlark.Call(&starlark.Thread{}, starlarkjson.Module.Members[function], starlark.Tuple{arg}, nil)
}

// ToGo returns a Starlark value as Go data, as from a JSON decoder. Numbers keep their spelling.
func ToGo(v starlark.Value) (data any, err error) {
	text, err := callJSON("encode", v)
	if err != nil {
		return nil, fmt.Errorf("it cannot be written as JSON: %w", err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text.(starlark.String))))
	decoder.UseNumber()
	err = decoder.Decode(&data)
	return data, err
}

// Record is a read-only value for scripts with named fields. Scripts read fields as r.name or r["name"].
type Record struct {
	*starlark.Dict
	kind string
}

// NewRecord returns a record with JSON-like Go data. In scripts, type(r) returns its kind.
func NewRecord(kind string, fields map[string]any) (*Record, error) {
	d, err := dictFromGo(fields)
	if err != nil {
		return nil, err
	}
	d.Freeze()
	return &Record{d, kind}, nil
}

// Type returns the kind of the record.
func (r *Record) Type() string { return r.kind }

// String returns only the kind, because messages may contain it and fields may be secrets.
func (r *Record) String() string { return "<" + r.kind + ">" }

// Attr returns the value of r.name: a field, or a method of a dict.
func (r *Record) Attr(name string) (starlark.Value, error) {
	if v, found, err := r.Get(starlark.String(name)); found || err != nil {
		return v, err
	}
	return r.Dict.Attr(name)
}

// CompareSameType compares the fields of two records.
func (r *Record) CompareSameType(op syntax.Token, other starlark.Value, depth int) (bool, error) {
	return r.Dict.CompareSameType(op, other.(*Record).Dict, depth)
}
