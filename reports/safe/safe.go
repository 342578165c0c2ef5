package safe

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as valid UTF-8 in which every character that shows nothing, moves the cursor or changes the
// reading direction is replaced by a visible escape. Line feeds and tabs stay; a carriage return before a line
// feed is dropped.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case hidden(r):
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Terminal makes s fit to print on a terminal: nothing in it can move the cursor, colour the screen, set a title
// or turn the reading direction, and no system of continuous integration takes it for a command ([WithoutCommands]). Tabs
// become spaces, because their width depends on the column.
func Terminal(s string) string {
	return WithoutCommands(strings.ReplaceAll(Visible(s), "\t", "    "))
}

// Line is [Terminal] on a single line: line feeds are shown as ⏎.
func Line(s string) string {
	return WithoutCommands(strings.ReplaceAll(strings.TrimRight(Terminal(s), "\n"), "\n", " ⏎ ")) // lines that are joined may make a command
}

// XML makes s consist of characters that XML 1.0 allows. It does not escape markup: the encoder does.
func XML(s string) string { return Visible(s) }

// Cut shortens s to at most limit bytes, at a rune boundary, and says how much there was. A limit of 0 or less
// leaves s as it is.
func Cut(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (cut, %d bytes in all)", Prefix(s, limit), len(s))
}

var uuids = regexp.MustCompile(`([0-9a-fA-F]{8})-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// ShortIDs leaves the beginning of each UUID in s: enough to find it.
func ShortIDs(s string) string { return uuids.ReplaceAllString(s, "$1…") }

// Ellipsis shortens s to at most limit characters, the last of which is then "…": for places where a line is all the
// room there is. A limit of 0 or less leaves s as it is.
func Ellipsis(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	runes, cut := 0, 0
	for i := range s {
		if runes == limit {
			return strings.TrimRight(s[:cut], " ") + "…"
		}
		if runes++; runes == limit {
			cut = i
		}
	}
	return s
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

// isPlain is the fast way out: nearly all text is plain ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// hidden tells whether r must not be shown as it is. Format characters (Cf) hold the bidi marks, the zero-width
// and the tag characters; U+2028 and U+2029 break lines in places that do not expect it; variation selectors and
// the Hangul and Braille fillers can carry hidden text.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
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

func escape(b *strings.Builder, r rune) {
	switch {
	case r == '\r':
		b.WriteString(`\r`)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
