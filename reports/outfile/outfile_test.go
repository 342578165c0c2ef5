package outfile_test

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/outfile"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestNothingIsWrittenThroughALink tries each function on links, a socket and a folder. They and the targets of the links
// must not change.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	theirs, missing := write(t, filepath.Join(dir, "theirs"), "theirs"), filepath.Join(dir, "missing")
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.NoError(t, os.Symlink(theirs, filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(missing, filepath.Join(dir, "dangling")))
	for _, name := range []string{"link", "dangling", "socket", "folder"} {
		path := filepath.Join(dir, name)
		for how, write := range map[string]func() error{
			"Text": func() error { return outfile.Text(path, outfile.Public, []byte("x")) },
			"Write": func() error {
				return outfile.Write(path, outfile.Private, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
			},
			"Check":  func() error { return outfile.Check(path) },
			"Ready":  func() error { return outfile.Ready(path) },
			"Append": func() error { _, err := outfile.Append(path); return err },
			"Mark":   func() error { return outfile.Mark("theirs").Of(path) },
			"Set":    func() error { return setOf("theirs", "theirs", name).Check(dir) },
		} {
			var refused *outfile.Refused
			assert.ErrorAs(t, write(), &refused, "%s %s", how, name)
		}
		assert.ErrorIs(t, outfile.Create(path, outfile.Public, []byte("x")), fs.ErrExist, name)
	}
	text, err := os.ReadFile(theirs)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(text))
	assert.NoFileExists(t, missing)
}

// TestReady checks that a missing folder is reported and that no file remains.
func TestReady(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, outfile.Ready(write(t, filepath.Join(dir, "there"), "x")))
	assert.NoError(t, outfile.Ready(filepath.Join(dir, "new")))
	assert.ErrorIs(t, outfile.Ready(filepath.Join(dir, "none", "new")), fs.ErrNotExist)
	assert.Error(t, outfile.Ready(filepath.Join(dir, "there", "new")))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func setOf(mark outfile.Mark, first, second string) outfile.Set[int] {
	return outfile.Set[int]{Mark: mark, Files: []outfile.File[int]{{Name: first}, {Name: second}}}
}

// TestSet checks that only files of this program are replaced.
func TestSet(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		refused string
	}{
		"empty":                     {},
		"ours":                      {files: map[string]string{"result.json": `{"schema": "ours/v1"}`, "index.html": "<p>"}},
		"an empty file":             {files: map[string]string{"index.html": ""}},
		"a page of another program": {files: map[string]string{"index.html": "<p>"}, refused: "index.html"},
		"another result":            {files: map[string]string{"result.json": `{"schema": "theirs"}`}, refused: "result.json"},
		"an empty result":           {files: map[string]string{"result.json": "", "index.html": "<p>"}, refused: "index.html"},
		"another name":              {files: map[string]string{"notes.txt": "x"}},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			write(t, filepath.Join(dir, file), text)
		}
		err := setOf(`"ours/`, "result.json", "index.html").Check(dir)
		var refused *outfile.Refused
		if c.refused == "" {
			assert.NoError(t, err, name)
		} else if assert.ErrorAs(t, err, &refused, name) {
			assert.Equal(t, c.refused, filepath.Base(refused.Path), name)
		}
	}
}

func TestTheOldFileStaysWhereWritingFails(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "r.json"), "old")
	err := outfile.Write(path, outfile.Public, func(w io.Writer) error {
		_, _ = io.WriteString(w, "new")
		return io.ErrShortWrite
	})
	assert.ErrorIs(t, err, io.ErrShortWrite)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}
