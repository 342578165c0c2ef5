package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var quote = flag.Bool("quote", false, "write the files that the documents quote into them")

// quoted finds a file in a document: a comment with its path, and the block below with its text.
var quoted = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```(\\w+)\n(.*?)```\n")

// quoting returns the document with each block as the file is now.
func quoting(t *testing.T, page string) string {
	return quoted.ReplaceAllStringFunc(page, func(block string) string {
		parts := quoted.FindStringSubmatch(block)
		text, err := os.ReadFile(filepath.Join("../..", parts[1]))
		require.NoError(t, err)
		require.NotContains(t, string(text), "```")
		return "<!-- file: " + parts[1] + " -->\n```" + parts[2] + "\n" + strings.TrimRight(string(text), "\n") + "\n```\n"
	})
}

// TestFilesInTheDocuments compares the files that documents quote with those that are run. With -quote it writes them.
func TestFilesInTheDocuments(t *testing.T) {
	found := map[string]int{}
	for name, page := range pages(t) {
		marks := strings.Count(page, "<!-- file: ")
		if marks == 0 {
			continue
		}
		assert.Len(t, quoted.FindAllString(page, -1), marks, "%s: a comment without a block below it", name)
		found[filepath.Base(name)] = marks
		now := quoting(t, page)
		if *quote {
			require.NoError(t, os.WriteFile(name, []byte(now), 0o644))
			continue
		}
		assert.Equal(t, now, page, "%s: run make docs", name)
	}
	assert.Equal(t, map[string]int{"graph-python.md": 4, "graph-javascript.md": 6, "kubernetes.md": 3, "library.md": 1}, found)
}
