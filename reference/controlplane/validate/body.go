package validate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Fields reads the members of a JSON object. An absent member and one that is null read alike: the interface tells
// no difference between them (section 2). The zero Fields reads as an empty object.
type Fields struct {
	loc      []any
	members  map[string]any
	problems *Problems
	secret   bool // the values must not appear in a complaint
}

// Body reads a request body that is to be one JSON object.
func Body(body []byte, problems *Problems) Fields {
	loc := []any{"body"}
	if !utf8.Valid(body) {
		problems.Add(loc, "json_invalid", "JSON decode error: the body is not valid UTF-8", nil)
		return Fields{problems: problems}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = fmt.Errorf("there is more after the JSON value")
		}
	}
	if err != nil {
		problems.Add(loc, "json_invalid", "JSON decode error: "+err.Error(), nil)
		return Fields{problems: problems}
	}
	return object(value, loc, problems, false)
}

func object(value any, loc []any, problems *Problems, secret bool) Fields {
	members, ok := value.(map[string]any)
	if !ok {
		problems.Add(loc, "dict_type", "Input should be a valid dictionary", hide(value, secret))
		return Fields{problems: problems}
	}
	return Fields{loc: loc, members: members, problems: problems, secret: secret}
}

func hide(value any, secret bool) any {
	if secret {
		return nil
	}
	return value
}

// readable says whether there is an object to read at all. What is no object was complained of once; its members
// are not missing on top of that.
func (f Fields) readable() bool { return f.members != nil }

// At returns the place of a member.
func (f Fields) At(key string) []any { return append(slices.Clone(f.loc), key) }

// Add complains of a member whose type was right.
func (f Fields) Add(key, kind, msg string) {
	f.problems.Add(f.At(key), kind, msg, hide(f.members[key], f.secret))
}

// Missing complains that a member is not there.
func (f Fields) Missing(key string) {
	if f.readable() {
		f.problems.Add(f.At(key), "missing", "Field required", nil)
	}
}

// Has says whether the member is there and not null.
func (f Fields) Has(key string) bool { return f.members[key] != nil }

// Text reads a string that is not empty; nil when it is absent.
func (f Fields) Text(key string) *string {
	s := f.String(key)
	if s != nil && *s == "" {
		f.Add(key, "string_too_short", "String should have at least 1 character")
		return nil
	}
	return s
}

// String reads a string; nil when it is absent.
func (f Fields) String(key string) *string { return member[string](f, key, "string_type", "string") }

// Bool reads a boolean; nil when it is absent.
func (f Fields) Bool(key string) *bool { return member[bool](f, key, "bool_type", "boolean") }

func member[T any](f Fields, key, kind, what string) *T {
	if !f.Has(key) {
		return nil
	}
	v, ok := f.members[key].(T)
	if !ok {
		f.Add(key, kind, "Input should be a valid "+what)
		return nil
	}
	return &v
}

// Choice reads one of the allowed strings; nil when it is absent.
func (f Fields) Choice(key string, allowed []string) *string {
	if !f.Has(key) {
		return nil
	}
	if s, ok := f.members[key].(string); ok && slices.Contains(allowed, s) {
		return &s
	}
	f.Add(key, "enum", "Input should be "+oneOf(allowed))
	return nil
}

// Object reads a member that is an object; an empty one when it is absent.
func (f Fields) Object(key string) Fields {
	if !f.Has(key) {
		return Fields{loc: f.At(key), members: map[string]any{}, problems: f.problems, secret: f.secret}
	}
	return object(f.members[key], f.At(key), f.problems, f.secret)
}

// Secrets reads a list of objects whose values must not appear in any answer; nil when it is absent.
func (f Fields) Secrets(key string) []Fields {
	if !f.Has(key) {
		return nil
	}
	items, ok := f.members[key].([]any)
	if !ok {
		f.problems.Add(f.At(key), "list_type", "Input should be a valid list", nil)
		return nil
	}
	list := make([]Fields, len(items))
	for i, item := range items {
		list[i] = object(item, append(f.At(key), i), f.problems, true)
	}
	return list
}

// Others returns the members other than the known ones, as they were sent.
func (f Fields) Others(known ...string) map[string]json.RawMessage {
	others := map[string]json.RawMessage{}
	for key, value := range f.members {
		if slices.Contains(known, key) {
			continue
		}
		if raw, err := json.Marshal(value); err == nil { // it was decoded from JSON, so it encodes
			others[key] = raw
		}
	}
	return others
}
