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

// FromGo makes a Starlark value of JSON-like Go data. Starlark values in maps stay as they are.
func FromGo(v any) (starlark.Value, error) {
	switch v := v.(type) {
	case starlark.Value:
		return v, nil
	case string: // most values are
		return starlark.String(v), nil
	case map[string]any:
		return dictFromGo(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("a %T cannot be handed to a script: %w", v, err)
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

func callJSON(function string, arg starlark.Value) (starlark.Value, error) {
	return starlark.Call(&starlark.Thread{}, starlarkjson.Module.Members[function], starlark.Tuple{arg}, nil)
}

// ToGo makes plain Go data of a Starlark value: what a JSON decoder yields, with numbers as they are written.
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

// Record is a value of the host: named fields that a script reads as r.name or r["name"], and cannot change.
type Record struct {
	*starlark.Dict
	kind string
}

// NewRecord makes a record of JSON-like Go data. Its kind is what type(r) answers.
func NewRecord(kind string, fields map[string]any) (*Record, error) {
	d, err := dictFromGo(fields)
	if err != nil {
		return nil, err
	}
	d.Freeze()
	return &Record{d, kind}, nil
}

// Type is the name that the record was made with.
func (r *Record) Type() string { return r.kind }

// String names the kind only: a record may hold secrets, and this is what ends in messages.
func (r *Record) String() string { return "<" + r.kind + ">" }

// Attr is r.name: a field, or a method of a dict.
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
