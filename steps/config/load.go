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
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/agentconform/agentconform/reports/outfile"
)

// DefaultFile is read from the working folder if no other file is given.
const DefaultFile = "agentconform.yaml"

const maxFile = 1 << 20

// Sources are the sources of a configuration.
type Sources struct {
	File    string            // a file that must exist; empty: DefaultFile, if it exists
	Environ []string          // in the form of os.Environ
	Flags   map[string]string // values of the flags on the command line, by key ("target")
	NoFile  bool              // no file is read, not even DefaultFile
}

// Load reads the configuration: the defaults, then the file, the environment and the flags. Later sources override
// earlier ones. The error lists all unknown keys and wrong values. Mistakes in combinations of keys are reported only if
// there are no others, because they may be consequences.
func Load(s Sources) (*Config, error) {
	c := Default()
	c.SecretFiles = map[string]string{}
	l := &loader{config: &c, from: map[string]string{}}
	if !s.NoFile {
		if err := l.file(s.File); err != nil {
			return nil, err
		}
	}
	l.environment(s.Environ)
	for _, key := range keysOf(reflect.TypeFor[Config]()) {
		value, isGiven := s.Flags[key]
		if isGiven {
			l.source = "flag --" + strings.ReplaceAll(key, "_", "-")
			l.set(key, value)
		}
	}
	further := c.wrongValues
	if len(l.found) == 0 {
		further = c.complete
	}
	for _, e := range further() {
		e.Source = placeIn(l.from, e.Key)
		isKnown := slices.ContainsFunc(l.found, func(f *Error) bool { return inside(f.Key, e.Key) })
		if !isKnown {
			l.found = append(l.found, e)
		}
	}
	slices.SortStableFunc(l.found, func(a, b *Error) int { return a.line() - b.line() })
	if len(l.found) > 0 {
		return nil, joined(l.found)
	}
	c.Places = l.from
	return &c, nil
}

// loader assembles a configuration from its sources.
type loader struct {
	config *Config
	source string // the current source: a file, "environment AGENTCONFORM_TARGET", "flag --target"
	isFile bool
	from   map[string]string // place of each key: "agentconform.yaml:12"; the empty key is the whole configuration
	found  []*Error
}

func (l *loader) mistaken(key, place, problem, remedy string) {
	l.found = append(l.found, &Error{Source: place, Key: key, Problem: problem, Remedy: remedy})
}

// at returns the place of a node of the source.
func (l *loader) at(n *yaml.Node) string {
	if l.isFile {
		return fmt.Sprintf("%s:%d", l.source, n.Line)
	}
	return l.source
}

// file reads the file. If it returns an error, nothing else can be checked.
func (l *loader) file(path string) error {
	named := path != ""
	path = cmp.Or(path, DefaultFile)
	content, err := outfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil
	case err != nil:
		return &Error{Source: path, Problem: "cannot be read: " + reason(err),
			Remedy: "name a readable YAML file with --config, or remove the flag"}
	}
	l.source = path
	l.isFile = true
	l.from[""] = path
	l.config.From = append(l.config.From, path)
	defer func() { l.isFile = false }()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc yaml.Node
	err = decoder.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF): // the file is empty, which is valid
		return nil
	case err != nil:
		return l.notYAML(content, err)
	case !errors.Is(decoder.Decode(new(yaml.Node)), io.EOF):
		return &Error{Source: path, Problem: "more than one YAML document", Remedy: "keep one document"}
	}
	mistake := l.decode(doc.Content[0], reflect.ValueOf(l.config).Elem(), "")
	if mistake != nil {
		return mistake
	}
	c := l.config
	for _, at := range []*string{&c.TLS.CA, &c.TLS.Cert, &c.TLS.Key, &c.Socket.ControlPlane, &c.Socket.AgentServer} {
		*at = l.resolve(*at)
	}
	return nil
}

// resolve returns the path of a file. A relative path in a configuration file starts at the folder of that file.
func (l *loader) resolve(path string) string {
	if path == "" || filepath.IsAbs(path) || !l.isFile {
		return path
	}
	return filepath.Join(filepath.Dir(l.source), path)
}

// bounded limits the expansion of aliases. The library has such a limit for texts but not for nodes.
var bounded = yaml.WithPlugin(loaderlimits.New())

// decode checks a node and decodes it into the value of a key. It records mistakes, and returns a mistake that only the
// library detects.
func (l *loader) decode(n *yaml.Node, v reflect.Value, key string) *Error {
	before := len(l.found)
	l.check(&n, v.Type(), key)
	err := n.Load(v.Addr().Interface(), bounded)
	if err == nil || len(l.found) > before { // the library would report the same mistakes again
		return nil
	}
	return &Error{Source: l.source, Key: key, Problem: yamlProblem(err), Remedy: "correct or remove that line"}
}

// notYAML describes an error of the YAML parser. For a tab in the indentation, the messages of the parser do not mention
// the tab.
func (l *loader) notYAML(content []byte, err error) *Error {
	at, ok := errors.AsType[*yaml.LoadError](err)
	lines := strings.Split(string(content), "\n")
	if ok && 0 < at.Mark.Line && at.Mark.Line <= len(lines) {
		line := lines[at.Mark.Line-1]
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if strings.Contains(indent, "\t") {
			return &Error{Source: fmt.Sprintf("%s:%d", l.source, at.Mark.Line), Problem: "the line is indented with a tab",
				Remedy: "YAML allows only spaces there"}
		}
	}
	return &Error{Source: l.source, Problem: "not valid YAML: " + yamlProblem(err),
		Remedy: "check indentation and quotes at that line"}
}

// yamlProblem describes the reason why a text is not valid YAML, with the line and column if known.
func yamlProblem(err error) string {
	at, ok := errors.AsType[*yaml.LoadError](err)
	switch {
	case !ok:
		return err.Error()
	case at.Mark.Line == 0:
		return at.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", at.Mark.Line, at.Mark.Column, at.Message)
}

// reason returns the text of an error without the path of the file.
func reason(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	if ok {
		return path.Err.Error()
	}
	return err.Error()
}

// Error is one mistake in a configuration: its place, its key, the problem and the remedy. It never contains the value
// of a key that may be a secret.
type Error struct {
	Source  string // "agentconform.yaml:12", "environment AGENTCONFORM_TARGET", "flag --target"
	Key     string // "timeouts.poll"; empty if the mistake concerns the whole source
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

// line returns the line of the file, or 0 for another source.
func (e *Error) line() int {
	line, _ := strconv.Atoi(e.Source[strings.LastIndexByte(e.Source, ':')+1:]) // 0 if it is not a number
	return line
}

// joined returns one error for all mistakes, or nil if there are none. It wraps each of them.
func joined(mistakes []*Error) error {
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

// placeIn returns the place of a key, or else the place of the innermost group with a place.
func placeIn(places map[string]string, key string) string {
	for {
		at, known := places[key]
		if known {
			return at
		}
		if key == "" {
			return "configuration"
		}
		key = key[:max(strings.LastIndexByte(key, '.'), 0)]
	}
}

// Set sets a key as if the configuration file contained this value. The error lists all mistakes in the value.
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
	return joined(l.found)
}

// set sets a key from text. Strings are used unchanged. Everything else is parsed as YAML, which includes JSON. If the
// configuration file has files of credentials for the key, or for a key below it, they are no longer used.
func (l *loader) set(key, text string) {
	maps.DeleteFunc(l.from, func(known, _ string) bool { return inside(known, key) })
	maps.DeleteFunc(l.config.SecretFiles, func(known, _ string) bool { return inside(known, key) })
	l.from[key] = l.source
	root := reflect.ValueOf(l.config).Elem()
	root.Set(changed(root, key, func(v reflect.Value) {
		if isText(v, key) {
			v.Set(reflect.ValueOf(text))
			return
		}
		var doc yaml.Node
		words := commaList(text, v.Type())
		if words != nil {
			doc.Content = []*yaml.Node{words}
		} else if isPlainText(text, v.Type()) {
			doc.Content = []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}}
		} else if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) == 0 {
			l.mistaken(key, l.source, "is not valid YAML or JSON", "check quotes and brackets")
			return
		}
		if isPerCase(v.Type()) || isOneOrMore(v.Type()) {
			v.SetZero() // a mapping replaces all cases
		}
		mistake := l.decode(doc.Content[0], v, key)
		if mistake != nil {
			l.found = append(l.found, mistake)
		}
	}))
}

// isText reports whether the text of a key is used unchanged. This is always so for the value of a secret of a
// deployment.
func isText(v reflect.Value, key string) bool {
	if v.Kind() != reflect.Interface {
		return v.Kind() == reflect.String
	}
	isSecretValue := strings.HasPrefix(key, "create.") && strings.HasSuffix(key, ".value")
	return isSecretValue || v.Elem().Kind() == reflect.String
}
