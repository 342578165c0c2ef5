package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/spec/spelling"
)

var durationType = reflect.TypeFor[time.Duration]()

// form describes the values of a type: for the page of keys, for a remedy, and as a type of JSON.
type form struct{ name, words, json string }

func formOf(t reflect.Type) form {
	switch {
	case t == durationType:
		return form{"duration", `a duration above zero, such as "10s" or "5m"`, "string"}
	case isPerCase(t):
		each := formOf(t.Field(0).Type.Elem())
		return form{each.name + ", list, or {missing, invalid, blocked}",
			each.words + ", a list of them, or a mapping of missing, invalid and blocked", "object"}
	case isOneOrMore(t):
		each := formOf(t.Elem())
		return form{each.name + " or list", each.words + ", or a list of them", "array"}
	case t.Kind() == reflect.Struct:
		return form{"group of keys", "the keys " + strings.Join(keysOf(t), ", "), "object"}
	case t.Kind() == reflect.Slice:
		return form{"list", "a list", "array"}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return form{"mapping of strings", "keys with values", "object"}
	case t.Kind() == reflect.Map:
		return form{"mapping", "keys with values", "object"}
	case t.Kind() == reflect.Int:
		return form{"integer", integerForm, "integer"}
	case t.Kind() == reflect.Bool:
		return form{"true or false", "true or false", "boolean"}
	}
	return form{"string", "a string", "string"}
}

const integerForm = "an integer of 0 or above"

// remedyFor returns the remedy for a value of the wrong type. The limits of an integer are those of the table of keys.
func remedyFor(t reflect.Type, key string) string {
	remedy := "use " + formOf(t).words
	known := keys[inTable(key)]
	if known.Between != nil {
		remedy = strings.Replace(remedy, "use "+integerForm, known.Use, 1)
	}
	return remedy
}

// kindOf returns the kind of the YAML nodes that hold values of a type.
func kindOf(t reflect.Type) yaml.Kind {
	switch formOf(t).json {
	case "object":
		return yaml.MappingNode
	case "array":
		return yaml.SequenceNode
	}
	return yaml.ScalarNode
}

// describeKind describes a node without its value, which may be a secret.
func describeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "is a group of keys"
	case yaml.SequenceNode:
		return "is a list"
	}
	return "is a single value"
}

// isValid reports whether a scalar is a value of a type.
func isValid(n *yaml.Node, t reflect.Type) bool {
	switch {
	case t == durationType:
		d, err := time.ParseDuration(n.Value)
		return err == nil && d > 0
	case t.Kind() == reflect.Int:
		i, err := strconv.Atoi(n.Value)
		return err == nil && i >= 0
	case t.Kind() == reflect.Bool:
		return n.Tag == "!!bool" || n.Value == "true" || n.Value == "false"
	}
	return true
}

// isQuoted reports whether a number, true or false is written as a string.
func isQuoted(n *yaml.Node, t reflect.Type) bool {
	return n.Tag == "!!str" && (t.Kind() == reflect.Int || t.Kind() == reflect.Bool)
}

// check compares a YAML node with its Go type before anything is decoded, so that every mistake is reported with its key
// and line. It records the places of the keys. If a key holds a credential, it replaces {file: path} by the content of
// the file.
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
	if n.Tag == "!!null" {
		return
	}
	if isPerCase(t) || isOneOrMore(t) {
		l.checkChoice(at, n, t, key)
		return
	}
	l.checkKind(n, t, key, remedyFor(t, key))
}

// checkChoice checks the value of a key that takes one value, a list, or a value or list per case, and replaces the
// node by the longest of these forms.
func (l *loader) checkChoice(at **yaml.Node, n *yaml.Node, t reflect.Type, key string) {
	if n.Kind == yaml.ScalarNode && n.Value == "" { // not set, as null
		*at = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
		return
	}
	remedy := remedyFor(t, key)
	each := t
	if isPerCase(t) {
		each = t.Field(0).Type
	}
	list := n
	switch {
	case n.Kind == yaml.ScalarNode:
		l.checkKind(n, each.Elem(), key, remedy)
		list = listOf(n)
	case isPerCase(t) && n.Kind == yaml.SequenceNode:
		l.checkKind(n, each, key, remedy)
	default:
		l.checkKind(n, t, key, remedy)
		return
	}
	*at = list
	if isPerCase(t) {
		*at = forEachCase(list)
	}
}

// checkKind checks a node and its children. The remedy is for a node of the wrong kind and for an invalid scalar.
func (l *loader) checkKind(n *yaml.Node, t reflect.Type, key, remedy string) {
	switch {
	case n.Kind != kindOf(t):
		l.mistaken(key, l.at(n), describeKind(n), remedy)
		return
	case !isValid(n, t):
		l.mistaken(key, l.at(n), fmt.Sprintf("is %q", n.Value), remedy) // no key of these types is a secret
		return
	case isQuoted(n, t):
		l.mistaken(key, l.at(n), fmt.Sprintf("is the string %q", n.Value), "remove the quotes")
		return
	case t.Kind() == reflect.String && l.isFile && mayHoldSecret(key) && reference.MatchString(n.Value):
		l.mistaken(key, l.at(n), "refers to a variable, and variables in the file are not replaced by their values",
			otherWays(key))
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

// reference matches a reference to a variable, such as ${API_KEY}, $API_KEY or ${{ secrets.API_KEY }}. The file does not
// expand references, so the target would refuse the credential.
var reference = regexp.MustCompile(`\$\{[^}]+\}|^\$[A-Z_][A-Z0-9_]*$`)

// otherWays returns the ways to set a credential without writing it into the file.
func otherWays(key string) string {
	variable := Variable(key)
	header := headerOf(key)
	if header != "" { // the variable is known only if the file has the header
		variable = Variable(strings.TrimSuffix(key, "."+header)) + ", which holds all headers as JSON"
	}
	remedy := "remove the key and set the environment variable " + variable
	if isSecret(key) {
		remedy = "use {file: path}, or " + remedy
	}
	return remedy
}

// checkEntry checks a key of a group, or an entry of a mapping.
func (l *loader) checkEntry(name *yaml.Node, value **yaml.Node, t reflect.Type, group string) {
	key := join(group, name.Value)
	l.from[key] = l.at(name)
	if t.Kind() == reflect.Map {
		l.check(value, t.Elem(), key)
		return
	}
	known := field(reflect.Zero(t), name.Value)
	if known.IsValid() {
		l.check(value, known.Type(), key)
		return
	}
	remedy := "known keys: " + strings.Join(keysOf(t), ", ")
	near := spelling.Nearest(name.Value, keysOf(t))
	if near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	l.mistaken(key, l.at(name), "unknown key", remedy)
}

// checkJSON accepts values that JSON can represent. Keys that are numbers become strings, and so do times, for which only
// YAML has a type. Aliases are not followed, because an anchor may contain itself.
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

// fileKey is the key of the form {file: path}, which may replace the string of a credential. The file is read again if
// the target refuses the credential. A relative path starts at the folder of the configuration file.
const fileKey = "file"

// fromFile returns a node with the credential from the file of {file: path}.
func (l *loader) fromFile(n *yaml.Node, key string) *yaml.Node {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line, Column: n.Column}
	isFile := len(n.Content) == 2 && n.Content[0].Value == fileKey && n.Content[1].Kind == yaml.ScalarNode
	if !isFile || n.Content[1].Value == "" {
		l.mistaken(key, l.at(n), "is a group of keys", "use a string, or {file: path} with a file that contains it")
		return value
	}
	path := l.resolve(n.Content[1].Value)
	content, err := readSecret(path)
	if err != nil {
		l.mistaken(key, l.at(n), fmt.Sprintf("the file %s cannot be used: %s", path, reason(err)),
			"name a readable file that contains only the credential")
	}
	value.Value = content
	l.config.SecretFiles[key] = path
	return value
}

// maxSecret is the maximum size of the file of a credential in bytes. Servers do not accept headers of this size.
const maxSecret = 64 << 10

// readSecret reads a credential from a file and trims whitespace. It accepts only regular files: reading a device or a
// pipe might never end.
func readSecret(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", fmt.Errorf("it is not a regular file of at most %d bytes", maxSecret)
	}
	content, err := outfile.Read(path, maxSecret)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(content))
	if len(value) < ShortestSecret {
		return "", fmt.Errorf("it contains fewer than %d characters", ShortestSecret)
	}
	if !httpguts.ValidHeaderFieldValue(value) {
		return "", errors.New("it contains a character that is not allowed in an HTTP header")
	}
	return value, nil
}

// Reread reads the files of credentials again. It returns a configuration with the new values, or nil if none has
// changed. A file that cannot be read or is empty counts as unchanged, because another process may be writing it.
func (c *Config) Reread() *Config {
	next := reflect.ValueOf(c).Elem()
	isChanged := false
	for key, path := range c.SecretFiles {
		value, err := readSecret(path)
		if err != nil || value == valueOf(next, key).String() {
			continue
		}
		next = changed(next, key, func(v reflect.Value) { v.SetString(value) })
		isChanged = true
	}
	if !isChanged {
		return nil
	}
	return next.Addr().Interface().(*Config)
}
