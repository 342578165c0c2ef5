package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestActionsAreNamedByCommit: a tag of an action can be moved to other code, a commit cannot. The release stands in a comment,
// where Dependabot reads and raises it.
func TestActionsAreNamedByCommit(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: *(.*)$`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	own := regexp.MustCompile(`^agentconform/agentconform@`) // the reader names the commit that was tried
	for _, file := range append(files, "../../action.yml", "../../docs/ci.md", "../../docs/kubernetes/matrix.yml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found := uses.FindAllStringSubmatch(string(text), -1)
		assert.NotEmpty(t, found, file)
		for _, use := range found {
			if own.MatchString(use[1]) {
				continue
			}
			assert.Regexp(t, pinned, use[1], file)
		}
	}
}
