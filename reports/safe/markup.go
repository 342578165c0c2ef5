package safe

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// active matches plain text that becomes a link, a mention, a reference to an issue or a picture: addresses with a scheme
// or www, mail addresses and @names, #1 and GH-1, and :emoji:, whose last colon may follow the text.
var active = regexp.MustCompile(`(?i)@|://|www\.|#[0-9]|gh-[0-9]|:[a-z0-9_+-]+(:|$)`)

// Markdown returns s as plain text on one line of Markdown, also within a table, without markup, links and mentions. Words
// that would be linked become code, because GitHub finds mail addresses and mentions even if they contain a backslash or a
// character reference.
func Markdown(s string) string {
	words := strings.Split(Line(s), " ")
	for i, word := range words {
		if active.MatchString(word) {
			words[i] = MarkdownCode(word)
		} else {
			words[i] = marks.ReplaceAllString(word, `\$0`)
		}
	}
	return strings.Join(words, " ")
}

// marks matches the characters of markup.
var marks = regexp.MustCompile("[\\\\`*_\\[\\]<>#|~&$]")

// MarkdownCode returns s as a code span on one line. It escapes pipes, which is necessary within a table.
func MarkdownCode(s string) string {
	s = strings.ReplaceAll(Line(s), "|", `\|`)
	if s == "" {
		return "` `"
	}
	fence := strings.Repeat("`", longestRun(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// MarkdownBlock returns s as a fenced code block in the given language, which may be empty. The fence is longer than any run
// of backticks in s, so the text cannot close it.
func MarkdownBlock(language, s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s)+1))
	return fence + language + "\n" + strings.TrimRight(withoutCommands(Visible(s)), "\n") + "\n" + fence + "\n"
}

var backticks = regexp.MustCompile("`+")

func longestRun(s string) (longest int) {
	for _, run := range backticks.FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	return longest
}

// Prose returns s as [Markdown], shortened to limit characters.
func Prose(s string, limit int) string { return Markdown(Ellipsis(s, limit)) }

// jsonCommands matches the commands of CI systems in a JSON text. A line of JSON never begins with "::".
var jsonCommands = regexp.MustCompile(`(?i)##((?:vso|teamcity)?\[)`)

// JSON returns an equivalent JSON document for a terminal: the characters that [Visible] replaces become \u escapes. They
// occur only in strings. Bytes that are not UTF-8 become U+FFFD, like in encoding/json.
func JSON(doc []byte) []byte {
	if bytes.Contains(doc, []byte("##")) {
		doc = jsonCommands.ReplaceAll(doc, []byte(`#\u0023$1`))
	}
	isPlain := func(r rune) bool { return r < 0x7f || r != utf8.RuneError && !hidden(r) }
	if !bytes.ContainsFunc(doc, func(r rune) bool { return !isPlain(r) }) { // most documents
		return doc
	}
	var b bytes.Buffer
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			b.WriteString(`\ufffd`)
		case r >= 0x7f && hidden(r):
			for _, half := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&b, `\u%04x`, half)
			}
		default:
			b.Write(doc[i : i+size])
		}
		i += size
	}
	return b.Bytes()
}
