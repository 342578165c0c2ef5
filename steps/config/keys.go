package config

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

//go:embed keys.yaml
var keysFile []byte

// keys describes every key in one line, for the files that are written and for the reference.
// A test compares it with the structs.
var keys = func() (all map[string]string) {
	if err := yaml.Unmarshal(keysFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	return all
}()

// Reference lists every key with its type, its default and what it is for, in the order of the file.
func Reference() string {
	var b strings.Builder
	defaults := Default()
	each(reflect.ValueOf(defaults), "", func(key string, value reflect.Value) {
		indent := strings.Repeat("  ", strings.Count(key, "."))
		line := indent + key[strings.LastIndexByte(key, '.')+1:] + ":"
		if shown := shownDefault(value); shown != "" {
			line += " " + shown
		}
		fmt.Fprintf(&b, "%-32s # %s\n", line, keys[key])
	})
	return b.String()
}

// shownDefault is a default as the file would hold it, "" where there is none.
func shownDefault(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map:
		return ""
	}
	if d, is := v.Interface().(time.Duration); is {
		return d.String()
	}
	if v.Kind() == reflect.String && v.IsZero() {
		return `""`
	}
	return fmt.Sprint(v.Interface())
}

// each visits the keys of a struct; the keys of a list are those of one item.
func each(v reflect.Value, group string, visit func(key string, value reflect.Value)) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == "-" {
			continue
		}
		key, field := join(group, v.Type().Field(i).Tag.Get("yaml")), v.Field(i)
		visit(key, field)
		switch {
		case field.Kind() == reflect.Struct:
			each(field, key, visit)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			each(reflect.Zero(field.Type().Elem()), key, visit)
		}
	}
}

// explain adds the description of each key as a comment. Items of a list are described once.
func explain(n *yaml.Node, group string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i], n.Content[i+1]
			key := join(group, name.Value)
			if text := keys[key]; text != "" {
				name.HeadComment = "# " + text
				explain(value, key)
			}
		}
	case yaml.SequenceNode:
		if len(n.Content) > 0 {
			explain(n.Content[0], group)
		}
	}
}

// YAML writes the configuration as a file that Load reads, with what each key is for. It holds the credentials.
func (c *Config) YAML() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# Configuration of agentconform for this target. It contains credentials: keep it secret.\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	var node yaml.Node
	if err := node.Encode(c); err != nil {
		return nil, fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	explain(&node, "")
	if err := encoder.Encode(&node); err != nil {
		return nil, fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return out.Bytes(), encoder.Close()
}
