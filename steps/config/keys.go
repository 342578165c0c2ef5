package config

import (
	_ "embed"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/features"
)

//go:embed keys.yaml
var keysFile []byte

// keyInfo is a row of the table of keys.
type keyInfo struct {
	About   string // in one line
	Secret  bool   // the key and all keys below it are credentials, which may be {file: path}
	Example any    // value of the key in a generated file

	OneOf   []string `yaml:"one_of"`
	Pattern *regexp.Regexp
	Between []int
	AtLeast time.Duration `yaml:"at_least"`
	Wrong   string        // describes a value that OneOf, Pattern or Between does not allow, such as "is not a host name"
	Use     string        // the remedy for such a value
}

// UnmarshalYAML reads a row. A row is a mapping, or a text for About only.
func (k *keyInfo) UnmarshalYAML(n *yaml.Node) error {
	type mapping keyInfo
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&k.About)
	}
	return n.Decode((*mapping)(k))
}

// keys is the table of all keys. A test compares it with the structs.
var keys = func() (all map[string]keyInfo) {
	if err := yaml.Unmarshal(keysFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	supports := all["supports"]
	supports.OneOf = features.ClaimWords()
	all["supports"] = supports
	return all
}()

// Example returns an example of the value of a key, or nil if the table has none.
func Example(key string) any { return keys[key].Example }

// keysOf returns the keys of a struct, in its order.
func keysOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("yaml")
		if name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// field returns the field of a struct for a key, or an invalid value if there is none.
func field(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == name && name != "-" {
			return v.Field(i)
		}
	}
	return reflect.Value{}
}

func isList(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

func join(key, name string) string { return strings.TrimPrefix(key+"."+name, ".") }

// inside reports whether a key is the group or a key below it.
func inside(key, group string) bool { return key == group || strings.HasPrefix(key, group+".") }

// each visits the keys of a struct. For a list it visits the keys of one item.
func each(v reflect.Value, group string, visit func(key string, value reflect.Value)) {
	for _, name := range keysOf(v.Type()) {
		key, value := join(group, name), field(v, name)
		visit(key, value)
		switch {
		case value.Kind() == reflect.Struct && !isPerCase(value.Type()):
			each(value, key, visit)
		case isList(value.Type()):
			each(reflect.Zero(value.Type().Elem()), key, visit)
		}
	}
}

// walk visits a configuration, or a value from JSON or YAML, and all values within it, each with its key.
func walk(v reflect.Value, key string, visit func(key string, v reflect.Value)) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	visit(key, v)
	switch v.Kind() {
	case reflect.Struct:
		for _, name := range keysOf(v.Type()) {
			walk(field(v, name), join(key, name), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), join(key, strconv.Itoa(i)), visit)
		}
	case reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			walk(v.MapIndex(name), join(key, name.String()), visit)
		}
	}
}

// eachString visits the strings that walk visits.
func eachString(v reflect.Value, visit func(key, text string)) {
	walk(v, "", func(key string, v reflect.Value) {
		if v.Kind() == reflect.String {
			visit(key, v.String())
		}
	})
}

// Has reports whether a key of the configuration has a value: "alternatives.repo_ref", "users.1", "create.body.name".
func (c *Config) Has(key string) bool {
	v := valueOf(reflect.ValueOf(c).Elem(), key)
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || v.IsZero() {
		return false
	}
	isCollection := v.Kind() == reflect.Map || v.Kind() == reflect.Slice
	return !isCollection || v.Len() > 0
}

// valueOf returns the value of a key, or an invalid value if there is none.
func valueOf(v reflect.Value, key string) reflect.Value {
	for key != "" {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		name, rest := first(v, key)
		i, notNumber := strconv.Atoi(name)
		switch {
		case v.Kind() == reflect.Struct:
			v = field(v, name)
		case v.Kind() == reflect.Map:
			v = v.MapIndex(reflect.ValueOf(name))
		case v.Kind() == reflect.Slice && notNumber == nil && 0 <= i && i < v.Len():
			v = v.Index(i)
		default:
			return reflect.Value{}
		}
		key = rest
	}
	return v
}

// changed returns a copy of a value in which a function has changed the value of a key. The key may be a new entry of a
// mapping, or one more item of a list. The original is not modified, because other goroutines may be reading it.
func changed(v reflect.Value, key string, change func(v reflect.Value)) reflect.Value {
	if v.Kind() == reflect.Interface && key != "" {
		v = v.Elem()
		if !v.IsValid() {
			v = reflect.ValueOf(map[string]any{})
		}
	}
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	name, rest := first(v, key)
	switch {
	case key == "":
		change(copied)
	case v.Kind() == reflect.Struct:
		below := field(copied, name)
		below.Set(changed(below, rest, change))
	case v.Kind() == reflect.Slice:
		i, _ := strconv.Atoi(name)
		copied.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, max(v.Len(), i+1)), v))
		copied.SetLen(max(v.Len(), i+1))
		copied.Index(i).Set(changed(copied.Index(i), rest, change))
	case v.Kind() == reflect.Map:
		entry := valueOf(v, name)
		if !entry.IsValid() {
			entry = reflect.Zero(v.Type().Elem())
		}
		copied.Set(reflect.MakeMap(v.Type()))
		for _, known := range v.MapKeys() {
			copied.SetMapIndex(known, v.MapIndex(known))
		}
		copied.SetMapIndex(reflect.ValueOf(name), changed(entry, rest, change))
	}
	return copied
}

// first cuts the first name from a key. The names in a mapping of strings may contain dots.
func first(v reflect.Value, key string) (name, rest string) {
	if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.String {
		return key, ""
	}
	name, rest, _ = strings.Cut(key, ".")
	return name, rest
}

var numbers = regexp.MustCompile(`[._]\d+[._]`)

// isSecret reports whether the value of a key is a credential: "users.1.headers.X-Key".
func isSecret(key string) bool {
	key = numbers.ReplaceAllString(key, ".")
	for {
		if keys[key].Secret {
			return true
		}
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			return false
		}
		key = key[:dot]
	}
}

// mayHoldSecret reports whether the value of a key is a credential, or a URL that may contain one.
func mayHoldSecret(key string) bool { return isSecret(key) || key == "proxy" }

// belowTable matches the part of a key that is not in the table of keys: the case of a refusal, and the index in a list.
var belowTable = regexp.MustCompile(`(\.missing|\.invalid|\.blocked)?(\.\d+)?$`)

// inTable returns the row of the table of keys for a key: "agent.refusals" for "agent.refusals.missing.0".
func inTable(key string) string { return belowTable.ReplaceAllString(key, "") }

var inHeaders = regexp.MustCompile(`^(?:headers\.[a-z_]+|users\.\d+\.headers|agent\.studio_headers)\.(.+)$`)

// headerOf returns the name of the header that a key sets, or "" for other keys.
func headerOf(key string) string {
	found := inHeaders.FindStringSubmatch(key)
	if found == nil {
		return ""
	}
	return found[1]
}

// eachSecret visits all credentials with their keys, except the values of headers that are public.
func (c *Config) eachSecret(visit func(key, value string)) {
	eachString(reflect.ValueOf(c).Elem(), func(key, text string) {
		if text != "" && isSecret(key) && !isPublic(key, text) {
			visit(key, text)
		}
	})
}

// isPublic reports whether the value of a header is not a secret. These are headers of a user that describe the kind of a
// request (X-Auth-Scheme, Content-Type), and headers for a gateway with a value such as "true" or "qa". Redacting such a
// word everywhere would make reports unreadable.
func isPublic(key, value string) bool {
	letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	if inside(key, "headers") {
		return value != "" && len(value) < 8 && strings.TrimFunc(value, letter) == ""
	}
	words := strings.Split(strings.ToLower(headerOf(key)), "-")
	return slices.Contains([]string{"scheme", "type", "version", "mode"}, words[len(words)-1])
}
