package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
)

// SchemaURL is where editors find the schema of the configuration. A file names it in its first line:
//
//	# yaml-language-server: $schema=<SchemaURL>
const SchemaURL = "https://raw.githubusercontent.com/agentconform/agentconform/main/docs/config.schema.json"

// Schema is the JSON Schema (draft 7) of a configuration file, generated from [Config]. It accepts what [Load] accepts of one
// file: unknown keys and values of the wrong type are refused, and a credential may be {file: path}. What depends on several keys,
// on environment variables or on other files is left to Load.
func Schema() []byte {
	definitions, whole := map[string]any{}, map[string]any{}
	t := reflect.TypeFor[Config]()
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("yaml")
		if key == "-" {
			continue
		}
		whole[key] = map[string]any{"$ref": "#/definitions/" + key}
		definitions[key] = described(key, schemaOf(t.Field(i).Type, key))
	}
	root := closed(whole)
	root["$schema"], root["$id"], root["title"] = "http://json-schema.org/draft-07/schema#", SchemaURL, "Configuration of agentconform"
	root["definitions"] = definitions
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // only maps, lists and scalars from above
	}
	return append(text, '\n')
}

// orNull are the types of a value that may be left empty: the parser takes null for "not set".
func orNull(types ...string) []string { return append(types, "null") }

func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": orNull("object"), "properties": properties, "additionalProperties": false}
}

// described adds what the key is for, and its default.
func described(key string, schema map[string]any) map[string]any {
	schema["description"] = keys[key]
	if v := defaultOf(key); v.IsValid() && !v.IsZero() && (v.Kind() == reflect.String || v.CanInt()) {
		schema["default"] = v.Interface()
		if v.Type() == durationType {
			schema["default"] = shownDefault(v)
		}
	}
	return schema
}

// defaultOf is the default of a key; not valid for the keys of a list.
func defaultOf(key string) (found reflect.Value) {
	each(reflect.ValueOf(Default()), "", func(k string, v reflect.Value) {
		if k == key && !strings.HasPrefix(key, "users.") {
			found = v
		}
	})
	return found
}

// address matches what validator.address accepts.
const address = `^([Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+(/[^?#]*)?)?$`

// limited holds what complete checks of single keys, beyond their types.
func limited(key string) map[string]any {
	switch key {
	case "target", "agent_target":
		return map[string]any{"type": orNull("string"), "pattern": address}
	case "edition":
		return map[string]any{"enum": []any{Cloud, SelfHosted, "", nil}}
	case "supports":
		return map[string]any{"type": orNull("array"), "items": map[string]any{"enum": features.ClaimWords()}}
	case "agent.words":
		return map[string]any{"type": orNull("array"), "items": map[string]any{"enum": GraphWords}}
	case "agent.listing":
		return map[string]any{"enum": []any{"get", "search", "", nil}}
	case "agent.rejected_status":
		return map[string]any{"type": orNull("integer"), "minimum": 400, "maximum": 599}
	case "alternatives.tag_ref":
		return map[string]any{"type": orNull("string"), "pattern": "^(refs/tags/.*)?$"}
	case "agent_url_from":
		return map[string]any{"type": orNull("string"), "minLength": 1}
	}
	return nil
}

// secretKeys are those whose values, or the values in whose mappings, may be {file: path}; see eachSecret.
var secretKeys = []string{"credentials.api_key", "credentials.tenant_id", "credentials.bearer", "other_tenant.api_key", "other_tenant.tenant_id",
	"other_tenant.bearer", "users.token", "users.headers", "agent.studio_headers", "headers.control_plane", "headers.agent_server"}

// schemaOf is the schema of what check accepts for the type.
func schemaOf(t reflect.Type, key string) map[string]any {
	if narrow := limited(key); narrow != nil {
		return narrow
	}
	switch {
	case t == durationType:
		return map[string]any{"type": orNull("string"), "pattern": `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`,
			"not": map[string]any{"type": "string", "pattern": "^[^1-9]*$"}}
	case t.Kind() == reflect.Struct:
		properties := map[string]any{}
		for i := range t.NumField() {
			below := join(key, t.Field(i).Tag.Get("yaml"))
			properties[t.Field(i).Tag.Get("yaml")] = described(below, schemaOf(t.Field(i).Type, below))
		}
		return closed(properties)
	case t.Kind() == reflect.Slice:
		return map[string]any{"type": orNull("array"), "items": schemaOf(t.Elem(), key)}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return map[string]any{"type": orNull("object"), "additionalProperties": text(key)}
	case t.Kind() == reflect.Map:
		return map[string]any{"type": orNull("object")}
	case t.Kind() == reflect.Int:
		return map[string]any{"type": orNull("integer"), "minimum": 0}
	case t.Kind() == reflect.Bool:
		return map[string]any{"type": orNull("boolean")}
	}
	return text(key)
}

// text is the schema of a string: YAML reads 1.2 and true as other types, and the parser takes them as they are written.
func text(key string) map[string]any {
	scalar := []string{"string", "number", "boolean"}
	if !slices.Contains(secretKeys, key) {
		return map[string]any{"type": orNull(scalar...)}
	}
	file := map[string]any{"type": "object", "required": []string{fileKey}, "additionalProperties": false,
		"description": "a file that holds only the credential; a relative path starts at the folder of the configuration",
		"properties":  map[string]any{fileKey: map[string]any{"type": scalar, "minLength": 1}}}
	return map[string]any{"anyOf": []any{map[string]any{"type": orNull(scalar...)}, file}}
}
