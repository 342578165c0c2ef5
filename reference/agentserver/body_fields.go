package agentserver

import (
	"maps"
	"slices"
	"strings"
)

// bodyFields are the fields of a body that an endpoint reads. A field that is not read is refused: an option that is silently
// ignored would answer another question than the one that was asked.
type bodyFields struct {
	fields []string
	// known are fields that clients of the field send and this server does not honour, with what to do instead. Null, false and
	// empty values ask for nothing, and are accepted.
	known map[string]string
}

// check refuses the first field, in alphabetical order, that is not read.
func (f bodyFields) check(body map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(body)) {
		remedy, known := f.known[name]
		switch {
		case slices.Contains(f.fields, name), known && asksNothing(body[name]):
		case known:
			return invalid("%s is not supported by this server: %s", name, remedy)
		case len(f.fields) == 0:
			return invalid("%s is not a field of this request: send an empty object, or no body", name)
		default:
			return invalid("%s is not a field of this request: the fields are %s", name, strings.Join(f.fields, ", "))
		}
	}
	return nil
}

func asksNothing(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// oneOf reads an optional string that has one of the values.
func oneOf(body map[string]any, name, otherwise string, values ...string) (string, error) {
	s, err := stringField(body, name)
	switch {
	case err == nil && body[name] == nil:
		return otherwise, nil
	case err != nil || !slices.Contains(values, s):
		return "", invalid("%s must be one of %s", name, strings.Join(values, ", "))
	}
	return s, nil
}

// selectField reads an optional list of the fields that each object of an answer has. Nil: all of them.
func selectField(body map[string]any, fields ...string) ([]string, error) {
	list, ok := body["select"].([]any)
	if !ok && body["select"] != nil {
		return nil, invalid("select must be an array of fields")
	}
	var out []string
	for _, v := range list {
		name, _ := v.(string)
		if !slices.Contains(fields, name) {
			return nil, invalid("select has a field that is none of %s", strings.Join(fields, ", "))
		}
		out = append(out, name)
	}
	return out, nil
}

// keepFields keeps the fields of an object that are selected.
func keepFields(object map[string]any, fields []string) map[string]any {
	if fields != nil {
		maps.DeleteFunc(object, func(name string, _ any) bool { return !slices.Contains(fields, name) })
	}
	return object
}

// contains tells whether a JSON value holds another one: an object has each key of the other with a value that contains
// the other's, an array has for each item of the other one that contains it, and anything else is equal.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		for key, value := range want {
			if ok {
				have, ok = object[key]
				ok = ok && contains(have, value)
			}
		}
		return ok
	case []any:
		list, ok := have.([]any)
		for _, item := range want {
			ok = ok && slices.ContainsFunc(list, func(v any) bool { return contains(v, item) })
		}
		return ok
	}
	return equalJSON(have, want)
}
