// Package safe makes text that comes from a target harmless in every format that shows it.
//
// Bodies, headers and error texts of the target may contain terminal escapes, characters that change the reading direction,
// markup, or bytes that are not text. Every exporter passes them through this package. Dangerous characters become
// visible ("\x1b", "\u202e") and are not removed, because they are evidence.
//
// For HTML and XML, [Visible] is enough: html/template and encoding/xml escape markup.
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

// Visible returns s as valid UTF-8 in which a visible escape replaces each character that is invisible, moves the cursor or
// changes the reading direction. It keeps line feeds and tabs, and removes a carriage return before a line feed.
func Visible(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || hidden(r) }) { // most texts
		return s
	}
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

// Terminal returns s for a terminal: as [Visible], with spaces instead of tabs, and without commands of CI systems
// ([withoutCommands]).
func Terminal(s string) string {
	return withoutCommands(strings.ReplaceAll(Visible(s), "\t", "    "))
}

// Line returns the text of [Terminal] on one line, with ⏎ for line feeds.
func Line(s string) string {
	joined := strings.ReplaceAll(strings.TrimRight(Terminal(s), "\n"), "\n", " ⏎ ")
	return withoutCommands(joined) // joined lines may form a command
}

// Cut shortens s to at most limit bytes, at a rune boundary, and appends the original length.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s… (cut, %d bytes in all)", Prefix(s, limit), len(s))
}

var uuids = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// Numbers of digits of short ids.
const (
	shortDigits = 5 // in a text that is shown without others
	AllDigits   = 32
)

// ShortIDs shortens each UUID in s to its last digits: "…79e7b". The first digits of UUIDs of version 7 are a time, so
// those of one test run begin alike.
func ShortIDs(s string) string { return LastDigits(s, shortDigits) }

// LastDigits shortens each UUID in s to a number of last digits. It keeps UUIDs if digits is [AllDigits].
func LastDigits(s string, digits int) string {
	if digits >= AllDigits {
		return s
	}
	return uuids.ReplaceAllStringFunc(s, func(id string) string { return "…" + id[len(id)-digits:] })
}

// IDDigits returns the number of last digits that distinguish the UUIDs in the texts: 4 to 12, or [AllDigits].
func IDDigits(texts ...string) int {
	ids := map[string]bool{}
	for _, text := range texts {
		for _, id := range uuids.FindAllString(text, -1) {
			ids[strings.ToLower(id)] = true
		}
	}
	for digits := 4; digits <= 12; digits++ {
		ends := map[string]bool{}
		for id := range ids {
			ends[id[len(id)-digits:]] = true
		}
		if len(ends) == len(ids) {
			return digits
		}
	}
	return AllDigits
}

// Ellipsis shortens s to at most limit characters, the last of which is then "…". The limit must be at least 1.
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
	// A rune has at most four bytes. Text that is not UTF-8 may have no boundary.
	for cut := limit; cut > limit-utf8.UTFMax && cut > 0; cut-- {
		if utf8.RuneStart(s[cut]) {
			return s[:cut]
		}
	}
	return s[:limit]
}

// hidden reports whether r must be replaced by an escape. Format characters (Cf) include the bidi marks and the zero-width
// and tag characters. U+2028 and U+2029 are line breaks in some formats. Variation selectors and the Hangul and Braille
// fillers can contain hidden text.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r <= '~':
		return false
	case r == 0x2028, r == 0x2029, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800, r == 0x034f:
		return true
	case r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef: // not U+FE0F, which makes emoji colorful
		return true
	case r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // noncharacters
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Co)
}

// ShellWord returns s as one quoted word for a POSIX shell, without expansion. s must not contain a NUL character.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// commands matches commands of CI systems that may be anywhere in a line of a log: "##[error]" and "##vso[...]" (Azure
// Pipelines, GitHub Actions), "##teamcity[...]", "section_start:" (GitLab), "travis_fold:".
var commands = regexp.MustCompile(`(?i)(##(?:vso|teamcity)?)(\[)|((?:section_(?:start|end)|travis_(?:fold|time)))(:)`)

var colons = regexp.MustCompile(`::([A-Za-z])`)

// withoutCommands adds a backslash to commands of CI systems. "::name ...::" is a command of GitHub Actions only at the
// beginning of a line, but it is changed everywhere, because a line may be wrapped before it.
func withoutCommands(s string) string {
	if strings.Contains(s, "##") || strings.Contains(s, "_") { // most texts have neither
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

// Copy returns a deep copy of v with each string replaced by the result of change. Nil lists and maps become empty ones.
// Values of interfaces and unexported fields are not changed.
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
		out.Set(in) // a time has no exported fields
		for i := range in.NumField() {
			if in.Type().Field(i).IsExported() {
				copyInto(out.Field(i), in.Field(i), change)
			}
		}
	default:
		out.Set(in)
	}
}
