// Package safe makes text that comes from a target harmless in every format that shows it.
//
// The server under test writes a large part of what reports show: bodies, headers, error texts. Such text may
// carry terminal escapes that rewrite the screen, marks that turn the reading direction, markup, or bytes that
// are not text. Every exporter passes it through this package. What is dangerous becomes visible ("\x1b",
// "\u202e") and is not dropped: it is evidence, and often the very fault.
//
// HTML and XML need no function: html/template and encoding/xml escape markup, after [Visible] has made the invisible
// visible.
package safe

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as valid UTF-8 in which every character that shows nothing, moves the cursor or changes the
// reading direction is replaced by a visible escape. Line feeds and tabs stay; a carriage return before a line
// feed is dropped.
func Visible(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case hidden(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Terminal makes s fit to print on a terminal: nothing in it can move the cursor, colour the screen, set a title or
// turn the reading direction, and no system of continuous integration takes it for a command ([WithoutCommands]). Tabs
// become spaces, because their width depends on the column.
func Terminal(s string) string {
	return WithoutCommands(strings.ReplaceAll(Visible(s), "\t", "    "))
}

// Line is [Terminal] on a single line: line feeds are shown as ⏎.
func Line(s string) string {
	joined := strings.ReplaceAll(strings.TrimRight(Terminal(s), "\n"), "\n", " ⏎ ")
	return WithoutCommands(joined) // lines that are joined may make a command
}

// Cut shortens s to at most limit bytes, at a rune boundary, and says how much there was.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (cut, %d bytes in all)", Prefix(s, limit), len(s))
}

var uuids = regexp.MustCompile(`([0-9a-fA-F]{8})-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// ShortIDs leaves the beginning of each UUID in s: enough to find it.
func ShortIDs(s string) string { return uuids.ReplaceAllString(s, "$1…") }

// Ellipsis shortens s to at most limit characters, the last of which is then "…": for places where a line is all the
// room there is. The limit is at least 1.
func Ellipsis(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit-1]), " ") + "…"
}

// Prefix returns the longest prefix of s of at most limit bytes that does not split a rune.
func Prefix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	// A rune is at most four bytes long: in text that is not UTF-8 there is no boundary to look for.
	for cut := limit; cut > limit-utf8.UTFMax && cut > 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:limit]
}

// hidden tells whether r must not be shown as it is. Format characters (Cf) hold the bidi marks, the zero-width
// and the tag characters; U+2028 and U+2029 break lines in places that do not expect it; variation selectors and
// the Hangul and Braille fillers can carry hidden text.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r <= '~':
		return false
	case r == 0x2028, r == 0x2029, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800, r == 0x034f:
		return true
	case r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef: // U+FE0F makes emoji colourful: harmless
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co)
}

// ShellWord makes one word of s for a POSIX shell, in which nothing is expanded. A NUL character cannot be in a word.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// commands finds what continuous integration systems take for a command wherever it is in a line of a log: "##[error]"
// and "##vso[...]" (Azure Pipelines, GitHub Actions), "##teamcity[...]", "section_start:" (GitLab), "travis_fold:".
var commands = regexp.MustCompile(`(?i)(##(?:vso|teamcity)?)(\[)|((?:section_(?:start|end)|travis_(?:fold|time)))(:)`)

var colons = regexp.MustCompile(`::([A-Za-z])`)

// WithoutCommands puts a backslash into what a continuous integration system would take for a command. "::name ...::"
// is a command of GitHub Actions at the beginning of a line; it is broken everywhere, since a line may be wrapped
// before it.
func WithoutCommands(s string) string {
	if strings.Contains(s, "##") || strings.Contains(s, "_") { // the fast way out
		s = commands.ReplaceAllString(s, `$1$3\$2$4`)
	}
	if !strings.Contains(s, "::") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.Count(line, "::") > 1 {
			lines[i] = colons.ReplaceAllString(line, `:\:$1`)
		}
	}
	return strings.Join(lines, "\n")
}

// Copy returns a deep copy of v in which each text is what change makes of it, and no list and no map is nil. Values
// behind interfaces and fields that are not exported are taken over as they are.
func Copy[T any](v T, change func(string) string) T {
	in := reflect.ValueOf(&v).Elem()
	out := reflect.New(in.Type()).Elem()
	copyInto(out, in, change)
	return out.Interface().(T)
}

func copyInto(out, in reflect.Value, change func(string) string) {
	switch in.Kind() {
	case reflect.String:
		out.SetString(change(in.String()))
	case reflect.Slice, reflect.Array:
		if in.Kind() == reflect.Slice {
			out.Set(reflect.MakeSlice(in.Type(), in.Len(), in.Len()))
		}
		for i := range in.Len() {
			copyInto(out.Index(i), in.Index(i), change)
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(in.Type(), in.Len()))
		for _, key := range in.MapKeys() {
			k, v := reflect.New(key.Type()).Elem(), reflect.New(in.Type().Elem()).Elem()
			copyInto(k, key, change)
			copyInto(v, in.MapIndex(key), change)
			out.SetMapIndex(k, v)
		}
	case reflect.Pointer:
		if !in.IsNil() {
			out.Set(reflect.New(in.Type().Elem()))
			copyInto(out.Elem(), in.Elem(), change)
		}
	case reflect.Struct:
		out.Set(in) // whole first: a time has no field that could be set
		for i := range in.NumField() {
			if in.Type().Field(i).IsExported() {
				copyInto(out.Field(i), in.Field(i), change)
			}
		}
	default:
		out.Set(in)
	}
}
