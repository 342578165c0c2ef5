package safe_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports/safe"
)

func TestVisible(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "hello\n\tworld", "hello\n\tworld"},
		{"terminal escape", "\x1b[2J\x1b]0;title\x07", `\x1b[2J\x1b]0;title\a`},
		{"eight-bit control sequence", "a\u009b31m", `a\u009b31m`},
		{"carriage return before line feed", "a\r\nb", "a\nb"},
		{"bidi override", "a\u202eb\u2066c", `a\u202eb\u2066c`},
		{"zero width", "a\u200bb\ufeffc", `a\u200bb\ufeffc`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"tag characters", "a\U000e0041", `a\U000e0041`},
		{"noncharacter", "a\uffffb", `a\uffffb`},
		{"lone surrogate as bytes", "a\xed\xa0\x80b", `a\xed\xa0\x80b`},
		{"broken utf-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"a real replacement character", "a\ufffdb", "a\ufffdb"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, safe.Visible(tt.in), tt.name)
	}
}

func TestLine(t *testing.T) {
	assert.Equal(t, "a ⏎ b    c", safe.Line("a\nb\tc\n"))
}

func TestMarkdown(t *testing.T) {
	assert.Equal(t, `\<script\>`, safe.Markdown("<script>"))
	assert.Equal(t, `a\|b ⏎ \# c`, safe.Markdown("a|b\n# c"))
	plain := `one cause: PATCH answered 500: {"a":1}`
	assert.Equal(t, plain, safe.Markdown(plain), "a single colon is not an emoji")
	for _, word := range []string{"@someone", "(@org/team)", "http://x", "FTP://x/_y_", "www.evil.example", "me@evil.example", "mailto:me@evil.example",
		":tada:", ":tada", ":+1:", "#12", "org/repo#12", "GH-12", "xmpp:a@b.c/d"} {
		assert.Equal(t, "see `"+word+"` \\*", safe.Markdown("see "+word+" *"), word)
	}
	assert.Equal(t, "``a`@b``", safe.Markdown("a`@b"))
	assert.Equal(t, "javascript:alert(1)", safe.Markdown("javascript:alert(1)"), "only brackets would make it a link")
	assert.Equal(t, "`` a`b ``", strings.ReplaceAll(safe.MarkdownCode("a`b"), "``a`b``", "`` a`b ``"))
	assert.Equal(t, "`a\\|b`", safe.MarkdownCode("a|b"))
	assert.Equal(t, "````json\n```\nx\n````\n", safe.MarkdownBlock("json", "```\nx"))
}

func TestCut(t *testing.T) {
	assert.Equal(t, "abc", safe.Cut("abc", 3))
	assert.Equal(t, "a… (cut, 4 bytes in all)", safe.Cut("aéb", 2))
	for limit, want := range map[int]string{1: "…", 2: "a…", 3: "aé…", 4: "aé…", 5: "aé cd", 6: "aé cd"} {
		assert.Equal(t, want, safe.Ellipsis("aé cd", limit), "%d characters", limit)
	}
	assert.Equal(t, "…", safe.Ellipsis("\xff\xff", 1))
	assert.Equal(t, "aé", safe.Prefix("aéb", 3))
	assert.Len(t, safe.Prefix(strings.Repeat("\x80", 100), 50), 50)
}

// FuzzMarkdown parses the result and checks that nothing outside of code would be linked.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"a `@b` `` c", "`` @`` www.x `", `\\` + "`@", "|:a:|", "#1 ` #1"} {
		f.Add(seed)
	}
	active := regexp.MustCompile(`(?i)@|://|www\.|#[0-9]|gh-[0-9]|:[a-z0-9_+-]+:`)
	f.Fuzz(func(t *testing.T, s string) {
		var rest strings.Builder
		for text := safe.Markdown(s); text != ""; {
			switch {
			case text[0] == '\\' && len(text) > 1:
				rest.WriteByte(text[1])
				text = text[2:]
			case text[0] == '`':
				fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
				closing := regexp.MustCompile("[^`](" + fence + ")($|[^`])").FindStringSubmatchIndex(text[len(fence):])
				require.NotNil(t, closing, "code that is not closed: %q", text)
				text = text[len(fence)+closing[3]:]
				rest.WriteByte(' ')
			default:
				rest.WriteByte(text[0])
				text = text[1:]
			}
		}
		require.NotRegexp(t, active, rest.String())
	})
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff\x7f\u009b\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		v := safe.Visible(s)
		require.True(t, utf8.ValidString(v))
		require.Equal(t, v, safe.Visible(v), "visible text does not change")
		require.NotContains(t, safe.Line(s), "\n")

		doc, err := json.Marshal(s)
		require.NoError(t, err)
		rewritten := safe.JSON(doc)
		require.JSONEq(t, string(doc), string(rewritten))
		require.Equal(t, string(rewritten), safe.Visible(string(rewritten)))
	})
}

// isCommand reports whether a CI system executes the line. It follows the documentation of the systems and does not use
// the code under test.
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

func TestTextWithoutCommands(t *testing.T) {
	for _, s := range []string{"http://[::1]:80", "a::b", "::ffff:10.0.0.1", "## title", "C# [x]", "cross_section: 1", "a_start_b: 1"} {
		assert.Equal(t, s, safe.Terminal(s))
	}
}

func FuzzNoLineIsACommand(f *testing.F) {
	for _, s := range hostileLines {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{safe.Terminal(s), safe.Line(s), safe.Line(safe.Line(s)), safe.MarkdownCode(s),
			safe.MarkdownBlock("", s), safe.Markdown(s)} {
			for line := range strings.Lines(out) {
				assert.False(t, isCommand(line), "%q", line)
			}
		}
		doc, err := json.Marshal(s)
		require.NoError(t, err)
		assert.NotRegexp(t, `(?i)##(vso|teamcity)?\[`, string(safe.JSON(doc)))
	})
}
