package reports_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImportsPointOneWay holds the layers of this folder: exporters know the overview and the model, the overview knows the
// model, and the model knows none of them.
func TestImportsPointOneWay(t *testing.T) {
	const module = "github.com/agentconform/agentconform/"
	allowed := map[string][]string{"safe": nil, ".": {"reports/safe"}, "overview": {"reports", "reports/safe"}}
	for _, exporter := range []string{"badge", "console", "cucumber", "har", "html", "junit", "markdown"} {
		allowed[exporter] = []string{"reports", "reports/overview", "reports/safe"}
	}
	for folder, may := range allowed {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, folder)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, i := range parsed.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				require.NoError(t, err)
				if inner, ours := strings.CutPrefix(path, module); ours {
					assert.True(t, slices.Contains(may, inner), "%s imports %s", file, inner)
				}
			}
		}
	}
}
