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
	for _, file := range append(files, "../../action.yml", "../../docs/ci.md") {
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

// TestImagesWithoutADigestAreListed compares those of the Dockerfile and of the files for CI with the list of what is still to be pinned.
func TestImagesWithoutADigestAreListed(t *testing.T) {
	image := regexp.MustCompile(`(?m)^\s*(?:FROM +|image: *|agent \{ docker \{ image ')([\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?`)
	open := map[string]bool{}
	for _, file := range []string{"../../Dockerfile", "../../docs/ci.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range image.FindAllStringSubmatch(string(text), -1) {
			if m[2] == "" {
				open[m[1]] = true
			}
		}
	}
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([\\w./-]+:[\\w.-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		listed[m[1]] = true
	}
	assert.Equal(t, open, listed, "images without a digest, and those that CONTRIBUTING.md lists")
}
