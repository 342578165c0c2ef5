package graphs

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A source can be taken out and copied as it is, into a repository or an image.
func TestEachFolderIsAWholeSource(t *testing.T) {
	for folder, want := range map[string][]string{
		Conformance:     {"agent.json", "alternative.json", "auth.star", "conformance.env", "graph.star"},
		ConformanceNext: {"conformance.env"}, // lies over the first
		Broken:          {"agent.json", "graph.star"},
	} {
		source, err := fs.Sub(FS, folder)
		require.NoError(t, err)
		var got []string
		require.NoError(t, fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				got = append(got, name)
				_, err = fs.ReadFile(source, name)
			}
			return err
		}))
		assert.Equal(t, want, got, folder)
	}
}

func TestTheNextRevisionDiffersInItsSettingsOnly(t *testing.T) {
	first, err := fs.ReadFile(FS, Conformance+"/conformance.env")
	require.NoError(t, err)
	next, err := fs.ReadFile(FS, ConformanceNext+"/conformance.env")
	require.NoError(t, err)
	assert.NotEqual(t, string(first), string(next))
}
