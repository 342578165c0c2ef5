package graphconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxFile bounds the configuration file and the environment file.
const maxFile = 1 << 20

// Config is a graph configuration file that was read and checked.
type Config struct {
	Path    string         // of the file itself
	Graphs  map[string]Ref // by name
	Auth    *Ref           // the authentication handler, or nil
	Folders []string       // the dependencies: folders in which files look up what they load
	Env     map[string]string
}

// Ref names an object in a file, and where the configuration says so.
type Ref struct {
	File, Object string
	Pos          Pos
}

func (r Ref) String() string { return r.File + ":" + r.Object }

// Names lists the graphs in alphabetical order.
func (c *Config) Names() []string { return slices.Sorted(maps.Keys(c.Graphs)) }

// Error is a mistake in a configuration or environment file.
type Error struct {
	Pos
	Msg string // what is wrong and what to do
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Msg }

// Read reads the configuration file at the given path of the tree. Paths in it are relative to its folder.
func Read(tree fs.FS, file string) (*Config, error) {
	src, err := readFile(tree, file, "name the graph configuration file by its path in the source")
	if err != nil {
		return nil, err
	}
	var raw struct {
		Graphs map[string]any `json:"graphs"`
		Auth   *struct {
			Path *string `json:"path"`
		} `json:"auth"`
		Dependencies []string `json:"dependencies"`
		Env          *string  `json:"env"`
	}
	if err := decode(src, file, &raw); err != nil {
		return nil, err
	}
	r := &reader{tree: tree, file: file, src: src}
	c := &Config{Path: file, Graphs: map[string]Ref{}, Env: map[string]string{}}
	if len(raw.Graphs) == 0 {
		return nil, r.errorAt(`graphs is empty: add "graphs": {"<name>": "<file_path>:<object_name>"}`, "graphs")
	}
	for _, name := range slices.Sorted(maps.Keys(raw.Graphs)) {
		if c.Graphs[name], err = r.ref(raw.Graphs[name], "graphs", name); err != nil {
			return nil, err
		}
	}
	if raw.Auth != nil {
		if raw.Auth.Path == nil {
			return nil, r.errorAt(`"auth" has no "path": name the handler as "<file_path>:<object_name>"`, "auth")
		}
		ref, err := r.ref(*raw.Auth.Path, "auth", "path")
		if err != nil {
			return nil, err
		}
		c.Auth = &ref
	}
	if c.Folders, err = r.folders(raw.Dependencies); err != nil {
		return nil, err
	}
	if raw.Env != nil && *raw.Env != "" {
		return c, r.env(c, *raw.Env)
	}
	return c, nil
}

func readFile(tree fs.FS, file, remedy string) ([]byte, error) {
	pos := Pos{File: file}
	if !fs.ValidPath(file) || file == "." {
		return nil, &Error{pos, "not the path of a file in the source: " + remedy}
	}
	info, err := fs.Stat(tree, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{pos, "file not found: " + remedy}
	}
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", file, err)
	}
	if info.IsDir() || info.Size() > maxFile {
		return nil, &Error{pos, "not a regular file, or too large: " + remedy}
	}
	src, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return src, nil
}

// decode parses the file and finds the place of what is wrong with it.
func decode(src []byte, file string, into any) error {
	dec := json.NewDecoder(bytes.NewReader(src))
	err := dec.Decode(into)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			return &Error{posAt(src, file, dec.InputOffset()), "unexpected data after the JSON object: remove it"}
		}
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return &Error{posAt(src, file, syntax.Offset-1), "not valid JSON: " + syntax.Error()}
	case errors.As(err, &kind):
		return &Error{posAt(src, file, kind.Offset-1), fmt.Sprintf("%q must not be a %s here", kind.Field, kind.Value)}
	}
	return &Error{posAt(src, file, int64(len(src))), "not valid JSON: unexpected end of file"}
}

// reader resolves what the file says, and knows where it says it.
type reader struct {
	tree fs.FS
	file string
	src  []byte
}

func (r *reader) errorAt(msg string, keys ...string) error {
	return &Error{locate(r.src, r.file, keys...), msg}
}

// ref parses "<file_path>:<object_name>".
func (r *reader) ref(v any, keys ...string) (Ref, error) {
	s, ok := v.(string)
	if !ok {
		return Ref{}, r.errorAt(`this must be a string, "<file_path>:<object_name>"`, keys...)
	}
	at := strings.LastIndexByte(s, ':')
	if at <= 0 || at == len(s)-1 || !isName(s[at+1:]) {
		return Ref{}, r.errorAt(fmt.Sprintf("%q does not name an object of a file: write \"<file_path>:<object_name>\"", s), keys...)
	}
	file, ok := r.inside(s[:at])
	if !ok {
		return Ref{}, r.errorAt(fmt.Sprintf("%q leaves the source: name a file inside of it", s[:at]), keys...)
	}
	return Ref{File: file, Object: s[at+1:], Pos: locate(r.src, r.file, keys...)}, nil
}

// inside makes a path of the tree from one that is relative to the configuration file.
func (r *reader) inside(p string) (string, bool) {
	if path.IsAbs(p) {
		return "", false
	}
	joined := path.Join(path.Dir(r.file), p)
	return joined, fs.ValidPath(joined)
}

func (r *reader) folders(dependencies []string) ([]string, error) {
	var out []string
	for _, d := range dependencies {
		folder, ok := r.inside(d)
		if !ok {
			return nil, r.errorAt(fmt.Sprintf("the dependency %q leaves the source: name a folder inside of it", d), "dependencies")
		}
		if info, err := fs.Stat(r.tree, folder); err != nil || !info.IsDir() {
			return nil, r.errorAt(fmt.Sprintf("the dependency %q is not a folder of the source: packages cannot be installed; copy its files into the source and use their folder", d), "dependencies")
		}
		out = append(out, folder)
	}
	return out, nil
}

func (r *reader) env(c *Config, name string) error {
	file, ok := r.inside(name)
	if !ok {
		return r.errorAt(fmt.Sprintf("%q leaves the source: name a file inside of it", name), "env")
	}
	src, err := readFile(r.tree, file, fmt.Sprintf("%s names it under \"env\"", r.file))
	if err != nil {
		return err
	}
	c.Env, err = ParseEnv(src, file)
	return err
}

func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
