package source

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"go.starlark.net/syntax"
)

// Bounds of a source: whoever may create a deployment may name any.
const (
	mostFiles   = 10_000
	longestFile = 4 << 20
)

// Tree is what was fetched.
type Tree struct {
	Version string            // commit or digest
	files   map[string][]byte // by path, without a leading slash
}

// unpack takes over the regular files below a folder of an archive.
func (t *Tree) unpack(archive io.Reader, folder string) error {
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unpack the source: %w", err)
		}
		at := strings.TrimPrefix(path.Clean("/"+header.Name), "/")
		below, inside := strings.CutPrefix(at, folder+"/")
		if folder == "" {
			below, inside = at, true
		}
		if header.Typeflag != tar.TypeReg || !inside {
			continue
		}
		if header.Size > longestFile || len(t.files) == mostFiles {
			return fmt.Errorf("unpack the source: %s: too large, or too many files", at)
		}
		if t.files[below], err = io.ReadAll(r); err != nil {
			return fmt.Errorf("unpack the source: %s: %w", at, err)
		}
	}
}

// configuration is a graph configuration file (interface, section 5, item 3).
type configuration struct {
	Graphs map[string]string
	Auth   struct{ Path string }
}

// Graphs reads the graph configuration at a path, and returns the names of its graphs. The error says why the source cannot be
// built: there is no such file, it names no graph or no handler, or what it names is not there. An empty path is the first
// graph configuration of the top folder.
func (t *Tree) Graphs(at string) ([]string, error) {
	if at == "" {
		at = t.firstConfiguration()
	}
	text, found := t.files[path.Clean(at)]
	if !found {
		return nil, fmt.Errorf("no graph configuration at %q", at)
	}
	var c configuration
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	if len(c.Graphs) == 0 || c.Auth.Path == "" {
		return nil, fmt.Errorf("%s: graphs and auth.path are required", at)
	}
	for _, name := range append(slices.Collect(maps.Values(c.Graphs)), c.Auth.Path) {
		if err := t.defines(path.Dir(at), name); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
	}
	return slices.Sorted(maps.Keys(c.Graphs)), nil
}

func (t *Tree) firstConfiguration() string {
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		var c configuration
		if path.Ext(name) == ".json" && path.Dir(name) == "." && json.Unmarshal(t.files[name], &c) == nil && len(c.Graphs) > 0 {
			return name
		}
	}
	return ""
}

// defines tells whether a file of the source has the object that "<file_path>:<object_name>" names. Starlark is parsed; of other
// languages it has to hold the name.
func (t *Tree) defines(folder, named string) error {
	file, object, split := strings.Cut(named, ":")
	text, found := t.files[path.Join(folder, file)]
	switch {
	case !split || object == "":
		return fmt.Errorf("%q is not <file_path>:<object_name>", named)
	case !found:
		return fmt.Errorf("no file %q", file)
	case !strings.Contains(string(text), object):
		return fmt.Errorf("no %q in %s", object, file)
	case path.Ext(file) != ".star":
		return nil
	}
	_, err := syntax.LegacyFileOptions().Parse(file, text, 0)
	return err
}
