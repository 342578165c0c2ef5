package source

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzTree: no archive fills the memory or has a file outside of its folder, and each graph that is named is there.
func FuzzTree(f *testing.F) {
	of := func(files map[string]string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for name, text := range files {
			require.NoError(f, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
			_, err := w.Write([]byte(text))
			require.NoError(f, err)
		}
		require.NoError(f, w.Close())
		return b.Bytes()
	}
	f.Add(of(map[string]string{"app/agent.json": `{"graphs":{"g":"./g.star:run"},"auth":{"path":"g.star:auth"}}`, "app/g.star": "def run(): pass\ndef auth(): pass\n"}), "app", "")
	f.Add(of(map[string]string{"agent.json": `{"graphs":{"g":"../../etc/passwd:root"},"auth":{"path":"x"}}`, "../x": ""}), "", "agent.json")
	f.Add([]byte("no archive"), "a", "../a.json")
	f.Fuzz(func(t *testing.T, archive []byte, folder, at string) {
		tree := &Tree{files: map[string][]byte{}}
		if tree.unpack(bytes.NewReader(archive), folder) != nil {
			return
		}
		for name, text := range tree.files {
			require.True(t, fs.ValidPath(name) || name == "" || !fs.ValidPath(folder), name)
			require.LessOrEqual(t, len(text), longestFile)
		}
		graphs, err := tree.Graphs(at)
		require.Equal(t, err == nil, len(graphs) > 0)
	})
}
