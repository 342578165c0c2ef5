package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pb33f/jsonschema/v6"
	"github.com/pb33f/jsonschema/v6/kind"

	"github.com/agentconform/agentconform/spec/spelling"
)

func violationsOf(schema *jsonschema.Schema, value any) []Violation {
	err := schema.Validate(value)
	if err == nil {
		return nil
	}
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return []Violation{{Keyword: "schema", Expected: "a value that can be judged", Actual: err.Error()}}
	}
	var violations []Violation
	causes, known := map[string]bool{}, map[string]bool{}
	for _, leaf := range leaves(tree) { // only the first item of each kind is reported, and items are in order
		cause := WithoutIndices(strings.Join(leaf.InstanceLocation, "/")) + fmt.Sprintf(" %T", leaf.ErrorKind)
		if missing, is := leaf.ErrorKind.(*kind.Required); is {
			cause += fmt.Sprint(missing.Missing)
		}
		if causes[cause] {
			continue
		}
		causes[cause] = true
		for _, v := range explain(schema, leaf, value) {
			if key := v.Key(); !known[key] && len(violations) < maxViolations {
				known[key] = true
				violations = append(violations, v)
			}
		}
	}
	return violations
}

// maxViolations bounds the violations of one response. The documents have fewer locations, but the target can choose
// names of fields.
const maxViolations = 256

// leaves returns the deepest causes, in their order. Errors of references and groups carry no information.
func leaves(e *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	for _, cause := range e.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// explain turns one cause into violations. Each missing field is a separate violation, at its location.
func explain(schema *jsonschema.Schema, e *jsonschema.ValidationError, value any) []Violation {
	pointer, at := pointerTo(e.InstanceLocation), valueAt(value, e.InstanceLocation)
	if missing, ok := e.ErrorKind.(*kind.Required); ok {
		violations := make([]Violation, 0, len(missing.Missing))
		unknown := unknownIn(schema, e.InstanceLocation, at)
		for _, name := range missing.Missing {
			actual := "absent from " + excerpt(at)
			if near := spelling.Nearest(name, unknown); near != "" {
				actual = excerpt(near) + " in its place, in " + excerpt(at)
			}
			violations = append(violations, Violation{
				Pointer: pointer + "/" + escapePointer(name), Keyword: "required",
				Expected: fmt.Sprintf("the field %q", name), Actual: actual,
			})
		}
		return violations
	}
	v := Violation{Pointer: pointer, Keyword: keyword(e.ErrorKind), Expected: expected(e.ErrorKind), Actual: excerpt(at)}
	if format, is := e.ErrorKind.(*kind.Format); is && format.Want == "date-time" {
		text, _ := at.(string)
		_, err := time.Parse("2006-01-02T15:04:05", text) // also with a fraction of a second
		v.NoOffset = err == nil
	}
	return []Violation{v}
}

// unknownIn returns the names in an object that are not in its schema. One of them may be a different spelling of a
// missing field.
func unknownIn(schema *jsonschema.Schema, location []string, at any) (names []string) {
	for _, step := range location {
		schema = cmp.Or(resolved(schema).Properties[step], resolved(schema).Items2020)
		if schema == nil {
			return nil
		}
	}
	schema = resolved(schema)
	object, _ := at.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if schema.Properties[name] == nil && len(names) < manyFields && len(name) < 64 {
			names = append(names, name)
		}
	}
	return names
}

// resolved follows the references of a schema.
func resolved(schema *jsonschema.Schema) *jsonschema.Schema {
	for schema.Ref != nil {
		schema = schema.Ref
	}
	return schema
}

func keyword(k jsonschema.ErrorKind) string {
	if path := k.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return "schema"
}

func expected(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return spelling.Either(k.Want)
	case *kind.Enum:
		return spelling.Either(wanted(k.Want))
	case *kind.Format:
		if k.Want == "date-time" {
			return "a date-time with an offset" // a date-time without an offset is also invalid (RFC 3339)
		}
		return "a " + k.Want
	case *kind.Minimum:
		return "at least " + k.Want.RatString()
	case *kind.Maximum:
		return "at most " + k.Want.RatString()
	case *kind.MinLength:
		return fmt.Sprintf("at least %d characters", k.Want)
	}
	return "what the schema says under " + keyword(k)
}

func wanted(values []any) []string {
	list := make([]string, 0, len(values))
	for _, v := range values {
		list = append(list, excerpt(v))
	}
	return list
}
