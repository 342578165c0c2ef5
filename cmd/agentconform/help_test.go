package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// TestHelpFits checks that every help text fits on a narrow terminal, except commands of cobra and a URL, which are
// copied in one piece.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for line := range strings.Lines(c.Long + "\n" + c.UsageString()) {
			if !strings.HasPrefix(line, "\t") && !strings.Contains(line, "$schema=https://") {
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), helpWidth, "%s: %s", c.Name(), line)
			}
		}
		for _, below := range c.Commands() {
			check(below)
		}
	}
	check(newRoot())
}
