package config

import (
	_ "embed"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/features"
)

//go:embed keys.yaml
var keysFile []byte

// keyInfo is what the table of keys says of one.
type keyInfo struct {
	About   string // in one line
	Secret  bool   // it holds a credential, as all keys below it do: {file: path} may stand in its place
	Example any    // for a file that is written

	OneOf   []string `yaml:"one_of"`
	Pattern *regexp.Regexp
	Between []int
	Wrong   string // what is wrong with other values
	Use     string // the remedy
}

// UnmarshalYAML reads a key: what it is for, or a mapping.
func (k *keyInfo) UnmarshalYAML(n *yaml.Node) error {
	type mapping keyInfo
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&k.About)
	}
	return n.Decode((*mapping)(k))
}

// keys has every key. A test compares it with the structs.
var keys = func() (all map[string]keyInfo) {
	if err := yaml.Unmarshal(keysFile, &all); err != nil {
		panic(err) // the file is a part of the program
	}
	supports := all["supports"]
	supports.OneOf = features.ClaimWords()
	all["supports"] = supports
	return all
}()

// Example is what a file may hold for a key whose value is not known; nil where there is none.
func Example(key string) any { return keys[key].Example }

// keysOf are the keys of a struct, in its order.
func keysOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name := t.Field(i).Tag.Get("yaml"); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// field is the field of a struct for a key; not valid where there is none.
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

// inside tells whether a key is the group, or one below it.
func inside(key, group string) bool { return key == group || strings.HasPrefix(key, group+".") }

// each visits the keys of a struct; the keys of a list are those of one item.
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

// walk visits a value of a configuration, or one from JSON or YAML, and all below it, each with its key.
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

// eachString visits the strings among these values.
func eachString(v reflect.Value, visit func(key, text string)) {
	walk(v, "", func(key string, v reflect.Value) {
		if v.Kind() == reflect.String {
			visit(key, v.String())
		}
	})
}

// Has tells whether a key of the configuration has a value: "alternatives.repo_ref", "users.1", "create.body.name".
func (c *Config) Has(key string) bool {
	v := valueOf(reflect.ValueOf(c).Elem(), key)
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Map && v.Kind() != reflect.Slice || v.Len() > 0)
}

// valueOf is what stands under a key; not valid where that is nothing.
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

// changed is a copy of a value in which a function has changed what stands under a key: that may be one more item of a
// list, or one more entry of a mapping. The value itself stays: others may be reading it.
func changed(v reflect.Value, key string, change func(v reflect.Value)) reflect.Value {
	if v.Kind() == reflect.Interface && key != "" {
		v = v.Elem()
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
		copied.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()+1), v))
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

// first cuts the first name from a key. The names in a mapping of strings may have dots.
func first(v reflect.Value, key string) (name, rest string) {
	if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.String {
		return key, ""
	}
	name, rest, _ = strings.Cut(key, ".")
	return name, rest
}

var numbers = regexp.MustCompile(`[._]\d+[._]`)

// isSecret tells whether a key holds a credential: "users.1.headers.X-Key".
func isSecret(key string) bool {
	for key = numbers.ReplaceAllString(key, "."); !keys[key].Secret; key = key[:strings.LastIndexByte(key, '.')] {
		if !strings.Contains(key, ".") {
			return false
		}
	}
	return true
}

var inHeaders = regexp.MustCompile(`^(?:headers\.[a-z_]+|users\.\d+\.headers|agent\.studio_headers)\.(.+)$`)

// headerOf is the name of the header whose value a key holds, "" where it is another key.
func headerOf(key string) string {
	if found := inHeaders.FindStringSubmatch(key); found != nil {
		return found[1]
	}
	return ""
}

// eachSecret visits the values of the keys that hold credentials, but for those in headers that are no secrets.
func (c *Config) eachSecret(visit func(key, value string)) {
	eachString(reflect.ValueOf(c).Elem(), func(key, text string) {
		if text != "" && isSecret(key) && !isPublic(key, text) {
			visit(key, text)
		}
	})
}

// isPublic tells whether the value of a header is no secret: that of a user only describes the kind of a request
// (X-Auth-Scheme, Content-Type), that of a gateway is a word such as "true" or "qa". Replaced wherever it occurs it
// would spoil every report.
func isPublic(key, value string) bool {
	letter := func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
	if inside(key, "headers") {
		return value != "" && len(value) < 8 && strings.TrimFunc(value, letter) == ""
	}
	words := strings.Split(strings.ToLower(headerOf(key)), "-")
	return slices.Contains([]string{"scheme", "type", "version", "mode"}, words[len(words)-1])
}
