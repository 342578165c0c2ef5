package outfile_test

import (
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/outfile"
)

// TestNothingIsWrittenThroughALink tries each way to write where a link is: what it leads to stays as it is.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	theirs, missing := filepath.Join(dir, "theirs"), filepath.Join(dir, "missing")
	require.NoError(t, os.WriteFile(theirs, []byte("theirs"), 0o600))
	for name, to := range map[string]string{"link": theirs, "dangling": missing} {
		link := filepath.Join(dir, name)
		require.NoError(t, os.Symlink(to, link))
		for how, write := range map[string]func() error{
			"Text": func() error { return outfile.Text(link, outfile.Public, []byte("x")) },
			"Write": func() error {
				return outfile.Write(link, outfile.Private, func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err })
			},
			"Check":  func() error { return outfile.Check(link) },
			"Ready":  func() error { return outfile.Ready(link) },
			"Create": func() error { return outfile.Create(link, outfile.Public, []byte("x")) },
			"Append": func() error { _, err := outfile.Append(link); return err },
			"Mark":   func() error { return outfile.Mark("theirs").Of(link) },
			"Folder": func() error { return outfile.Folder(dir, "theirs", "theirs", name) },
		} {
			var refused *outfile.Refused
			err := write()
			if how == "Create" {
				assert.ErrorIs(t, err, os.ErrExist, name)
				continue
			}
			if assert.ErrorAs(t, err, &refused, "%s %s", how, name) {
				assert.Contains(t, err.Error(), "is not a regular file")
			}
		}
	}
	text, err := os.ReadFile(theirs)
	require.NoError(t, err)
	assert.Equal(t, "theirs", string(text))
	assert.NoFileExists(t, missing)
	socket, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	for _, path := range []string{filepath.Join(dir, "s"), os.DevNull, dir} {
		var refused *outfile.Refused
		_, err := outfile.Append(path)
		assert.ErrorAs(t, err, &refused, path)
		assert.ErrorAs(t, outfile.Ready(path), &refused, path)
	}
}

// TestReady leaves nothing behind, and tells of a folder that is not there or takes no file.
func TestReady(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	require.NoError(t, os.WriteFile(there, []byte("x"), 0o600))
	for path, problem := range map[string]error{
		there: nil, filepath.Join(dir, "new"): nil,
		filepath.Join(dir, "none", "new"): fs.ErrNotExist, filepath.Join(there, "new"): syscall.ENOTDIR,
	} {
		if err := outfile.Ready(path); problem == nil {
			assert.NoError(t, err, path)
		} else {
			assert.ErrorIs(t, err, problem, path)
		}
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// TestWhoseAFolderIs wants our own files to be replaced, and no others.
func TestWhoseAFolderIs(t *testing.T) {
	for name, c := range map[string]struct {
		files   map[string]string
		refused string
	}{
		"empty":                   {},
		"ours":                    {files: map[string]string{"result.json": `{"schema": "ours/v1"}`, "index.html": "<p>"}},
		"an empty file":           {files: map[string]string{"index.html": ""}},
		"a page of somebody else": {files: map[string]string{"index.html": "<p>"}, refused: "index.html"},
		"another result":          {files: map[string]string{"result.json": `{"schema": "theirs"}`}, refused: "result.json"},
		"an empty result":         {files: map[string]string{"result.json": "", "index.html": "<p>"}, refused: "index.html"},
		"another name":            {files: map[string]string{"notes.txt": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
			}
			err := outfile.Folder(dir, `"ours/`, "result.json", "index.html")
			if c.refused == "" {
				assert.NoError(t, err)
				return
			}
			var refused *outfile.Refused
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, c.refused, filepath.Base(refused.Path))
		})
	}
}

func TestAppendAddsToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.jsonl")
	for _, line := range []string{"a\n", "b\n"} {
		file, err := outfile.Append(path)
		require.NoError(t, err)
		_, err = file.WriteString(line)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a\nb\n", string(text))
}

func TestTheOldFileStaysWhereWritingFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	require.NoError(t, outfile.Text(path, outfile.Public, []byte("old")))
	err := outfile.Write(path, outfile.Public, func(w io.Writer) error {
		_, _ = io.WriteString(w, "new")
		return io.ErrShortWrite
	})
	assert.ErrorIs(t, err, io.ErrShortWrite)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}
