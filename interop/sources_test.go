package interop

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestVariantsOfSourceDiffer checks that the parts that variants change still occur in the files.
func TestVariantsOfSourceDiffer(t *testing.T) {
	for language, graph := range graphFiles {
		t.Run(language, func(t *testing.T) {
			all, err := Sources(language)
			require.NoError(t, err)
			read := func(name string) string {
				text, err := fs.ReadFile(all, name)
				require.NoError(t, err)
				return string(text)
			}
			assert.Equal(t, 1, strings.Count(read("conformance/"+graph), prefix))
			assert.Equal(t, strings.Replace(read("conformance/"+graph), prefix, nextPrefix, 1), read("conformance_next/"+graph))
			assert.NotEqual(t, read("conformance/"+graph), read("conformance_next/"+graph))
			assert.Contains(t, read("conformance/"+alternativePrefix+graph), otherPrefix)
			for _, name := range []string{"conformance/" + ConfigPath, "conformance/" + AlternativeConfigPath, "broken/" + ConfigPath} {
				var config struct {
					Graphs map[string]string
					Auth   struct{ Path string }
				}
				require.NoError(t, json.Unmarshal([]byte(read(name)), &config))
				file, _, _ := strings.Cut(config.Graphs["conformance"], ":")
				_, err := fs.Stat(all, "conformance/"+strings.TrimPrefix(file, "./"))
				assert.Equal(t, strings.HasPrefix(name, "broken"), err != nil, "%s names %s", name, file)
				file, _, _ = strings.Cut(config.Auth.Path, ":")
				_, err = fs.Stat(all, "conformance/"+strings.TrimPrefix(file, "./"))
				assert.NoError(t, err)
			}
		})
	}
	_, err := Sources("cobol")
	require.ErrorContains(t, err, `"cobol"`)
}
