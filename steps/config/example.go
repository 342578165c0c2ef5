package config

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"
)

// placeholder is the value of texts without an example. It also replaces the examples of credentials, which are file
// names.
const placeholder = "example"

// WithExample returns a copy of the configuration in which a missing key has a value: the example of the table of keys,
// or a placeholder. Use the copy only to check which keys are set. The last name of the key may be an index of a list.
func (c *Config) WithExample(key string) *Config {
	copied := changed(reflect.ValueOf(c).Elem(), key, func(v reflect.Value) {
		example := exampleAt(key)
		text, err := yaml.Marshal(example)
		if example == nil || err != nil || yaml.Unmarshal(text, v.Addr().Interface()) != nil || v.IsZero() {
			setPlaceholder(v)
		}
	})
	with, _ := copied.Addr().Interface().(*Config)
	return with
}

// exampleAt returns the example of a key, with placeholders for credentials, or nil. It may be a part of the example of a
// group or a list around the key.
func exampleAt(key string) any {
	group, below := key, ""
	for group != "" && Example(group) == nil {
		at := strings.LastIndexByte(group, '.')
		below = strings.TrimSuffix(group[at+1:]+"."+below, ".")
		group = group[:max(at, 0)]
	}
	example := valueOf(reflect.ValueOf(withoutFiles(Example(group))), below)
	if !example.IsValid() {
		return nil
	}
	return example.Interface()
}

// withoutFiles returns an example in which each {file: path} is a placeholder.
func withoutFiles(example any) any {
	switch value := example.(type) {
	case map[string]any:
		if _, isFile := value["file"]; isFile && len(value) == 1 {
			return placeholder
		}
		copied := map[string]any{}
		for name, below := range value {
			copied[name] = withoutFiles(below)
		}
		return copied
	case []any:
		var copied []any
		for _, item := range value {
			copied = append(copied, withoutFiles(item))
		}
		return copied
	}
	return example
}

// setPlaceholder sets a value that is not empty.
func setPlaceholder(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(placeholder)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		v.Set(reflect.ValueOf(placeholder))
	case reflect.Map:
		entry := reflect.New(v.Type().Elem()).Elem()
		setPlaceholder(entry)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(placeholder), entry)
	case reflect.Struct:
		if v.NumField() > 0 {
			setPlaceholder(v.Field(0))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		setPlaceholder(v.Index(0))
	case reflect.Int:
		v.SetInt(1)
	}
}
