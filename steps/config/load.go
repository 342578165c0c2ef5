package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/limit"

	"github.com/agentconform/agentconform/reports/outfile"
	"github.com/agentconform/agentconform/spec/spelling"
)

// DefaultFile is read from the working folder when no file is named.
const DefaultFile = "agentconform.yaml"

const maxFile = 1 << 20

// Sources says where a configuration comes from.
type Sources struct {
	File    string            // named by the user: must exist. Empty: DefaultFile, if it is there.
	Environ []string          // as os.Environ gives it
	Flags   map[string]string // by key ("target"), only those that were given
	NoFile  bool              // none is read, not even DefaultFile
}

// Load reads the configuration: defaults, then the file, the environment and the flags, where later ones override
// earlier ones. The result is complete and valid, or the error lists the mistakes: first the unknown keys and the
// values of the wrong type, and where there are none, all others.
func Load(s Sources) (*Config, error) {
	c := Default()
	c.SecretFiles = map[string]string{}
	l := &loader{config: &c, from: map[string]string{}}
	if !s.NoFile {
		if mistake := l.file(s.File); mistake != nil {
			return nil, mistake
		}
	}
	l.environment(s.Environ)
	for _, key := range keysOf(reflect.TypeFor[Config]()) {
		if value, given := s.Flags[key]; given {
			l.source = "flag --" + strings.ReplaceAll(key, "_", "-")
			l.set(key, value)
		}
	}
	if len(l.found) == 0 { // else what is wrong may follow from it
		l.found = c.complete()
		for _, e := range l.found {
			e.Source = l.placeOf(e.Key)
		}
	}
	if err := told(l.found); err != nil {
		return nil, err
	}
	return &c, nil
}

// loader puts a configuration together.
type loader struct {
	config *Config
	source string // what is being read: a file, "environment AGENTCONFORM_TARGET", "flag --target"
	isFile bool
	from   map[string]string // where each key was given: "agentconform.yaml:12"; the empty key is all of it
	found  []*Error
}

func (l *loader) mistaken(key, place, problem, remedy string) {
	l.found = append(l.found, &Error{Source: place, Key: key, Problem: problem, Remedy: remedy})
}

// at is the place of a node of the source.
func (l *loader) at(n *yaml.Node) string {
	if l.isFile {
		return fmt.Sprintf("%s:%d", l.source, n.Line)
	}
	return l.source
}

// file reads the file. An error ends the loading: nothing else can be checked.
func (l *loader) file(path string) error {
	named := path != ""
	path = cmp.Or(path, DefaultFile)
	content, err := outfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil
	case err != nil:
		return &Error{Source: path, Problem: "cannot be read: " + reason(err),
			Remedy: "name a readable YAML file with --config, or leave it out"}
	}
	l.source, l.isFile, l.from[""] = path, true, path
	l.config.From = append(l.config.From, path)
	defer func() { l.isFile = false }()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc yaml.Node
	err = decoder.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF): // an empty file is valid
		return nil
	case err != nil:
		return &Error{Source: path, Problem: "not valid YAML: " + yamlProblem(err),
			Remedy: "check indentation and quotes at that line"}
	case !errors.Is(decoder.Decode(new(yaml.Node)), io.EOF):
		return &Error{Source: path, Problem: "more than one YAML document", Remedy: "keep one document"}
	}
	if wrong := l.decode(doc.Content[0], reflect.ValueOf(l.config).Elem(), ""); wrong != nil {
		return wrong
	}
	c := l.config
	for _, at := range []*string{&c.TLS.CA, &c.TLS.Cert, &c.TLS.Key, &c.Socket.ControlPlane, &c.Socket.AgentServer} {
		*at = l.beside(*at)
	}
	return nil
}

// beside is a path of the source: a relative one in a file starts at its folder.
func (l *loader) beside(path string) string {
	if path == "" || filepath.IsAbs(path) || !l.isFile {
		return path
	}
	return filepath.Join(filepath.Dir(l.source), path)
}

// bounded limits what aliases may expand to. The library limits this for texts, not for nodes.
var bounded = yaml.WithPlugin(limit.New())

// decode checks a node and reads it into the value of a key. The error is what only the library finds: other mistakes
// are noted.
func (l *loader) decode(n *yaml.Node, v reflect.Value, key string) *Error {
	before := len(l.found)
	l.check(&n, v.Type(), key)
	if err := n.Load(v.Addr().Interface(), bounded); err != nil && len(l.found) == before { // else it repeats them
		return &Error{Source: l.source, Key: key, Problem: yamlProblem(err), Remedy: "correct the value at that line"}
	}
	return nil
}

// yamlProblem says where a text is not valid YAML, and why.
func yamlProblem(err error) string {
	at, is := errors.AsType[*yaml.LoadError](err)
	switch {
	case !is:
		return err.Error()
	case at.Mark.Line == 0:
		return at.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", at.Mark.Line, at.Mark.Column, at.Message)
}

func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// Error is one mistake in a configuration: its place, its key, the problem and the remedy. It never holds the value of
// a key that may be a secret.
type Error struct {
	Source  string // "agentconform.yaml:12", "environment AGENTCONFORM_TARGET", "flag --target"
	Key     string // "timeouts.poll"; empty where the whole source is at fault
	Problem string
	Remedy  string
}

func (e *Error) Error() string {
	text := e.Source
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Problem + "; " + e.Remedy
}

// told is the error that tells mistakes, nil where there is none. Each of them is known to errors.As.
func told(mistakes []*Error) error {
	switch len(mistakes) {
	case 0:
		return nil
	case 1:
		return mistakes[0]
	}
	all := []any{len(mistakes)}
	for _, e := range mistakes {
		all = append(all, e)
	}
	return fmt.Errorf("%d mistakes in the configuration:"+strings.Repeat("\n  %w", len(mistakes)), all...)
}

// placeOf is the place of a key, or of the group in which it is missing.
func (l *loader) placeOf(key string) string {
	for {
		if at, known := l.from[key]; known {
			return at
		}
		if key == "" {
			return "configuration"
		}
		key = key[:max(strings.LastIndexByte(key, '.'), 0)]
	}
}

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
		l.config.From = append(l.config.From, name)
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

// Set sets a key as if the configuration file had this value. The error lists all mistakes in the value.
func (c *Config) Set(key string, value any) error {
	text, isText := value.(string)
	if !isText {
		encoded, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		text = string(encoded)
	}
	l := &loader{config: c, source: "configuration", from: map[string]string{}}
	l.set(key, text)
	return told(l.found)
}

// set sets a key from text. Strings are taken as they are; everything else is read as YAML, which includes JSON. What a
// file of the configuration named for the key, or for one below it, is not used.
func (l *loader) set(key, text string) {
	maps.DeleteFunc(l.from, func(known, _ string) bool { return inside(known, key) })
	maps.DeleteFunc(l.config.SecretFiles, func(known, _ string) bool { return inside(known, key) })
	l.from[key] = l.source
	root := reflect.ValueOf(l.config).Elem()
	root.Set(changed(root, key, func(v reflect.Value) {
		isSecret := strings.HasPrefix(key, "create.") && strings.HasSuffix(key, ".value") // of a deployment
		if v.Kind() == reflect.String || v.Kind() == reflect.Interface && (v.Elem().Kind() == reflect.String || isSecret) {
			v.Set(reflect.ValueOf(text))
			return
		}
		var doc yaml.Node
		if isPlainText(text, v.Type()) {
			doc.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}}
		} else if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
			l.mistaken(key, l.source, "is not valid YAML or JSON", "check quotes and brackets")
			return
		}
		if isPerCase(v.Type()) || isOneOrMore(v.Type()) {
			v.SetZero() // a mapping replaces both cases
		}
		if wrong := l.decode(doc.Content[0], v, key); wrong != nil {
			l.found = append(l.found, wrong)
		}
	}))
}
