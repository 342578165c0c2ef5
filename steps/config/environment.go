package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// EnvPrefix begins the name of every environment variable that is part of the configuration.
const EnvPrefix = "AGENTCONFORM_"

var notInName = strings.NewReplacer("-", "_", ".", "_", " ", "_")

// envWord is a key's part of the name of an environment variable.
func envWord(key string) string { return strings.ToUpper(notInName.Replace(key)) }

func envIndex(list string, i int, rest string) string { return fmt.Sprintf("%s_%d_%s", list, i, rest) }

// environment sets every AGENTCONFORM_ variable of environ ("NAME=value").
func (l *loader) environment(environ []string) {
	environ = slices.Clone(environ)
	slices.Sort(environ) // users.0 before users.1
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours {
			continue
		}
		l.set(reflect.ValueOf(l.config).Elem(), rest, "", value, "environment "+name)
	}
}

// set finds the key that the rest of a variable's name means below v and sets it.
func (l *loader) set(v reflect.Value, rest, key, value, source string) {
	if rest == "" {
		l.overridden(key, source)
		l.mistaken(setText(v, key, value, source)...)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if i, tail := longestField(v.Type(), rest); i >= 0 {
			l.set(v.Field(i), tail, join(key, v.Type().Field(i).Tag.Get("yaml")), value, source)
			return
		}
	case reflect.Slice:
		digits, tail, _ := strings.Cut(rest, "_")
		if i, err := strconv.Atoi(digits); err == nil && i >= 0 && i <= v.Len() {
			if i == v.Len() {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			}
			l.set(v.Index(i), tail, join(key, digits), value, source)
			return
		}
	case reflect.Map:
		if name, found := setInMap(v, rest, value); found {
			l.overridden(join(key, name), source)
			return
		}
		l.mistaken(&Error{Source: source, Key: key, Problem: "no entry of the configuration has this name",
			Remedy: fmt.Sprintf("set all of %s as YAML or JSON in %s%s", key, EnvPrefix, envWord(key))})
		return
	}
	var known []string
	if v.Kind() == reflect.Struct {
		for _, k := range keysOf(v.Type()) {
			known = append(known, envWord(k))
		}
	}
	l.mistaken(unknown(source, key, key, rest, known))
}

// overridden notes that a key, and all below it, is now from the source: what a file of the configuration named for it is not used.
func (l *loader) overridden(key, source string) {
	l.from.note(key, source)
	maps.DeleteFunc(l.config.SecretFiles, func(known, _ string) bool { return known == key || strings.HasPrefix(known, key+".") })
}

// longestField finds the field whose name begins rest. The longest wins: AGENT_TARGET is agent_target, not a key of agent.
func longestField(t reflect.Type, rest string) (index int, tail string) {
	index, longest := -1, 0
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("yaml")
		word := envWord(key)
		if after, ok := cutWord(rest, word); ok && key != "-" && len(word) > longest {
			index, tail, longest = i, after, len(word)
		}
	}
	return index, tail
}

func cutWord(rest, word string) (string, bool) {
	tail, ok := strings.CutPrefix(rest, word)
	if !ok || tail != "" && tail[0] != '_' {
		return "", false
	}
	return strings.TrimPrefix(tail, "_"), true
}

// setInMap replaces the value of an existing entry: a header, a field, or one of a create body's secrets. An entry that is no string gets
// what the value is in YAML.
func setInMap(v reflect.Value, rest, value string) (entry string, found bool) {
	if body, ok := v.Interface().(map[string]any); ok {
		list, _ := body["secrets"].([]any)
		for _, item := range list {
			secret, _ := item.(map[string]any)
			if name, _ := secret["name"].(string); secret != nil && rest == "SECRETS_"+envWord(name) {
				secret["value"] = value
				return "secrets", true
			}
		}
	}
	for _, k := range v.MapKeys() {
		if envWord(k.String()) == rest {
			if _, text := v.MapIndex(k).Interface().(string); text {
				v.SetMapIndex(k, reflect.ValueOf(value))
				return k.String(), true
			}
			changed := reflect.New(v.Type()).Elem()
			if setText(changed, "", fmt.Sprintf("{%q: %s}", k.String(), value), "") != nil {
				return "", false
			}
			v.SetMapIndex(k, changed.MapIndex(k))
			return k.String(), true
		}
	}
	return "", false
}

// setText sets v from text. Strings are taken as they are; everything else is read as YAML, which includes JSON.
func setText(v reflect.Value, key, text, source string) []*Error {
	if v.Kind() == reflect.String {
		v.SetString(text)
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
		return []*Error{{Source: source, Key: key, Problem: "is not valid YAML or JSON", Remedy: "check quotes and brackets"}}
	}
	if problems := check(doc.Content[0], v.Type(), source, key); len(problems) > 0 {
		return problems
	}
	if err := doc.Content[0].Load(v.Addr().Interface(), bounded); err != nil {
		return []*Error{{Source: source, Key: key, Problem: err.Error(), Remedy: "correct the value"}}
	}
	return nil
}
