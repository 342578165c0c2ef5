package config

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// SchemaURL is where editors find the schema of the configuration. A file names it in its first line:
//
//	# yaml-language-server: $schema=<SchemaURL>
const SchemaURL = "https://raw.githubusercontent.com/agentconform/agentconform/main/docs/config.schema.json"

// Schema is the JSON Schema (draft 7) of a configuration file, generated from [Config]. It accepts what [Load]
// accepts of one file: unknown keys and values of the wrong type are refused, and a credential may be {file: path}.
// What depends on several keys, on environment variables or on other files is left to Load.
func Schema() []byte {
	root := schemaOf(reflect.ValueOf(Default()), "")
	root["$schema"], root["$id"] = "http://json-schema.org/draft-07/schema#", SchemaURL
	root["title"] = "Configuration of agentconform"
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // only maps, lists and scalars from above
	}
	return append(text, '\n')
}

// orNull are the types of a value that may be left empty: the parser takes null for "not set".
func orNull(types ...string) []string { return append(types, "null") }

// groupSchema has the schemas of the keys of a group, with what each is for, and its default.
func groupSchema(v reflect.Value, group string) map[string]any {
	all := map[string]any{}
	for _, name := range keysOf(v.Type()) {
		key, value := join(group, name), field(v, name)
		schema := schemaOf(value, key)
		if !isPerCase(value.Type()) {
			maps.Copy(schema, valuesSchema(keys[key], value.Type()))
		}
		schema["description"] = keys[key].About
		switch {
		case value.IsZero():
		case value.Type() == durationType:
			schema["default"] = shownDefault(value)
		case value.Kind() == reflect.String || value.Kind() == reflect.Int:
			schema["default"] = value.Interface()
		}
		all[name] = schema
	}
	return all
}

// valuesSchema narrows the schema of a key beyond its type, as [Config.Complete] does.
func valuesSchema(known keyInfo, t reflect.Type) map[string]any {
	enum := []any{}
	for _, value := range known.OneOf {
		enum = append(enum, value)
	}
	switch {
	case len(enum) > 0 && t.Kind() == reflect.Slice:
		return map[string]any{"items": map[string]any{"enum": enum}}
	case len(enum) > 0:
		return map[string]any{"enum": append(enum, nil)}
	case known.Pattern != nil:
		return map[string]any{"type": orNull("string"), "pattern": known.Pattern.String()}
	case known.Between != nil:
		return map[string]any{"minimum": known.Between[0], "maximum": known.Between[1]}
	}
	return nil
}

// schemaOf is the schema of what check accepts for a value.
func schemaOf(v reflect.Value, key string) map[string]any {
	t := v.Type()
	schema := map[string]any{"type": orNull(formOf(t).json)}
	switch {
	case isPerCase(t):
		each := schemaOf(reflect.Zero(t.Field(0).Type), key)
		perCase := map[string]any{"type": "object", "additionalProperties": false,
			"properties": map[string]any{string(Missing): each, string(Invalid): each}}
		return map[string]any{"anyOf": []any{each, perCase}}
	case isOneOrMore(t):
		each := schemaOf(reflect.Zero(t.Elem()), key)
		maps.Copy(each, valuesSchema(keys[key], t.Elem()))
		return map[string]any{"anyOf": []any{each, map[string]any{"type": "array", "items": each}}}
	case t == durationType:
		schema["pattern"] = `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`
		schema["not"] = map[string]any{"type": "string", "pattern": "^[^1-9]*$"}
	case t.Kind() == reflect.Struct:
		schema["properties"], schema["additionalProperties"] = groupSchema(v, key), false
	case t.Kind() == reflect.Slice:
		schema["items"] = schemaOf(reflect.Zero(t.Elem()), key)
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		schema["additionalProperties"] = stringSchema(key)
	case t.Kind() == reflect.Int:
		schema["minimum"] = 0
	case t.Kind() == reflect.String:
		return stringSchema(key)
	}
	return schema
}

// stringSchema is the schema of a string: YAML reads 1.2 and true as other types, and the parser takes them as they are
// written.
func stringSchema(key string) map[string]any {
	scalar := []string{"string", "number", "boolean"}
	if !isSecret(key) {
		return map[string]any{"type": orNull(scalar...)}
	}
	file := map[string]any{"type": "object", "required": []string{fileKey}, "additionalProperties": false,
		"description": "a file that holds only the credential; a relative path starts at the folder of the configuration",
		"properties":  map[string]any{fileKey: map[string]any{"type": scalar, "minLength": 1}}}
	return map[string]any{"anyOf": []any{map[string]any{"type": orNull(scalar...)}, file}}
}

// shownDefault is a default as the file would hold it, "" where there is none.
func shownDefault(v reflect.Value) string {
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return ""
	}
	return cmp.Or(fmt.Sprint(v.Interface()), `""`)
}

//go:embed page.md
var markdownHead string

// Page is the page of all keys, with their types, defaults and variables, in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{DefaultFile}}", DefaultFile, "{{SchemaURL}}", SchemaURL,
		"{{Claims}}", features.ClaimsMarkdown()).Replace(markdownHead))
	each(reflect.ValueOf(Default()), "", func(key string, v reflect.Value) {
		about, isTop := keys[key].About, !strings.Contains(key, ".")
		if isTop {
			fmt.Fprintf(&b, "\n### %s\n\n%s.\n\n", key, strings.ToUpper(about[:1])+about[1:])
			about = ""
		}
		if isTop && (v.Kind() == reflect.Struct || isList(v.Type())) {
			return
		}
		fmt.Fprintf(&b, "- `%s` (%s", key, formOf(v.Type()).name)
		if d := shownDefault(v); d != "" && d != `""` {
			fmt.Fprintf(&b, ", default `%s`", d)
		}
		fmt.Fprintf(&b, ", `%s`)", Variable(strings.Replace(key, "users.", "users.0.", 1)))
		if !isTop {
			b.WriteString(": " + about)
		}
		b.WriteString("\n")
	})
	return b.String()
}
