package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/spec/spelling"
)

// EnvPrefix is the prefix of every environment variable that is part of the configuration.
const EnvPrefix = "AGENTCONFORM_"

var inVariable = strings.NewReplacer("-", "_", ".", "_", " ", "_")

// Variable returns the name of the environment variable of a key.
func Variable(key string) string { return EnvPrefix + strings.ToUpper(inVariable.Replace(key)) }

// Named returns a key with the place at which the user can correct its value: the file of a credential, the line of the
// configuration file, or the variable. If no place is known, it returns the variable of the key.
func (c *Config) Named(key string) string {
	variable := Variable(key)
	place := placeIn(c.Places, key)
	named, isVariable := strings.CutPrefix(place, fromEnvironment)
	switch {
	case len(c.Places) == 0 || named == variable:
		return variable
	case isVariable:
		return key + " in " + named
	case c.SecretFiles[key] != "":
		return key + " in " + c.SecretFiles[key] + " (" + place + ")"
	}
	return key + " (" + place + ")"
}

// fromEnvironment begins the places of keys that are set by a variable.
const fromEnvironment = "environment "

// variables returns the key of each variable that may be set: the variables of all keys, of each item of a list and of
// one more item, and of each entry of a mapping.
func (c *Config) variables() map[string]string {
	all, root := map[string]string{}, reflect.ValueOf(c).Elem()
	add := func(key string, _ reflect.Value) { all[Variable(key)] = key }
	walk(root, "", func(key string, v reflect.Value) {
		if !valueOf(root, key).IsValid() { // the name contains a dot
			return
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

// environment sets the keys of all AGENTCONFORM_ variables of environ ("NAME=value").
func (l *loader) environment(environ []string) {
	for _, entry := range slices.Sorted(slices.Values(environ)) { // users.0 before users.1
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		l.source = fromEnvironment + name
		l.config.From = append(l.config.From, name)
		known := l.config.variables()
		key, isKnown := known[name]
		if !isKnown {
			l.unknownVariable(name, known)
			continue
		}
		l.set(key, value)
	}
}

// unknownVariable reports an unknown variable. The remedy names a variable with a similar name, or the variable of the
// group.
func (l *loader) unknownVariable(name string, known map[string]string) {
	names := slices.Sorted(maps.Keys(known))
	next := Variable(fmt.Sprintf("users.%d", len(l.config.Users)))
	ofUser := itemVariable.FindString(name)
	if ofUser != "" && known[next+strings.TrimPrefix(name, ofUser)] != "" {
		l.gapInUsers()
		return
	}
	group := ""
	for _, other := range names {
		if strings.HasPrefix(name, other+"_") {
			group = other // the last one is the longest
		}
	}
	unnumbered := func(name string) string { return numbers.ReplaceAllString(name, ".") }
	remedy := "agentconform help config lists the keys"
	if group != "" {
		remedy = "set all of " + known[group] + " as YAML or JSON in " + group
	}
	near := spelling.Nearest(name, names)
	if near != "" && near != group && unnumbered(near) != unnumbered(name) {
		group = ""
		remedy = "did you mean " + near + "?"
	}
	l.mistaken(known[group], l.source, "unknown key", remedy)
}

// itemVariable matches the part of a variable that names a user.
var itemVariable = regexp.MustCompile("^" + EnvPrefix + `USERS_\d+`)

// gapInUsers reports once that a variable skips users: earlier users are missing.
func (l *loader) gapInUsers() {
	missing := fmt.Sprintf("users.%d", len(l.config.Users))
	e := &Error{Source: l.source, Key: "users", Problem: "a later user is set, but " + missing + " is not",
		Remedy: "set " + Variable(missing+".token") + " as well"}
	isKnown := slices.ContainsFunc(l.found, func(f *Error) bool { return f.Key == e.Key && f.Problem == e.Problem })
	if !isKnown {
		l.found = append(l.found, e)
	}
}
