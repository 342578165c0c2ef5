package safe_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/safe"
)

// isCommand is written after the documents of the systems, and shares nothing with the code under test.
func isCommand(line string) bool {
	low := strings.ToLower(line)
	for _, mark := range []string{"##[", "##vso[", "##teamcity[", "section_start:", "section_end:", "travis_fold:", "travis_time:"} {
		if strings.Contains(low, mark) {
			return true
		}
	}
	return regexp.MustCompile(`^\s*::[A-Za-z][^\n]*::`).MatchString(line)
}

var hostileLines = []string{
	"##[error]x", "see ##[group]x", "##vso[task.setvariable variable=a]b", "##VSO[task.complete]", "##teamcity[buildStop]",
	"::set-output name=a::b", "::error::x", "  ::add-mask::x", "\t::stop-commands::x", "a\n::warning file=a::b", "a\r\n::error::x",
	"section_start:1:a\r\x1b[0K", "section_end:1:a", "travis_fold:start:a", "#####[error]", "::a::b::c::", "##vso[##[a", "\r::error::x",
}

func TestCommandsOfCIAreBroken(t *testing.T) {
	for _, s := range hostileLines {
		for name, out := range map[string]string{"terminal": safe.Terminal(s), "line": safe.Line(s), "again": safe.Line(safe.Line(s)),
			"code": safe.MarkdownCode(s), "block": safe.MarkdownBlock("", s), "markdown": safe.Markdown(s)} {
			for _, line := range strings.Split(out, "\n") {
				assert.False(t, isCommand(line), "%s: %q", name, line)
			}
		}
		doc, err := json.Marshal(s)
		require.NoError(t, err)
		shown := safe.JSON(doc)
		assert.NotRegexp(t, `(?i)##(vso|teamcity)?\[`, string(shown))
		assert.JSONEq(t, string(doc), string(shown))
	}
	for _, s := range []string{"http://[::1]:80", "a::b", "::ffff:10.0.0.1", "## title", "C# [x]", "cross_section: 1", "a_start_b: 1"} {
		assert.Equal(t, s, safe.Terminal(s), "is no command")
	}
}

func FuzzNoLineIsACommand(f *testing.F) {
	for _, s := range hostileLines {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, line := range strings.Split(safe.Terminal(s)+"\n"+safe.Line(s)+"\n"+safe.MarkdownBlock("", s), "\n") {
			assert.False(t, isCommand(line), "%q", line)
		}
	})
}
