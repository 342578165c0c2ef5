package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOrigin: no address of a repository and no name of an image gets its password into an error.
func FuzzOrigin(f *testing.F) {
	for _, a := range []string{"https://u:secret-password@h/r.git", "ssh://u:secret-password@h/r", "file:///tmp/r", "/tmp/r", "h:5000/a/b:tag", "h/a@sha256:00", "\x7f", "http://[::1", "u:secret-password@h/%zz", "localhost/UPPER"} {
		f.Add(a, "refs/tags/v1")
		f.Add(a, "a..b\x00")
	}
	f.Fuzz(func(t *testing.T, address, ref string) {
		err := located(address)
		if err == nil {
			err = missingRef(Origin{RepoURL: address, Ref: ref})
		}
		if strings.Contains(address, "://u:secret-password@") && !strings.Contains(ref, "secret-password") {
			require.NotContains(t, err.Error(), "secret-password")
			require.NotContains(t, cannotRead(Origin{RepoURL: address}, errors.New(address)).Error(), "secret-password")
		}
		if image, err := parseImage(address); err == nil {
			require.NotEmpty(t, image.Context().RegistryStr())
			_, err := parseImage(image.Name())
			require.NoError(t, err, "the name of an image names one")
		}
	})
}

// FuzzTree: what is kept of a foreign archive lies within the tree and its bounds, and is read again as it was.
func FuzzTree(f *testing.F) {
	of := func(names ...string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, name := range names {
			require.NoError(f, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 1}))
			_, err := w.Write([]byte("x"))
			require.NoError(f, err)
		}
		require.NoError(f, w.Close())
		return b.Bytes()
	}
	f.Add(of("app/a.json", "app/b/c.star"), "/app")
	f.Add(of("../../etc/passwd", "/etc/passwd", "app/../../x", "app//y", "app/a", "app/a"), "app")
	f.Add(of("a\x01b", "c\\d", "é", "."), "")
	f.Add(of("a", "a/b"), "")
	f.Fuzz(func(t *testing.T, archive []byte, root string) {
		root = strings.TrimPrefix(path.Clean("/"+root), "/")
		kept := map[string]string{}
		a := newArchiver()
		for files := tar.NewReader(bytes.NewReader(archive)); ; {
			file, err := files.Next()
			if err != nil {
				break
			}
			name, inside := below(root, file.Name)
			if !inside || file.Typeflag != tar.TypeReg || file.Size > 1<<20 {
				continue
			}
			content, err := io.ReadAll(files)
			if err != nil {
				break
			}
			if a.add(name, bytes.NewReader(content)) == nil {
				kept[name] = string(content)
			}
		}
		whole, err := a.finish()
		require.NoError(t, err)
		tree, err := whole.Open()
		require.NoError(t, err)
		size := 0
		for name, content := range kept {
			require.True(t, fs.ValidPath(name), name)
			size += len(content)
		}
		require.LessOrEqual(t, size, largestTree)
		_ = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return nil //nolint:nilerr // what cannot be read is not there
			}
			text, err := fs.ReadFile(tree, name)
			if err == nil {
				require.Contains(t, kept, name)
				require.LessOrEqual(t, len(text), largestFile)
			}
			return nil
		})
	})
}
