package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/limit"
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

// Load reads the configuration: defaults, then the file, the environment and the flags, where later ones override earlier
// ones. The result is complete and valid, or the error lists every mistake.
func Load(s Sources) (*Config, error) {
	c := Default()
	l := &loader{config: &c, from: origins{}}
	if !s.NoFile {
		if mistake := l.file(s.File); mistake != nil {
			return nil, mistake
		}
	}
	l.environment(s.Environ)
	for _, key := range keysOf(reflect.TypeFor[Config]()) {
		if value, given := s.Flags[key]; given {
			l.set(reflect.ValueOf(&c).Elem(), envWord(key), "", value, "flag --"+strings.ReplaceAll(key, "_", "-"))
		}
	}
	before := slices.Clone(l.found)
	for _, e := range c.complete() {
		if _, given := l.from[e.Key]; !before.explains(e.Key, given) {
			e.Source = l.from.of(e.Key)
			l.found = append(l.found, e)
		}
	}
	if err := l.found.err(); err != nil {
		return nil, err
	}
	return &c, nil
}

// loader puts a configuration together.
type loader struct {
	config *Config
	from   origins
	found  Errors
	files  map[*yaml.Node]secretFile // by the value that they are read into
}

func (l *loader) mistaken(found ...*Error) { l.found = append(l.found, found...) }

// file reads the file. An error ends the loading: nothing else can be checked.
func (l *loader) file(path string) error {
	named := path != ""
	if !named {
		path = DefaultFile
	}
	content, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return nil
	}
	if err != nil {
		return &Error{Source: path, Problem: "cannot be read: " + reason(err), Remedy: "name a readable YAML file with --config, or leave it out"}
	}
	return l.parse(path, content)
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("larger than %d bytes", maxFile)
	}
	return content, err
}

func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}

// bounded limits what aliases may expand to. The library limits this for texts, not for nodes.
var bounded = yaml.WithPlugin(limit.New())

// yamlProblem says where a text is not valid YAML, and why.
func yamlProblem(err error) string {
	var at *yaml.LoadError
	switch {
	case !errors.As(err, &at):
		return err.Error()
	case at.Mark.Line == 0:
		return at.Message
	}
	return fmt.Sprintf("line %d, column %d: %s", at.Mark.Line, at.Mark.Column, at.Message)
}

// parse reads the content of a file.
func (l *loader) parse(source string, content []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var doc yaml.Node
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) { // an empty file is valid
		return l.read(&yaml.Node{Kind: yaml.MappingNode}, source)
	}
	if err != nil {
		return &Error{Source: source, Problem: "not valid YAML: " + yamlProblem(err), Remedy: "check indentation and quotes at that line"}
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return &Error{Source: source, Problem: "more than one YAML document", Remedy: "keep one document"}
	}
	root := doc.Content[0]
	if root.Tag == "!!null" {
		root = &yaml.Node{Kind: yaml.MappingNode}
	}
	return l.read(root, source)
}

// read reads the mapping of a file.
func (l *loader) read(root *yaml.Node, source string) error {
	l.from[""] = source
	l.from.read(root, source, "")
	l.takeFiles(root, source)
	problems := check(root, reflect.TypeFor[Config](), source, "")
	if i := slices.IndexFunc(problems, func(e *Error) bool { return e.Key == "" }); i >= 0 {
		return problems[i]
	}
	l.mistaken(problems...)
	l.readSecretFiles(root)
	if err := root.Load(l.config, bounded); err != nil && len(l.found) == 0 { // else the error repeats them
		return &Error{Source: source, Problem: yamlProblem(err), Remedy: "correct the value at that line"}
	}
	l.config.besideFile(source)
	return nil
}

// origins says where each key was given: "agentconform.yaml:12", "environment AGENTCONFORM_TARGET". The empty key is
// the whole configuration.
type origins map[string]string

// note records the origin of a key and of all keys below it.
func (o origins) note(key, at string) {
	for known := range o {
		if strings.HasPrefix(known, key+".") {
			delete(o, known)
		}
	}
	o[key] = at
}

// of is the place of a key, or of the group in which it is missing.
func (o origins) of(key string) string {
	for {
		if at, known := o[key]; known {
			return at
		}
		cut := strings.LastIndexByte(key, '.')
		if key == "" {
			return "configuration"
		}
		key = key[:max(cut, 0)]
	}
}

// read records the line of every key of a mapping or list. The content of an alias has the line of the alias.
func (o origins) read(n *yaml.Node, source, key string) {
	at := func(line int) string { return fmt.Sprintf("%s:%d", source, line) }
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			below, value := join(key, n.Content[i].Value), n.Content[i+1]
			if resolved(value).Kind == yaml.MappingNode {
				o[below] = at(n.Content[i].Line)
			} else {
				o.note(below, at(n.Content[i].Line))
			}
			o.read(value, source, below)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			below := join(key, strconv.Itoa(i))
			o[below] = at(item.Line)
			o.read(item, source, below)
		}
	}
}
