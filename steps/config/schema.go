package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/spec/spelling"
)

var durationType = reflect.TypeFor[time.Duration]()

// check compares a YAML node with the Go type that it will be decoded into, so that every mistake is reported with its
// key and line before anything is decoded.
func check(n *yaml.Node, t reflect.Type, source, key string) []*Error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	at := fmt.Sprintf("%s:%d", source, n.Line)
	mistake := func(want string) []*Error {
		problem := "is " + describe(n)
		if n.Kind == yaml.ScalarNode && (t.Kind() == reflect.Int || t.Kind() == reflect.Bool) { // no key of these types is a secret
			problem = fmt.Sprintf("is %q", n.Value)
		}
		return []*Error{{Source: at, Key: key, Problem: problem, Remedy: "use " + want}}
	}
	if n.Tag == "!!null" {
		return nil
	}
	switch {
	case t == durationType:
		if n.Kind != yaml.ScalarNode {
			return mistake(`a duration such as "10s" or "5m"`)
		}
		if d, err := time.ParseDuration(n.Value); err != nil || d <= 0 {
			return []*Error{&Error{Source: at, Key: key, Problem: fmt.Sprintf("%q is not a duration above zero", n.Value), Remedy: `use a duration such as "10s" or "5m"`}}
		}
	case t.Kind() == reflect.Struct:
		return checkStruct(n, t, source, key)
	case t == reflect.TypeFor[map[string]any]() && n.Kind == yaml.MappingNode:
		return checkJSON(n, source, key)
	case t.Kind() == reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return mistake("a list")
		}
		var all []*Error
		for i, item := range n.Content {
			all = append(all, check(item, t.Elem(), source, key+"."+strconv.Itoa(i))...)
		}
		return all
	case t.Kind() == reflect.Map:
		if n.Kind != yaml.MappingNode {
			return mistake("keys with values")
		}
		var all []*Error
		for i := 0; i+1 < len(n.Content); i += 2 {
			all = append(all, check(n.Content[i+1], t.Elem(), source, join(key, n.Content[i].Value))...)
		}
		return all
	case t.Kind() == reflect.String:
		if n.Kind != yaml.ScalarNode {
			return mistake("a string")
		}
	case t.Kind() == reflect.Int:
		if v, err := strconv.Atoi(n.Value); n.Kind != yaml.ScalarNode || err != nil || v < 0 {
			return mistake("an integer of 0 or above")
		}
	case t.Kind() == reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			return mistake("true or false")
		}
	}
	return nil
}

// checkJSON accepts what JSON can hold. What only YAML has a type for, a time or a key that is a number, is the string that is written.
// Aliases are not followed: an anchor may hold itself.
func checkJSON(n *yaml.Node, source, key string) (all []*Error) {
	switch {
	case n.Tag == "!!binary" || n.Tag == "!!float" && strings.ContainsAny(n.Value, "nN"): // .nan, .inf
		return []*Error{{Source: fmt.Sprintf("%s:%d", source, n.Line), Key: key, Problem: "is not a JSON value", Remedy: "use a string, a number, true, false, null, a list or an object"}}
	case n.Tag == "!!timestamp":
		n.Tag = "!!str"
	}
	for i, item := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			item.Tag = "!!str"
			continue
		}
		name := strconv.Itoa(i)
		if n.Kind == yaml.MappingNode {
			name = n.Content[i-1].Value
		}
		all = append(all, checkJSON(item, source, join(key, name))...)
	}
	return all
}

func checkStruct(n *yaml.Node, t reflect.Type, source, key string) []*Error {
	if n.Kind != yaml.MappingNode {
		return []*Error{&Error{Source: fmt.Sprintf("%s:%d", source, n.Line), Key: key, Problem: "is " + describe(n),
			Remedy: "use the keys " + strings.Join(keysOf(t), ", ")}}
	}
	var all []*Error
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		at := fmt.Sprintf("%s:%d", source, name.Line)
		if line, twice := seen[name.Value]; twice {
			all = append(all, &Error{Source: at, Key: join(key, name.Value), Problem: fmt.Sprintf("is already set at line %d", line), Remedy: "remove one of the two"})
		}
		seen[name.Value] = name.Line
		field, ok := fieldOf(t, name.Value)
		if !ok {
			all = append(all, unknown(at, join(key, name.Value), key, name.Value, keysOf(t)))
			continue
		}
		all = append(all, check(value, field.Type, source, join(key, name.Value))...)
	}
	return all
}

// unknown reports a name that is not a key of the group; key is shown.
func unknown(source, key, group, name string, known []string) *Error {
	e := &Error{Source: source, Key: key, Problem: "unknown key", Remedy: "known keys: " + strings.Join(known, ", ")}
	if near := spelling.Nearest(name, known); near != "" {
		e.Remedy = fmt.Sprintf("did you mean %q?", near)
		e.meant = join(group, strings.ToLower(near))
	}
	return e
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	}
	return "a single value" // it is not shown: it may be a secret
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == key && key != "-" {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
