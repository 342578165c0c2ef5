package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// TestHelpHasNoRelativeLinks checks that the topic config, which is also a page of the documentation, names pages by their
// addresses.
func TestHelpHasNoRelativeLinks(t *testing.T) {
	t.Parallel()
	text := configTopic().Long
	assert.NotRegexp(t, `\]\(|[^/]reference/graphs`, text)
	assert.Contains(t, text, "examples (https://github.com/agentconform/agentconform/blob/main/docs/examples/README.md) has a short file")
	assert.Equal(t, "see the table and ci (https://github.com/agentconform/agentconform/blob/main/docs/ci.md#elsewhere)",
		withAddresses("see [the table](#claims) and [ci](ci.md#elsewhere)"))
	assert.Equal(t, "[a](https://example.com)", withAddresses("[a](https://example.com)"))
}

// TestHelpFits checks that every help text fits on a narrow terminal, except commands of cobra and a URL, which users
// copy in one piece.
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
