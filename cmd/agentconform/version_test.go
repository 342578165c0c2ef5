package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCommitOfABuild(t *testing.T) {
	set := func(pairs ...string) (settings []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			settings = append(settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return settings
	}
	assert.Empty(t, commitOf(nil))
	assert.Empty(t, commitOf(set("vcs.modified", "true")))
	assert.Equal(t, "abc", commitOf(set("-buildmode", "exe", "vcs.revision", "abc", "vcs.modified", "false")))
	assert.Equal(t, "abc+dirty", commitOf(set("vcs.modified", "true", "vcs.revision", "abc")))
	assert.Equal(t, "0.1.0-dev (commit abc+dirty)", fullVersion("0.1.0-dev", "abc+dirty"))
	assert.Equal(t, "1.2.0 (commit unknown)", fullVersion("1.2.0", ""))
}
