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

// Schema returns the JSON Schema (draft 7) of a configuration file, generated from [Config]. It is as strict as [Load]
// is with one file: it refuses unknown keys and values of the wrong type. Only Load checks rules about several keys,
// environment variables and other files.
func Schema() []byte {
	root := schemaOf(reflect.ValueOf(Default()), "")
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["$id"] = SchemaURL
	root["title"] = "Configuration of agentconform"
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // impossible: the value consists of maps, lists and scalars
	}
	return append(text, '\n')
}

// orNull returns the types of a value that may be empty in the file, which the parser treats as not set.
func orNull(types ...string) []string { return append(types, "null") }

// groupSchema returns the schemas of the keys of a group, with descriptions and defaults.
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

// valuesSchema returns the limits of a key's values. [Config.Complete] checks the same limits.
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
	case known.Pattern != nil && t.Kind() == reflect.Slice:
		return map[string]any{"items": map[string]any{"pattern": known.Pattern.String()}}
	case known.Pattern != nil:
		return map[string]any{"type": orNull("string"), "pattern": known.Pattern.String()}
	case known.Between != nil:
		return map[string]any{"minimum": known.Between[0], "maximum": known.Between[1]}
	}
	return nil
}

// schemaOf returns the schema of the values that loader.check accepts.
func schemaOf(v reflect.Value, key string) map[string]any {
	t := v.Type()
	schema := map[string]any{"type": orNull(formOf(t).json)}
	switch {
	case isPerCase(t):
		each := schemaOf(reflect.Zero(t.Field(0).Type), key)
		perCase := map[string]any{"type": "object", "additionalProperties": false,
			"properties": map[string]any{string(Missing): each, string(Invalid): each, string(Blocked): each}}
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

// stringSchema returns the schema of a string. The parser also accepts values such as 1.2 and true, which have other
// types in YAML.
func stringSchema(key string) map[string]any {
	scalar := []string{"string", "number", "boolean"}
	schema := map[string]any{"type": orNull(scalar...)}
	if mayHoldSecret(key) {
		schema["not"] = map[string]any{"type": "string", "pattern": reference.String()}
	}
	if !isSecret(key) {
		return schema
	}
	file := map[string]any{"type": "object", "required": []string{fileKey}, "additionalProperties": false,
		"description": "a file that contains only the credential; a relative path starts at the folder of the configuration",
		"properties":  map[string]any{fileKey: map[string]any{"type": scalar, "minLength": 1}}}
	return map[string]any{"anyOf": []any{schema, file}}
}

// shownDefault returns a default in the form of the file, or "" for groups, lists and mappings.
func shownDefault(v reflect.Value) string {
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return ""
	}
	return cmp.Or(fmt.Sprint(v.Interface()), `""`)
}

//go:embed page.md
var markdownHead string

// Page returns the page of all keys in Markdown, with their types, defaults and variables.
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
		byDefault := shownDefault(v)
		if byDefault != "" && byDefault != `""` {
			fmt.Fprintf(&b, ", default `%s`", byDefault)
		}
		fmt.Fprintf(&b, ", `%s`)", Variable(strings.Replace(key, "users.", "users.0.", 1)))
		if !isTop {
			b.WriteString(": " + about)
		}
		b.WriteString("\n")
	})
	return b.String()
}
