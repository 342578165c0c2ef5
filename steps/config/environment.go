package config

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/spec/spelling"
)

// EnvPrefix begins the name of every environment variable that is part of the configuration.
const EnvPrefix = "AGENTCONFORM_"

var inVariable = strings.NewReplacer("-", "_", ".", "_", " ", "_")

// Variable is the name of the environment variable of the key.
func Variable(key string) string { return EnvPrefix + strings.ToUpper(inVariable.Replace(key)) }

// variables has the key for each variable that may be set: those of all keys, of the items of lists and of one more,
// and of the entries of mappings that are there.
func (c *Config) variables() map[string]string {
	all, root := map[string]string{}, reflect.ValueOf(c).Elem()
	add := func(key string, _ reflect.Value) { all[Variable(key)] = key }
	walk(root, "", func(key string, v reflect.Value) {
		if !valueOf(root, key).IsValid() {
			return // a name with a dot in it
		}
		add(key, v)
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Interface {
			walk(reflect.Zero(v.Type().Elem()), join(key, strconv.Itoa(v.Len())), add)
		}
	})
	for _, secret := range c.templateSecrets() {
		all[secret.variable] = secret.key
	}
	delete(all, EnvPrefix)
	return all
}

// environment sets every AGENTCONFORM_ variable of environ ("NAME=value").
func (l *loader) environment(environ []string) {
	for _, entry := range slices.Sorted(slices.Values(environ)) { // users.0 before users.1
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		l.source = "environment " + name
		known := l.config.variables()
		if key, is := known[name]; is {
			l.set(key, value)
		} else {
			l.unknownVariable(name, known)
		}
	}
}

// unknownVariable names the variable that was probably meant, or that of the group in which the key is not.
func (l *loader) unknownVariable(name string, known map[string]string) {
	group, names := "", slices.Sorted(maps.Keys(known))
	for _, other := range names {
		if strings.HasPrefix(name, other+"_") {
			group = other // the longest is the last
		}
	}
	unnumbered := func(name string) string { return numbers.ReplaceAllString(name, ".") }
	remedy := "agentconform help config lists the keys"
	if group != "" {
		remedy = "set all of " + known[group] + " as YAML or JSON in " + group
	}
	if near := spelling.Nearest(name, names); near != "" && near != group && unnumbered(near) != unnumbered(name) {
		group, remedy = "", "did you mean "+near+"?"
	}
	l.mistaken(known[group], l.source, "unknown key", remedy)
}

// set sets a key from text. Strings are taken as they are; everything else is read as YAML, which includes JSON. What a
// file of the configuration named for the key, or for one below it, is not used.
func (l *loader) set(key, text string) {
	maps.DeleteFunc(l.from, func(known, _ string) bool { return inside(known, key) })
	maps.DeleteFunc(l.config.SecretFiles, func(known, _ string) bool { return inside(known, key) })
	l.from[key] = l.source
	change(reflect.ValueOf(l.config).Elem(), key, func(v reflect.Value) {
		isSecret := strings.HasPrefix(key, "create.") && strings.HasSuffix(key, ".value") // of a deployment
		if v.Kind() == reflect.String || v.Kind() == reflect.Interface && (v.Elem().Kind() == reflect.String || isSecret) {
			v.Set(reflect.ValueOf(text))
			return
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
			l.mistaken(key, l.source, "is not valid YAML or JSON", "check quotes and brackets")
		} else if wrong := l.decode(doc.Content[0], v, key); wrong != nil {
			l.found = append(l.found, wrong)
		}
	})
}
