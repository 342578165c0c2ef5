package config

import (
	_ "embed"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

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
		case value.Kind() == reflect.Struct:
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
func eachString(v reflect.Value, key string, visit func(key, text string)) {
	walk(v, key, func(key string, v reflect.Value) {
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
	value, is, _ := place(v, nil, key)
	if !is {
		return reflect.Value{}
	}
	return value
}

// change has a function change the value of a key, which may be one more item of a list, or one more entry of a
// mapping.
func change(v reflect.Value, key string, set func(v reflect.Value)) {
	old, _, put := place(v, v.Set, key)
	changed := reflect.New(old.Type()).Elem()
	changed.Set(old)
	set(changed)
	put(changed)
}

// place finds the place of a key below a value: what stands there, else the zero value, whether something does, and how
// something else is put there. What lists and mappings on the way hold is copied for that: others may be reading it.
func place(v reflect.Value, set func(reflect.Value),
	key string) (value reflect.Value, is bool, put func(reflect.Value)) {
	if key == "" {
		return v, true, set
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	name, rest := key, "" // the names in a mapping of strings may have dots
	if v.Kind() != reflect.Map || v.Type().Elem().Kind() != reflect.String {
		name, rest, _ = strings.Cut(key, ".")
	}
	switch v.Kind() {
	case reflect.Struct:
		if f := field(v, name); f.IsValid() {
			return place(f, func(n reflect.Value) { f.Set(n); set(v) }, rest)
		}
	case reflect.Slice:
		if i, err := strconv.Atoi(name); err == nil && 0 <= i && i <= v.Len() {
			all := reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()+1), v)
			if is = i < v.Len(); !is {
				all = reflect.Append(all, reflect.Zero(v.Type().Elem()))
			}
			value, below, put := place(all.Index(i), func(n reflect.Value) { all.Index(i).Set(n); set(all) }, rest)
			return value, is && below, put
		}
	case reflect.Map:
		entry := v.MapIndex(reflect.ValueOf(name))
		if is = entry.IsValid(); !is {
			entry = reflect.Zero(v.Type().Elem())
		}
		value, below, put := place(entry, func(n reflect.Value) {
			all := reflect.MakeMap(v.Type())
			for _, known := range v.MapKeys() {
				all.SetMapIndex(known, v.MapIndex(known))
			}
			all.SetMapIndex(reflect.ValueOf(name), n)
			set(all)
		}, rest)
		return value, is && below, put
	}
	return reflect.Value{}, false, nil
}

// secretKeys are those of credentials, with all keys below them. In their place {file: path} may stand.
var secretKeys = []string{"credentials", "other_tenant", "headers", "users.token", "users.headers",
	"agent.studio_headers"}

var numbers = regexp.MustCompile(`[._]\d+[._]`)

// isSecret tells whether a key holds a credential: "users.1.headers.X-Key".
func isSecret(key string) bool {
	if inside(key, "users") {
		key = numbers.ReplaceAllString(key, ".")
	}
	return slices.ContainsFunc(secretKeys, func(group string) bool { return inside(key, group) })
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
	eachString(reflect.ValueOf(c).Elem(), "", func(key, text string) {
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
