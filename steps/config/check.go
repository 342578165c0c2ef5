package config

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/spec/spelling"
)

var durationType = reflect.TypeFor[time.Duration]()

// form is what a value of a type looks like: for the page of keys, as a remedy, and in JSON.
type form struct{ name, words, json string }

// kinds are those of the YAML nodes of JSON types; all others are scalars.
var kinds = map[string]yaml.Kind{"object": yaml.MappingNode, "array": yaml.SequenceNode}

func formOf(t reflect.Type) form {
	switch {
	case t == durationType:
		return form{"duration", `a duration above zero, such as "10s" or "5m"`, "string"}
	case isPerCase(t):
		each := formOf(t.Field(0).Type.Elem())
		return form{each.name + ", list, or {missing, invalid}", each.words + ", a list, or a mapping with missing and invalid",
			"object"}
	case isOneOrMore(t):
		each := formOf(t.Elem())
		return form{each.name + " or list", each.words + " or a list", "array"}
	case t.Kind() == reflect.Struct:
		return form{"group of keys", "the keys " + strings.Join(keysOf(t), ", "), "object"}
	case t.Kind() == reflect.Slice:
		return form{"list", "a list", "array"}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return form{"mapping of strings", "keys with values", "object"}
	case t.Kind() == reflect.Map:
		return form{"mapping", "keys with values", "object"}
	case t.Kind() == reflect.Int:
		return form{"integer", "an integer of 0 or above", "integer"}
	case t.Kind() == reflect.Bool:
		return form{"true or false", "true or false", "boolean"}
	}
	return form{"string", "a string", "string"}
}

// isValid tells whether a scalar is a value of a type.
func isValid(n *yaml.Node, t reflect.Type) bool {
	switch {
	case t == durationType:
		d, err := time.ParseDuration(n.Value)
		return err == nil && d > 0
	case t.Kind() == reflect.Int:
		i, err := strconv.Atoi(n.Value)
		return err == nil && i >= 0
	}
	return t.Kind() != reflect.Bool || n.Tag == "!!bool"
}

// check compares a YAML node with the Go type that it will be decoded into, so that every mistake is reported with its
// key and line before anything is decoded, and notes the places of the keys. It puts the content of the file in place
// of a credential that is {file: path}.
func (l *loader) check(at **yaml.Node, t reflect.Type, key string) {
	n := *at
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if t.Kind() == reflect.String && n.Kind == yaml.MappingNode && isSecret(key) {
		*at = l.fromFile(n, key)
		return
	}
	if t.Kind() == reflect.Interface || t == reflect.TypeFor[map[string]any]() && n.Kind == yaml.MappingNode {
		l.checkJSON(n, key)
		return
	}
	wanted := formOf(t)
	switch {
	case n.Tag == "!!null":
		return
	case (isPerCase(t) || isOneOrMore(t)) && n.Kind == yaml.ScalarNode && n.Value == "": // not set, as null
		*at = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
		return
	case isPerCase(t) && n.Kind != yaml.MappingNode:
		l.check(&n, t.Field(0).Type, key)
		*at = forEachCase(n)
		return
	case isOneOrMore(t) && n.Kind == yaml.ScalarNode:
		l.check(&n, t.Elem(), key)
		*at = listOf(n)
		return
	case n.Kind != cmp.Or(kinds[wanted.json], yaml.ScalarNode):
		found := map[yaml.Kind]string{yaml.MappingNode: "is a group of keys", yaml.SequenceNode: "is a list",
			yaml.ScalarNode: "is a single value"}[n.Kind] // which is not shown: it may be a secret
		l.mistaken(key, l.at(n), found, "use "+wanted.words)
		return
	case !isValid(n, t):
		l.mistaken(key, l.at(n), fmt.Sprintf("is %q", n.Value), "use "+wanted.words) // no key of these types is a secret
		return
	}
	switch t.Kind() {
	case reflect.Slice:
		for i, item := range n.Content {
			below := join(key, strconv.Itoa(i))
			l.from[below] = l.at(item)
			l.check(&n.Content[i], t.Elem(), below)
		}
	case reflect.Struct, reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			l.checkEntry(n.Content[i], &n.Content[i+1], t, key)
		}
	}
}

// checkEntry checks a key of a group, or an entry of a mapping.
func (l *loader) checkEntry(name *yaml.Node, value **yaml.Node, t reflect.Type, group string) {
	key := join(group, name.Value)
	l.from[key] = l.at(name)
	below := t
	if t.Kind() == reflect.Map {
		below = t.Elem()
	} else if known := field(reflect.Zero(t), name.Value); known.IsValid() {
		below = known.Type()
	} else {
		remedy := "known keys: " + strings.Join(keysOf(t), ", ")
		if near := spelling.Nearest(name.Value, keysOf(t)); near != "" {
			remedy = fmt.Sprintf("did you mean %q?", near)
		}
		l.mistaken(key, l.at(name), "unknown key", remedy)
		return
	}
	l.check(value, below, key)
}

// checkJSON accepts what JSON can hold. What only YAML has a type for, a time or a key that is a number, is the string
// that is written. Aliases are not followed: an anchor may hold itself.
func (l *loader) checkJSON(n *yaml.Node, key string) {
	switch {
	case n.Tag == "!!binary" || n.Tag == "!!float" && strings.ContainsAny(n.Value, "nN"): // .nan, .inf
		l.mistaken(key, l.at(n), "is not a JSON value", "use a string, a number, true, false, null, a list or an object")
	case n.Tag == "!!timestamp":
		n.Tag = "!!str"
	}
	for i, item := range n.Content {
		below := join(key, strconv.Itoa(i))
		if n.Kind == yaml.MappingNode {
			below = join(key, n.Content[i-i%2].Value)
			if i%2 == 0 {
				item.Tag = "!!str"
				l.from[below] = l.at(item)
				continue
			}
		}
		l.checkJSON(item, below)
	}
}

// A credential may be in a file of its own, which is read again when the target refuses it: {file: path} in place of
// the string. The path is relative to the folder of the configuration file.
const fileKey = "file"

// fromFile is the credential that {file: path} stands for.
func (l *loader) fromFile(n *yaml.Node, key string) *yaml.Node {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}
	isFile := len(n.Content) == 2 && n.Content[0].Value == fileKey && n.Content[1].Kind == yaml.ScalarNode
	if !isFile || n.Content[1].Value == "" {
		l.mistaken(key, l.at(n), "is a group of keys", "use a string, or {file: path} with a file that holds it")
		return value
	}
	path := l.beside(n.Content[1].Value)
	content, err := readSecret(path)
	if err != nil {
		l.mistaken(key, l.at(n), fmt.Sprintf("the file %s cannot be used: %s", path, reason(err)),
			"name a readable file that holds only the credential")
	}
	value.Value, l.config.SecretFiles[key] = content, path
	return value
}

// maxSecret is more than a header value may have.
const maxSecret = 64 << 10

// readSecret reads a credential from a file, without whitespace around it. One that is no file might never end.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", fmt.Errorf("it is no regular file of at most %d bytes", maxSecret)
	}
	content, err := outfile.Read(path, maxSecret)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(content))
	if len(value) < ShortestSecret || !httpguts.ValidHeaderFieldValue(value) {
		return "", fmt.Errorf("it has fewer than %d characters, or one that is not allowed in an HTTP header", ShortestSecret)
	}
	return value, nil
}

// Reread reads the files of credentials again, and returns a configuration with the new values; nil where none has
// changed. A file that cannot be read, or holds no credential, counts as unchanged: it may just be written.
func (c *Config) Reread() *Config {
	now := reflect.ValueOf(c).Elem()
	for key, path := range c.SecretFiles {
		if value, err := readSecret(path); err == nil && value != valueOf(now, key).String() {
			now = changed(now, key, func(v reflect.Value) { v.SetString(value) })
		}
	}
	if next := now.Addr().Interface().(*Config); next != c {
		return next
	}
	return nil
}
